//! The lab's programs as a user meets them: the exact lines on standard output, everything else on standard error, and
//! no leftovers.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use testkit::loop_disk::Disk;
use testkit::{ProgramOutput, run};

use crate::common::{Cli, program};

/// A file of random bytes: some file systems do not store zeroes.
fn file(cli: &Cli, name: &str, mib: usize) {
    let mut bytes = vec![0; mib << 20];
    fs::File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut bytes)).expect("random bytes");
    fs::write(cli.path().join(name), bytes).expect("a file");
}

/// The words of a line without its numbers, as in `creat: # files in # sec = # files/sec`, and the numbers.
fn split(line: &str) -> (String, Vec<&str>) {
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let shape: Vec<&str> = line.split(' ').map(|word| if is_number(&word) { "#" } else { word }).collect();
    (shape.join(" "), line.split(' ').filter(is_number).collect())
}

fn shapes(ended: &ProgramOutput) -> Vec<String> {
    ended.out.lines().map(|line| split(line).0).collect()
}

fn value(number: &str) -> f64 {
    number.parse().expect("a number")
}

/// True if the number has at most four significant digits, and none below a nanosecond.
fn has_meaning(number: &str) -> bool {
    let decimals = number.split_once('.').map_or("", |(_, decimals)| decimals);
    let digits = number.replace('.', "");
    // Zeroes at the end of a whole number stand for unknown digits.
    let digits = if decimals.is_empty() { digits.trim_end_matches('0') } else { &digits };
    digits.trim_start_matches('0').len() <= 4 && decimals.len() <= 9
}

fn decimals(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// True if two figures are equal, each rounded to four digits.
fn agree(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 0.003
}

const BANDWIDTH: &str = "Timing device data: # MB in # seconds = # MB/sec";
const LATENCY: &str = "Timing # reads on data: # reads in # secs = # msec latency";

#[test]
fn bw_prints_only_the_line_of_the_lab() {
    let cli = Cli::new();
    file(&cli, "data", 3);

    let ended = cli.well_and_clean(&["bw", "-b", "data", "2"]);
    let (shape, numbers) = split(ended.out.trim_end());
    assert_eq!((shape.as_str(), ended.out.lines().count()), (BANDWIDTH, 1));
    assert_eq!(numbers[0], "2");
    assert!(has_meaning(numbers[1]) && has_meaning(numbers[2]), "{}", ended.out);
    assert!(agree(2.0 / value(numbers[1]), value(numbers[2])), "{}", ended.out);
    assert!(ended.err.contains("2 MiB: "), "{}", ended.err);

    let ended = cli.well_and_clean(&["bw", "-l", "data", "50"]);
    let (shape, numbers) = split(ended.out.trim_end());
    assert_eq!((shape.as_str(), ended.out.lines().count()), (LATENCY, 1));
    assert_eq!(numbers[..2], ["50", "50"]);
    assert!(has_meaning(numbers[2]) && has_meaning(numbers[3]), "{}", ended.out);
    assert!(agree(1e3 * value(numbers[2]) / 50.0, value(numbers[3])), "{}", ended.out);
    assert!(ended.err.contains(", seed "), "{}", ended.err);
}

#[test]
fn classic_bw_counts_one_more_and_prints_two_decimals() {
    let cli = Cli::new();
    file(&cli, "data", 3);
    let ended = cli.well_and_clean(&["bw", "-b", "data", "2", "--classic"]);
    let (shape, numbers) = split(ended.out.trim_end());
    assert_eq!((shape.as_str(), numbers[0]), (BANDWIDTH, "3"));
    assert_eq!([numbers[1], numbers[2]].map(decimals), [2, 2]);
    assert!(ended.err.contains("3 MiB: "), "{}", ended.err);
    cli.refuses(&["bw", "-b", "data", "3", "--classic"], 2, &["has 3 whole MiB; 4", "ask for at most 2"]);

    let ended = cli.well_and_clean(&["bw", "-l", "data", "8", "--classic", "--seed", "7", "--size", "8KiB"]);
    let (shape, numbers) = split(ended.out.trim_end());
    assert_eq!((shape.as_str(), [numbers[2], numbers[3]].map(decimals)), (LATENCY, [6, 6]));
    assert!(ended.err.contains("random reads of 8 KiB in 3 MiB, seed 7"), "{}", ended.err);
}

#[test]
fn bw_without_a_number_runs_the_series_of_the_lab() {
    let cli = Cli::new();
    let data = fs::File::create(cli.path().join("data")).expect("a file");
    data.set_len(200 << 20).expect("its size");

    let ended = cli.well_and_clean(&["bw", "-b", "data"]);
    assert_eq!(shapes(&ended), [BANDWIDTH; 2]);
    let asked: Vec<&str> = ended.out.lines().map(|line| split(line).1[0]).collect();
    assert_eq!(asked, ["64", "128"]);
    assert!(ended.err.contains("left out 256 512 768 MB: data holds only 200"), "{}", ended.err);
    assert!(ended.err.contains("median ") && ended.err.contains(" % of the mean"), "{}", ended.err);
    assert!(ended.err.contains("the best of 2 misleads: "), "{}", ended.err);

    let ended = cli.well_and_clean(&["bw", "-l", "data"]);
    assert_eq!(shapes(&ended), [LATENCY; 7]);
    let asked: Vec<&str> = ended.out.lines().map(|line| split(line).1[0]).collect();
    assert_eq!(asked, ["128", "256", "512", "1024", "2048", "4096", "8192"]);
    assert!(ended.err.contains("understates the median by"), "{}", ended.err);
}

#[test]
fn unreadable_files_are_refused_by_bw() {
    let cli = Cli::new();
    let here = cli.path();
    file(&cli, "data", 1);
    fs::write(here.join("empty"), "").expect("a file");
    for what in ["-b", "-l"] {
        for bad in ["0", "-3", "1.5", "many", "99999999999"] {
            cli.refuses(&["bw", what, "data", bad], 2, &["whole number from 1"]);
        }
        cli.refuses(&["bw", what, "missing", "1"], 2, &["there is no missing", "hint: "]);
        cli.refuses(&["bw", what, "/dev/no-such-disk", "1"], 2, &["there is no device", "nothing was created"]);
        cli.refuses(&["bw", what, ".", "1"], 2, &["is a directory", "hint: "]);
        cli.refuses(&["bw", what, "/dev/null", "1"], 2, &["neither a block device nor a file", "hint: "]);
        cli.refuses(&["bw", what, "empty", "1"], 2, &["empty"]);
    }
    assert!(!Path::new("/dev/no-such-disk").exists());
    cli.refuses(&["bw", "-b", "data", "2"], 2, &["data has 1 whole MiB; 2 are needed", "at most 1"]);
    cli.refuses(&["bw", "-b", "data"], 2, &["data has 1 whole MiB; 64"]);
    cli.refuses(&["bw", "-l", "data", "1", "--size", "2MiB"], 2, &["holds no more than 1 MiB"]);
    cli.refuses(&["bw", "-l", "data", "1", "--size", "1GiB"], 2, &["goes up to 64 MiB"]);
    cli.refuses(&["bw", "-b", "data", "1", "--seed", "1"], 2, &["--seed"]);
    cli.refuses(&["bw", "data", "1"], 2, &["-b|-l"]);
    cli.refuses(&["bw", "-b", "-l", "data", "1"], 2, &["cannot be used with"]);
    cli.refuses(&["bw", "-b"], 2, &["DEVICE"]);
}

#[test]
fn bw_opens_for_reading_only() {
    let cli = Cli::new();
    let Some(trace) = traced(&cli, &["bw", "-l", "data", "5"], |cli| file(cli, "data", 1)) else {
        return testkit::skip!("strace is not installed, or may not trace here");
    };
    let opened: Vec<&str> = trace.lines().filter(|line| line.contains("\"data\"") && line.contains("open")).collect();
    assert!(!opened.is_empty());
    for line in opened {
        assert!(line.contains("O_RDONLY") && !line.contains("O_CREAT"), "{line}");
    }
    // The loader also reads at offsets, from other files.
    let reads = trace.lines().filter(|line| line.contains("pread64(") && line.contains("/data>"));
    assert_eq!(reads.count(), 5, "{trace}");
}

const SMALL: [&str; 4] = [
    "small file benchmark: # # byte files",
    "creat: # files in # sec = # files/sec",
    "read: # files in # sec = # files/sec",
    "delete: # files in # sec = # files/sec",
];

const LARGE: [&str; 6] = [
    "large file benchmark: # # byte writes",
    "writing # sequential bytes: # bytes in # sec = # KB/sec",
    "reading # sequential bytes: # bytes in # sec = # KB/sec",
    "writing # random bytes: # bytes in # sec = # KB/sec",
    "reading # random bytes: # bytes in # sec = # KB/sec",
    "reading # sequential bytes: # bytes in # sec = # KB/sec",
];

const FLUSH: &str = "creating a temporary file used to flush the cache: done.";

#[test]
fn smallfb_prints_only_the_lines_of_the_lab() {
    let cli = Cli::new();
    let ended = cli.well_and_clean(&["smallfb", "200", "1024"]);
    assert_eq!(shapes(&ended), SMALL);
    assert!(ended.out.starts_with("small file benchmark: 200 1024 byte files\n"), "{}", ended.out);
    for line in ended.out.lines().skip(1) {
        let (_, numbers) = split(line);
        assert_eq!(numbers[0], "200");
        assert!(has_meaning(numbers[1]) && has_meaning(numbers[2]), "{line}");
        assert!(agree(200.0 / value(numbers[1]), value(numbers[2])), "{line}");
    }
    for phase in ["creat", "delete"] {
        assert!(ended.err.contains(&format!("returned  {phase}: 200 files in ")), "{}", ended.err);
    }
    assert!(ended.err.contains("no flush file"), "{}", ended.err);
}

#[test]
fn the_durable_time_is_never_shorter() {
    let cli = Cli::new();
    let ended = cli.well_and_clean(&["smallfb", "50", "512"]);
    let seconds = |text: &str| value(split(text).1[1]);
    let returned =
        ended.err.lines().find_map(|line| line.strip_prefix("returned  creat: ")).expect("the returned line");
    let durable = ended.out.lines().find(|line| line.starts_with("creat")).expect("the line");
    assert!(seconds(returned) <= seconds(durable), "{returned}\n{durable}");
}

#[test]
fn every_form_of_smallfb_runs() {
    let cli = Cli::new();
    for layout in ["consecutive", "modulo", "one"] {
        for (order, sync) in [("creation", "file"), ("random", "none")] {
            let arguments =
                ["smallfb", "30", "1KiB", "--layout", layout, "--directories", "7", "--order", order, "--sync", sync];
            let ended = cli.well_and_clean(&arguments);
            assert_eq!(shapes(&ended), SMALL);
            assert_eq!(ended.err.contains("seed 1"), order == "random", "{}", ended.err);
            assert_eq!(ended.err.contains("there was no sync"), sync == "none", "{}", ended.err);
            assert_eq!(ended.err.contains("returned  creat"), sync != "none", "{}", ended.err);
        }
    }
}

#[test]
fn classic_smallfb_prints_six_decimals_and_creates_a_flush_file() {
    let cli = Cli::new();
    let ended = cli.well_and_clean(&["smallfb", "20", "1024", "--classic"]);
    assert_eq!(ended.out.lines().next(), Some(FLUSH));
    assert_eq!(shapes(&ended)[1..], SMALL);
    for line in ended.out.lines().skip(2) {
        assert_eq!(split(line).1.into_iter().map(decimals).collect::<Vec<usize>>(), [0, 6, 6], "{line}");
    }
    assert!(ended.err.contains("read the flush file through: 134217728 bytes"), "{}", ended.err);
    let ended = cli.well_and_clean(&["smallfb", "20", "1024", "--classic", "--flush-file", "1"]);
    assert!(ended.err.contains("read the flush file through: 1048576 bytes"), "{}", ended.err);
}

#[test]
fn largefb_prints_only_the_lines_of_the_lab() {
    let cli = Cli::new();
    for random in ["permutation", "replacement", "stride"] {
        let ended = cli.well_and_clean(&["largefb", "2", "--random", random]);
        assert_eq!(shapes(&ended), LARGE, "{random}");
        assert!(ended.out.starts_with("large file benchmark: 512 4096 byte writes\n"), "{}", ended.out);
        for line in ended.out.lines().skip(1) {
            let (_, numbers) = split(line);
            assert_eq!(numbers[..2], ["2097152", "2097152"], "{line}");
            assert!(has_meaning(numbers[2]) && has_meaning(numbers[3]), "{line}");
            assert!(agree(2_097.152 / value(numbers[2]), value(numbers[3])), "{line}");
        }
        assert_eq!(ended.err.contains("seed 1"), random != "stride", "{}", ended.err);
        assert_eq!(ended.err.matches("returned  writing 2097152 ").count(), 2, "{}", ended.err);
    }
    let ended = cli.well_and_clean(&["largefb", "1", "--classic"]);
    assert_eq!(shapes(&ended), LARGE);
    for line in ended.out.lines().skip(1) {
        assert_eq!(split(line).1.into_iter().map(decimals).collect::<Vec<usize>>(), [0, 0, 6, 6], "{line}");
    }
}

#[test]
fn the_flush_file_is_read_before_each_reading_phase() {
    let cli = Cli::new();
    for (arguments, reading) in [
        (["smallfb", "20", "1024", "--flush-file", "1"].as_slice(), ["read: "].as_slice()),
        (&["largefb", "1", "--flush-file", "1"], &["read sequential: ", "read random: ", "read sequential again: "]),
    ] {
        let ended = cli.well_and_clean(arguments);
        assert_eq!(ended.out.lines().next(), Some(FLUSH));
        assert!(ended.err.contains("flush file of 1 MiB is smaller than the memory"), "{}", ended.err);
        let lines: Vec<&str> = ended.err.lines().collect();
        let flushed: Vec<&str> = lines
            .windows(2)
            .filter(|pair| pair[0] == "read the flush file through: 1048576 bytes")
            .map(|pair| pair[1])
            .collect();
        assert_eq!(flushed.len(), reading.len(), "{}", ended.err);
        for (line, phase) in flushed.iter().zip(reading) {
            assert!(line.starts_with(phase), "{line}");
        }
    }
}

/// The ancestors had a routine that flushed and never called it, and synced a descriptor already closed.
#[test]
fn flushes_and_syncs_really_happen() {
    let cli = Cli::new();
    let arguments = ["smallfb", "3", "100", "--layout", "one", "--flush-file", "1", "--sync", "file"];
    let Some(trace) = traced(&cli, &arguments, |_| ()) else {
        return testkit::skip!("strace is not installed, or may not trace here");
    };
    let calls: Vec<&str> = trace.lines().filter(|line| !line.contains("resumed")).collect();
    let at =
        |word: &str| calls.iter().position(|line| line.contains(word)).unwrap_or_else(|| panic!("no {word}: {trace}"));
    let (made, opened, read) =
        (at("\"f4294967295\", O_WRONLY"), at("\"f4294967295\", O_RDONLY"), at("\"f0\", O_RDONLY"));
    assert!(made < at("\"f0\", O_WRONLY") && opened < read);
    let moved = |from: usize, to: usize, word: &str, bytes: u64| {
        let end = format!("= {bytes}");
        calls[from..to].iter().filter(|line| line.contains(word) && line.ends_with(&end)).count()
    };
    assert_eq!(moved(made, at("\"f0\", O_WRONLY"), " write(", 65_536), 16);
    assert_eq!(moved(opened, read, " read(", 65_536), 16);
    let synced: Vec<&str> = calls.iter().filter(|line| line.contains(" fsync(")).copied().collect();
    assert!(synced.iter().all(|line| line.ends_with("= 0")), "{trace}");
    let times = |end: &str| synced.iter().filter(|line| line.contains(end)).count();
    // Each file once; the directory after creat and after delete.
    assert_eq!(["/f4294967295>", "/f0>", "/f1>", "/f2>"].map(times), [1; 4], "{trace}");
    let made = made_in(calls[made]);
    assert_eq!(times(&format!("<{made}>")), 2, "{trace}");
}

/// The folder of `openat(4<folder>, "f0", ...`.
fn made_in(line: &str) -> &str {
    let (_, after) = line.split_once('<').expect("a descriptor and its path");
    after.split('>').next().expect("a path")
}

/// Runs the program under strace in a prepared folder; `None` if strace cannot be used.
fn traced(cli: &Cli, arguments: &[&str], ready: impl Fn(&Cli)) -> Option<String> {
    let strace = testkit::tool("strace")?;
    let may = run(&strace, cli.path(), &["-o", "trace", "true"]);
    if may.status != Some(0) {
        return None;
    }
    ready(cli);
    let binary = program();
    let binary = binary.to_str().expect("a path in UTF-8");
    let wanted = "trace=open,openat,read,pread64,write,pwrite64,fsync,syncfs";
    let ended = run(&strace, cli.path(), &[&["-f", "-y", "-o", "trace", "-e", wanted, binary], arguments].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    Some(fs::read_to_string(cli.path().join("trace")).expect("the trace"))
}

#[test]
fn invalid_arguments_are_refused() {
    let cli = Cli::new();
    for bad in ["0", "-3", "1.5", "many"] {
        cli.refuses(&["smallfb", bad, "1024"], 2, &["whole number from 1"]);
        cli.refuses(&["largefb", bad], 2, &["whole number from 1"]);
        cli.refuses(&["largefb", "1", "--flush-file", bad], 2, &["whole number from 1"]);
    }
    cli.refuses(&["smallfb", "10", "0"], 2, &["at least one byte"]);
    cli.refuses(&["smallfb", "10", "-1"], 2, &["not a size"]);
    cli.refuses(&["smallfb", "10", "1kb"], 2, &["ambiguous"]);
    cli.refuses(&["smallfb", "10", "1GiB"], 2, &["goes up to 64 MiB", "largefb"]);
    cli.refuses(&["smallfb", "10"], 2, &["SIZE"]);
    cli.refuses(&["smallfb", "10", "1", "--directories", "0"], 2, &["directories"]);
    cli.refuses(&["smallfb", "10", "1", "--layout", "heap"], 2, &["consecutive", "modulo", "one"]);
    cli.refuses(&["largefb"], 2, &["MB"]);
    cli.refuses(&["largefb", "1", "--stride", "7"], 2, &["needs --random stride"]);
    cli.refuses(&["largefb", "2000000"], 2, &["goes up to 1048576"]);
    cli.refuses(&["largefb", "1000000"], 3, &["has room for ", "hint: "]);
    cli.refuses(&["smallfb", "4294967295", "65536"], 3, &["has room for ", "hint: "]);
    cli.refuses(&["smallfb", "10", "1", "--flush-file", "1000000000"], 3, &["has room for "]);
}

#[test]
fn missing_rights_are_named() {
    if testkit::is_root() {
        return testkit::skip!("root may open anything; the repetition without rights runs it");
    }
    let cli = Cli::new();
    let here = cli.path();
    file(&cli, "locked", 1);
    fs::set_permissions(here.join("locked"), fs::Permissions::from_mode(0o000)).expect("rights are taken");
    cli.refuses(&["bw", "-b", "locked", "1"], 3, &["locked: Permission denied (EACCES)", "hint: "]);
    let sealed = here.join("sealed");
    fs::create_dir(&sealed).expect("a folder");
    fs::set_permissions(&sealed, fs::Permissions::from_mode(0o555)).expect("rights are taken");
    Cli::in_folder(&sealed).refuses(&["smallfb", "1", "1"], 3, &["cannot create a folder in .", "hint: "]);
    Cli::in_folder(&sealed).refuses(&["largefb", "1"], 3, &["cannot create a folder in .", "hint: "]);
}

#[test]
fn a_stopped_program_leaves_nothing_behind() {
    let cli = Cli::new();
    let mut child = cli
        .command(&["smallfb", "200000", "1", "--sync", "file"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("diskperf starts");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut heading = String::new();
    out.read_line(&mut heading).expect("its first line");
    assert_eq!(heading, "small file benchmark: 200000 1 byte files\n");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("the signal is sent");
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("the rest of its lines");
    let ended = child.wait_with_output().expect("its end");
    assert_eq!(ended.status.code(), Some(4), "{rest}");
    assert!(rest.lines().count() < 3, "{rest}");
    assert!(String::from_utf8_lossy(&ended.stderr).contains("interrupted after "));
    assert_eq!(cli.names(), [""; 0]);
}

#[test]
fn help_teaches_units_shapes_and_source() {
    for (command, words) in [
        ("bw", ["2^20", "Timing device", "about 2002", "median"].as_slice()),
        ("smallfb", &["about 2002", "figure 8", "files/sec", "durable", "--flush-file", "no sync", "Examples"]),
        ("largefb", &["about 2002", "figure 9", "2^20", "1000", "permutation", "Examples"]),
    ] {
        let ended = Cli::in_folder("/").run(&[command, "--help"]);
        assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
        // Phrases may be split over two lines.
        let text = ended.out.split_whitespace().collect::<Vec<&str>>().join(" ");
        for word in words {
            assert!(text.to_lowercase().contains(&word.to_lowercase()), "{command} says nothing of {word}: {text}");
        }
    }
}

#[test]
fn bw_reads_a_device_with_direct_io() {
    testkit::need_disk!();
    // A hole would get a warning.
    let disk = Disk::holding(64 << 20, &[(0, &vec![0x5a; 64 << 20])]);
    let ended = Cli::in_folder(disk.folder.path()).well_and_clean(&["bw", "-b", disk.text(), "8"]);
    assert!(ended.out.starts_with(&format!("Timing device {}: 8 MB in ", disk.text())), "{}", ended.out);
    assert!(ended.err.contains("8 MiB: the device read 8 MiB for these 8 MiB"), "{}", ended.err);
    assert!(!ended.err.contains("warning hole"), "{}", ended.err);
    let ended = Cli::in_folder(disk.folder.path()).well_and_clean(&["bw", "-l", disk.text(), "16", "--seed", "3"]);
    assert!(ended.out.starts_with(&format!("Timing 16 reads on {}: 16 reads in ", disk.text())), "{}", ended.out);
    for line in ["random reads of 512 B in 64 MiB, seed 3\n", "16 reads: the device read 8 KiB for these 8 KiB"] {
        assert!(ended.err.contains(line), "{}", ended.err);
    }
    Cli::in_folder(disk.folder.path()).refuses(
        &["bw", "-l", disk.text(), "1", "--size", "100"],
        2,
        &["whole blocks of 512 B"],
    );
    Cli::in_folder(disk.folder.path()).refuses(&["bw", "-b", disk.text(), "65"], 2, &["has 64 whole MiB; 65"]);
    Cli::in_folder(disk.folder.path()).refuses(&["run", "smoke", disk.text()], 2, &["is a block device", "bw -b"]);
}
