//! Output files that a command reads itself, and results databases.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use testkit::STORE;

use super::SMOKE;
use crate::common::{Cli, ended};

/// A folder with a results database of one run, `runs.db`, and the run as `run.json`.
fn stored() -> Cli {
    let cli = Cli::new();
    cli.well(&["run", "smoke", "sim:flat", "--rounds", "1", "--store", "runs.db"]);
    cli.well(&["show", "--store", "runs.db", "--json", "-o", "run.json"]);
    cli
}

/// Asserts that the command is refused, and that all files stay as they are. `< FILE` at the end is its standard input.
fn refuses(cli: &Cli, line: &str, says: &str) {
    let contents =
        || cli.names().into_iter().map(|name| (fs::read(cli.path().join(&name)).ok(), name)).collect::<Vec<_>>();
    let before = contents();
    let (words, input) = line.split_once(" < ").unwrap_or((line, "/dev/null"));
    let mut command = cli.command(&words.split_whitespace().collect::<Vec<_>>());
    command.stdin(File::open(cli.path().join(input)).expect("standard input"));
    command.env(STORE, cli.path().join("runs.db"));
    let ended = ended(command);
    assert_eq!(ended.status, Some(3), "{line}: {}{}", ended.out, ended.err);
    assert!(ended.err.contains(says) && ended.err.contains("\nhint: "), "{line}: {}", ended.err);
    assert!(contents() == before, "{line}: a file has changed");
}

#[test]
fn results_databases_are_not_replaced() {
    let cli = stored();
    fs::hard_link(cli.path().join("runs.db"), cli.path().join("also")).expect("a link");
    symlink("runs.db", cli.path().join("link")).expect("a link");
    cli.well(&["run", "smoke", "sim:flat", "--rounds", "1", "--store", "other.db"]);
    for line in [
        "list -o runs.db",
        "list -o also",
        "list -o ./link",
        "list --json -o other.db",
        "export last -o runs.db",
        "run smoke sim:flat -o runs.db --json",
        "simulate -o other.db",
        "run smoke sim:flat --store new.db -o ./new.db",
        "run smoke sim:flat --no-store -o other.db",
        "report last -o runs.db-wal",
        "import -o other.db -- fio --name=a",
    ] {
        refuses(&cli, line, "is a results database; this would overwrite it");
    }
    cli.well(&["list", "--store", "runs.db", "-o", "new.txt"]);
}

#[test]
fn input_files_are_not_replaced() {
    let cli = stored();
    let sample = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../jobs/samples").join(name);
    fs::copy(sample("log.fio"), cli.path().join("log.fio")).expect("a fio job");
    fs::copy(sample("blkparse.txt"), cli.path().join("trace")).expect("a trace");
    cli.well(&["import", "log.fio", "-o", "job.toml"]);
    fs::create_dir(cli.path().join("here")).expect("a folder");
    for name in ["log", "law.toml", "machine.toml"] {
        fs::write(cli.path().join(name), "text").expect("a file");
    }
    fs::hard_link(cli.path().join("run.json"), cli.path().join("also.json")).expect("a link");
    for line in [
        "show run.json -o run.json",
        "show run.json -o also.json --json",
        "explain run.json -o run.json",
        "report run.json -o run.json",
        "compare last run.json -o ./run.json",
        "import log.fio -o log.fio",
        "export job.toml --to fio -o job.toml",
        "run job.toml here -o job.toml",
        "run vaxmix here --from-trace trace -o trace",
        "choose sim:flat here --load job.toml -o job.toml",
        "verify here --check log -o log",
        "predict trace --on ebs-gp3 --from law.toml -o trace",
        "predict trace --on law.toml -o law.toml",
        "predict trace --on ebs-gp3 --from law.toml -o law.toml",
        "simulate machine.toml -o ./machine.toml",
        "run smoke sim:./machine.toml -o machine.toml",
        "probe sim:./machine.toml -o machine.toml",
        "run quick log -o log",
        "show - -o run.json < run.json",
        "show - -o also.json < run.json",
        "import - -o log.fio < log.fio",
        "verify here --check - -o log < log",
    ] {
        refuses(&cli, line, "is an input file; this would overwrite it");
    }
    let [run, rest @ ..] = SMOKE;
    cli.well(&[&[run], &rest[..], &["-o", "run.json"]].concat());
}
