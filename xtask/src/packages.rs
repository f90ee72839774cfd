//! The tools that the tests need besides Rust, and their installation.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::{bridge, process};

/// A library, not a tool: building the bridge needs it.
const LIBCLANG: &str = "libclang";

/// A tool or a file, and the package in Debian and its derivatives that contains it.
const NEEDED: [(&str, &str); 19] = [
    ("losetup", "mount"),
    ("setpriv", "util-linux"),
    ("unshare", "util-linux"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("strace", "strace"),
    ("valgrind", "valgrind"),
    ("groff", "groff-base"),
    ("fio", "fio"),
    ("/usr/share/doc/fio/examples/flow.fio", "fio-examples"),
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("mpicc.openmpi", "libopenmpi-dev"),
    ("mpirun.openmpi", "openmpi-bin"),
    ("mpicc.mpich", "libmpich-dev"),
    ("mpiexec.mpich", "mpich"),
    (LIBCLANG, "libclang-dev"),
];

/// Installs missing packages if we are root or sudo needs no password; otherwise prints their names. Tests with a
/// missing tool skip themselves, so this fails only if an installation was started and failed.
pub fn provide() -> Result<(), String> {
    let missing = missing(is_here);
    if missing.is_empty() {
        println!("nothing is missing");
        return Ok(());
    }
    let Some(prefix) = rights().filter(|_| testkit::has_tool("apt-get")) else {
        println!("missing, and their tests will be skipped: {}", missing.join(" "));
        println!("to install them: apt-get install {}", missing.join(" "));
        return Ok(());
    };
    let apt = |arguments: &[&str]| {
        let words =
            [prefix, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet", "--yes"], arguments].concat();
        process::run(Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()))
    };
    apt(&["update"])?;
    apt(&[&["install", "--no-install-recommends"], missing.as_slice()].concat())
}

/// True if this machine has the tool, the file or the library.
fn is_here(needed: &str) -> bool {
    match needed {
        LIBCLANG => bridge::has_libclang(),
        file if file.starts_with('/') => Path::new(file).exists(),
        tool => testkit::has_tool(tool),
    }
}

/// The packages of the missing tools and files, each once.
fn missing(has: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let mut packages: Vec<&str> = NEEDED.iter().filter(|(tool, _)| !has(tool)).map(|(_, package)| *package).collect();
    packages.dedup();
    packages
}

/// The command prefix that permits installation; `None` if we have no permission.
fn rights() -> Option<&'static [&'static str]> {
    if testkit::is_root() {
        return Some(&[]);
    }
    let asked = Command::new("sudo").args(["-n", "true"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success()).then_some(&["sudo", "-n"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_once() {
        assert_eq!(missing(|_| true), Vec::<&str>::new());
        assert_eq!(
            missing(|tool| tool.starts_with("mkfs")),
            [
                "mount",
                "util-linux",
                "strace",
                "valgrind",
                "groff-base",
                "fio",
                "fio-examples",
                "chromium",
                "chromium-driver",
                "qemu-system-x86",
                "libopenmpi-dev",
                "openmpi-bin",
                "libmpich-dev",
                "mpich",
                "libclang-dev",
            ]
        );
    }
}
