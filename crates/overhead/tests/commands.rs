//! The cost of whole commands in instructions, counted by valgrind, so that the figure is the same on a busy machine.
//! `cargo xtask test` counts those of the program that it tests, without its symbols. `cargo xtask prove commands`
//! counts those of the distributed program. The limits differ.

mod scale;
mod valgrind;

use std::path::Path;

/// Maximum instructions of `write_8192 FILE`, from start to exit. The program of `cargo xtask test` takes 2.96 million
/// (printed by this test). The share of the dynamic loader depends on the C library.
const ALLOWED_PROGRAM: Limits = Limits { distributed: 3_000_000, tested: 4_000_000 };

/// The same for `diskperf --version`: 3.02 and 4.99 million.
const ALLOWED_START: Limits = Limits { distributed: 3_100_000, tested: 6_000_000 };

/// Maximum instructions to simulate one machine once for all its cells of the paper's tables: four programs, two
/// file systems, one drive and two. `diskperf paper` simulates seven such machines ten times. The limits are a fiftieth
/// above the counts, 269.8 and 274.3 million (printed by this test).
const ALLOWED_MACHINES: [(&str, u64); 2] = [("vax780-sc780", 275_200_000), ("vax750-uda50", 279_800_000)];

/// The same for the program of `cargo xtask test`. One machine, because each takes 5 CPU seconds. The limit is a fifth
/// above the count, 362.4 million (printed by this test), because C libraries and processors differ.
const ALLOWED_MACHINE_TESTED: [(&str, u64); 1] = [("vax780-sc780", 435_000_000)];

/// The limits of a count: of the distributed program, which is static and built for size, and of that of `cargo xtask
/// test`, which is built fast.
#[derive(Clone, Copy)]
struct Limits {
    distributed: u64,
    tested: u64,
}

impl Limits {
    /// The limit of this program.
    fn of(self, program: &str) -> u64 {
        if is_tested(program) { self.tested } else { self.distributed }
    }
}

/// True for the program of `cargo xtask test`.
fn is_tested(program: &str) -> bool {
    Path::new(program).parent().is_some_and(|folder| folder.ends_with(testkit::STRIPPED))
}

/// The path of the program. Without it, or without valgrind, the test is skipped.
macro_rules! built_program {
    () => {
        match crate::program() {
            Ok(program) => program,
            Err(reason) => return testkit::skip!("{reason}"),
        }
    };
}
use built_program;

/// The path of the program, or the reason for which nothing can be counted.
fn program() -> Result<String, &'static str> {
    if cfg!(not(target_arch = "x86_64")) {
        return Err("the limits are those of x86-64");
    }
    let program = testkit::dist_program().ok_or(testkit::NOTHING_MADE)?;
    if !testkit::has_tool("valgrind") {
        return Err("valgrind is not installed");
    }
    Ok(program.to_str().expect("a path in UTF-8").to_owned())
}

#[test]
fn a_program_of_1983_starts_and_ends_cheaply() {
    let program = built_program!();
    let folder = valgrind::scratch(0);
    let counted = valgrind::count(&[&program, "write_8192", &folder.path().join("file").to_string_lossy()]);
    println!("{{\"program\": \"write_8192\", \"instructions\": {counted}}}");
    assert!(counted <= ALLOWED_PROGRAM.of(&program), "{counted} instructions");
}

#[test]
fn the_program_starts_cheaply() {
    let program = built_program!();
    let counted = valgrind::count(&[&program, "--version"]);
    println!("{{\"program\": \"--version\", \"instructions\": {counted}}}");
    assert!(counted <= ALLOWED_START.of(&program), "{counted} instructions");
}

/// One machine per kind of controller, with one starting position of the platters.
#[test]
fn the_tables_of_1983_are_simulated_cheaply() {
    let program = built_program!();
    let machines: &[(&str, u64)] = if is_tested(&program) { &ALLOWED_MACHINE_TESTED } else { &ALLOWED_MACHINES };
    for &(machine, allowed) in machines {
        let words = [&program, "simulate", machine, "classic1983", "--phases", "1", "--no-store"];
        let counted = valgrind::count(&words);
        println!("{{\"simulated\": \"{machine}\", \"instructions\": {counted}}}");
        assert!(counted <= allowed, "{machine}: {counted} instructions");
    }
}
