//! Job files as a user meets them: their loads take turns, errors show the line, and a resumed run uses the file with
//! which it began.

use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::{ProgramOutput, has_tool, skip};

use crate::common::Cli;
use crate::common::document::document;
use crate::common::stored::killed;

const JOB: &str = "# three loads\nrounds = 4\nseed = 3\n\n\
                   [[load]]\npattern = 'randread'\nsize = '1MiB'\ntime = '20ms'\n\n\
                   [[load]]\nname = 'again'\npattern = 'randread'\nsize = '1MiB'\ntime = '20ms'\nwarm = true\n\n\
                   [[load]]\nname = 'log'\npattern = 'commit'\nsize = '64KiB'\ntime = '20ms'\n";

/// A folder with that job, `x.toml`.
fn with_job() -> Cli {
    let cli = Cli::new();
    fs::write(cli.path().join("x.toml"), JOB).expect("a job");
    cli
}

#[test]
fn every_workload_is_a_row_and_all_take_turns() {
    let cli = with_job();
    let planned = cli.typed("run x.toml --dry-run");
    assert_eq!(planned.status, Some(0), "{}", planned.err);
    let mut rows: Vec<&str> = planned.out.lines().collect();
    rows.sort_unstable();
    assert_eq!(rows, ["again on .", "log on .", "randread on ."]);
    let document = document(&cli.typed("run x.toml --json"));
    assert_eq!((&document["run"]["preset"], &document["run"]["job"]), (&"job".into(), &JOB.into()));
    assert_eq!((&document["run"]["rounds"], &document["run"]["seed"]), (&4.into(), &3.into()));
    let cells = document["cells"].as_array().expect("cells");
    let shown = |cell: &Value| {
        ["program", "phase"].map(|key| cell[key].clone()).into_iter().chain([cell["parameters"]["pattern"].clone()])
    };
    let shown: Vec<Value> = cells.iter().flat_map(shown).collect();
    let expected = ["randread", "randread", "randread", "again", "again", "randread", "log", "log", "commit"];
    assert_eq!(shown, expected.map(Value::from));
    assert_eq!(cells.iter().map(|cell| &cell["measured"]).collect::<Vec<_>>(), [&Value::Bool(true); 3]);
    assert_ne!(cells[1]["state"]["cache"], "cold", "it was to be in memory");
    let places = |cell: &Value| -> Vec<Value> {
        cell["rounds"].as_array().expect("rounds").iter().map(|round| round["position"].clone()).collect()
    };
    let orders: Vec<Vec<Value>> = cells.iter().map(places).collect();
    assert!(orders.iter().all(|places| places.len() == 4), "{orders:?}");
    assert!(orders.iter().any(|places| places.iter().any(|place| place != &places[0])), "always the same: {orders:?}");
    assert_eq!(cli.names(), ["x.toml"]);
}

#[test]
fn the_command_line_overrides_the_job_file() {
    let cli = with_job();
    fs::write(cli.path().join("x.toml"), format!("targets = ['sim:flat', 'here=.']\n{JOB}")).expect("a job");
    let run = |words: &str| document(&cli.typed(words));
    let named = |document: &Value| -> Vec<Value> {
        let targets = document["run"]["targets"].as_array().expect("targets");
        targets.iter().map(|target| target["name"].clone()).collect()
    };
    let both = run("run x.toml --json --rounds 1 --only log");
    assert_eq!(named(&both), ["sim:flat", "here"].map(Value::from));
    let one = run("run x.toml sim:flat --json --rounds 2 --seed 9 --only log --size 32KiB");
    assert_eq!(named(&one), ["sim:flat"].map(Value::from));
    assert_eq!((&one["run"]["rounds"], &one["run"]["seed"]), (&2.into(), &9.into()));
    assert_eq!(one["cells"].as_array().map(Vec::len), Some(1));
    assert_eq!(one["cells"][0]["parameters"]["file_bytes"], 32 << 10);
}

/// Options of the whole run apply only to loads that read through the page cache.
#[test]
fn direct_workloads_are_not_reported_as_warm() {
    let cli = with_job();
    let job = "[[load]]\npattern = 'randread'\ndirect = true\nsize = '1MiB'\ntime = '20ms'\n\
               [[load]]\nname = 'through'\npattern = 'randread'\nsize = '1MiB'\ntime = '20ms'\n\
               [[load]]\nname = 'nowhere'\npattern = 'read'\nengine = 'null'\nsize = '1MiB'\n";
    fs::write(cli.path().join("x.toml"), job).expect("a job");
    let run = document(&cli.typed("run x.toml --warm --rounds 1 --json"));
    let state = |cell: usize| run["cells"][cell]["state"].clone();
    assert_ne!(state(0)["cache"], "warm", "{}", state(0));
    assert_eq!((&state(2)["cache"], &state(2)["cache_reason"]), (&"unknown".into(), &Value::Null));
}

#[test]
fn a_fio_job_is_refused_with_the_command_that_converts_it() {
    let cli = with_job();
    let fio = "[global]\nioengine=psync\n[db]\nrw=randread\nbs=4k\nsize=1m\nruntime=1\n";
    for name in ["db.fio", "db job", "fio.toml"] {
        fs::write(cli.path().join(name), fio).expect("a fio job");
    }
    let refused = |words: &[&str]| {
        let ended = cli.run(words);
        assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{words:?}: {}", ended.err);
        ended.err
    };
    for words in
        [&["run", "db.fio"][..], &["run", "./db.fio", "."], &["run", "--rounds", "3", "db.fio"], &["io", "db.fio", "."]]
    {
        let said = refused(words);
        assert!(said.contains("hint: ") && said.contains("diskperf import "), "{words:?}: {said}");
        assert!(said.contains("db.fio -o db.toml\n"), "{words:?}: {said}");
    }
    // Recognised only by its content.
    for (words, hint) in [
        (["run", "db job"], "diskperf import 'db job' -o 'db job.toml'\n"),
        (["run", "fio.toml"], "diskperf import fio.toml -o fio.toml.toml\n"),
        (["export", "fio.toml"], "diskperf import fio.toml -o fio.toml.toml\n"),
    ] {
        let words = if words[0] == "export" { vec!["export", "--to", "fio", words[1]] } else { words.to_vec() };
        let said = refused(&words);
        assert!(said.contains(hint), "{words:?}: {said}");
    }
    // The value of an option is not a job, and the real mistake is named.
    for words in
        [&["io", "randwrite", "--size", "bogus", "-o", "db.fio"][..], &["run", "--rounds", "x", "-o", "db.fio"]]
    {
        let said = refused(words);
        assert!(!said.contains("diskperf import ") && said.contains(words[words.len() - 4]), "{words:?}: {said}");
    }
    // The hint works.
    let imported = cli.typed("import db.fio -o db.toml");
    assert_eq!(imported.status, Some(0), "{}", imported.err);
    assert_eq!(cli.typed("run db.toml --dry-run").status, Some(0));
    // Other files and missing ones are not fio jobs.
    for words in [&["run", "none.fio"][..], &["io", "x.toml"], &["run", "x"]] {
        assert!(!refused(words).contains("import"), "{words:?}");
    }
}

#[test]
fn errors_are_shown_with_their_line() {
    let cli = with_job();
    let refused = |text: &str| {
        fs::write(cli.path().join("bad.toml"), text).expect("a job");
        let ended = cli.typed("run bad.toml");
        assert_eq!((ended.status, ended.out.as_str()), (Some(2), ""), "{text}: {}", ended.err);
        ended.err
    };
    assert_eq!(
        refused("[[load]]\npattern = \"randread\"\n  iodpeth = 32 # deep\n"),
        "error: bad.toml:3:3: a workload has no key iodpeth\n      iodpeth = 32 # deep\n      ^^^^^^^\nhint: did you \
            mean iodepth?\n"
    );
    assert_eq!(
        refused("[[load]]\npattern = \"randread\"\nengine = \"posix\"\niodepth = 32\n"),
        "error: bad.toml:4:1: iodepth: 32: engine posix has one operation in flight; engine is set in line 3\n\
         \u{20}   iodepth = 32\n    ^^^^^^^^^^^^\nhint: leave out engine, or use engine uring\n"
    );
    assert!(refused("").contains("bad.toml:1:1: [[load]] is missing"));
    let nowhere = refused("seed = 1\ntargets = ['nodir']\n[[load]]\npattern = 'randread'\n");
    assert!(nowhere.starts_with("error: bad.toml:2:1: targets: there is no nodir\n"), "{nowhere}");
    if kernel::observe::mount::direct_alignment(cli.path()).is_none() {
        return skip!("the kernel does not say what direct I/O must be aligned to here");
    }
    let cut = refused("[[load]]\npattern = 'randread'\ndirect = true\nbs = '1000B'\n");
    assert!(cut.starts_with("error: bad.toml:4:1: bs: 1000 B: direct I/O (direct) on . takes"), "{cut}");
    assert!(cut.contains("direct is set in line 3\n    bs = '1000B'\n"), "{cut}");
    for (words, said) in [
        ("run missing.toml", "there is no missing.toml"),
        ("run ./x", "there is no ./x"),
        ("run /", "is a directory"),
        ("run x.tml", "x.tml"),
    ] {
        let ended = cli.typed(words);
        assert_eq!(ended.status, Some(2), "{words}");
        assert!(ended.err.contains(said), "{words}: {}", ended.err);
    }
    fs::write(cli.path().join("bad.toml"), [0xFF, 0xFE]).expect("a file");
    for (words, hint) in [("run", "hint: name a job file; "), ("import", "hint: name a fio job: ")] {
        let ended = cli.typed(&format!("{words} bad.toml"));
        assert!(ended.err.contains("bad.toml is not UTF-8 text") && ended.err.contains(hint), "{}", ended.err);
    }
}

#[test]
fn a_resumed_run_uses_its_original_job_file() {
    let cli = with_job();
    assert_eq!(cli.typed("run x.toml sim:flat --rounds 2 --store runs.sqlite").status, Some(0));
    let run = killed(&cli.path().join("runs.sqlite"), |left| assert_eq!(left.info.job.as_deref(), Some(JOB)));
    fs::write(cli.path().join("x.toml"), "[[load]]\npattern = 'write'\n").expect("another job");
    let resumed = cli.typed("resume --store runs.sqlite");
    assert_eq!(resumed.status, Some(0), "{}", resumed.err);
    let shown = cli.typed(&format!("show {run} --store runs.sqlite"));
    for name in ["randread", "again", "log"] {
        assert!(shown.out.lines().any(|line| line.trim_start().starts_with(name)), "{}", shown.out);
    }
    let exported = |words: &str| -> Value {
        let ended = cli.typed(&format!("export {run} --store runs.sqlite{words}"));
        serde_json::from_str::<Value>(&ended.out).expect("documents")[0].clone()
    };
    assert_eq!(exported("")["run"]["job"], JOB);
    // A file may contain anything, and nothing checks it before it is shared.
    assert_eq!(exported(" --anonymous")["run"].get("job"), None);
}

/// Typical fio jobs.
const OF_FIO: [&str; 5] = ["database", "ssd", "log", "sizes", "together"];

fn of_fio(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../jobs/samples/{name}.fio")).display().to_string()
}

#[test]
fn a_converted_fio_job_runs_and_differences_are_listed() {
    let cli = with_job();
    let imported = cli.typed(&format!("import {} -o db.toml", of_fio("database")));
    assert_eq!((imported.status, imported.out.as_str()), (Some(0), ""), "{}", imported.err);
    for line in [
        "line 3: ioengine=libaio: converted to io_uring",
        "line 18: verify=crc32c: not converted: ",
        "line 20: [log]: time_based: a round also ends at the end of the file",
    ] {
        assert!(imported.err.contains(line), "{line}: {}", imported.err);
    }
    let job = fs::read_to_string(cli.path().join("db.toml")).expect("the job");
    assert!(imported.err.lines().all(|line| job.contains(&format!("#   {line}\n"))), "{job}");
    assert!(job.contains("seed = 42\n") && job.contains("order = \"zipf:0.99\""), "{job}");
    let planned = cli.typed("run db.toml --dry-run");
    let mut rows: Vec<&str> = planned.out.lines().collect();
    rows.sort_unstable();
    assert_eq!(rows, ["log on .", "tables on ."], "{}", planned.err);
    for (words, said) in [
        ("import db.toml", "db.toml:"),
        ("import missing.fio", "there is no missing.fio"),
        ("export --to fio missing.toml", "there is no missing.toml"),
        ("export --to fio db.toml --format csv", "cannot be used with"),
    ] {
        let refused = cli.typed(words);
        assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{words}: {}", refused.err);
        assert!(refused.err.contains(said), "{words}: {}", refused.err);
    }
}

#[test]
fn a_run_is_exported_as_a_fio_job() {
    let cli = with_job();
    let ran = cli.typed("run x.toml sim:flat --rounds 1 --store runs.sqlite");
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let of_run = cli.typed("export --to fio last --store runs.sqlite");
    let of_file = cli.typed("export --to fio x.toml");
    let body = |ended: &ProgramOutput| ended.out.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!((of_run.status, body(&of_run)), (Some(0), body(&of_file)), "{}", of_run.err);
    assert!(of_run.out.contains("[log]\nstonewall\nrw=write\nbs=4096\n"), "{}", of_run.out);
    assert!(of_run.err.contains("rounds = 4: not converted"), "{}", of_run.err);
    // fio would run both at the same time, and read the global section of the first as part of the second.
    let refused = cli.typed("export --to fio x.toml last --store runs.sqlite");
    assert_eq!((refused.status, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
    assert!(refused.err.contains("exports one workload, not 2"), "{}", refused.err);
    assert!(refused.err.contains("diskperf export --to fio x.toml -o JOB.fio"), "{}", refused.err);
    cli.typed("run smoke sim:flat --rounds 1 --store runs.sqlite");
    let refused = cli.typed("export --to fio last --store runs.sqlite");
    assert_eq!(refused.status, Some(2), "{}", refused.err);
    assert!(refused.err.contains("has no job file") && refused.err.contains("--print-job"), "{}", refused.err);
}

#[test]
fn fio_accepts_exported_and_imported_jobs() {
    if !has_tool("fio") {
        return skip!("fio is not installed");
    }
    let cli = with_job();
    let parse = |file: &str| {
        let ended = testkit::run(Path::new("fio"), cli.path(), &["--parse-only", file]);
        assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""), "{file}: {}", ended.out);
    };
    for name in OF_FIO {
        parse(&of_fio(name));
        assert_eq!(cli.typed(&format!("import {} -o a.toml", of_fio(name))).status, Some(0));
        assert_eq!(cli.typed("export --to fio a.toml -o a.fio").status, Some(0));
        parse("a.fio");
    }
    // All features that both have, in one job.
    let all = "seed = 3\n[[load]]\nname = 'a'\npattern = 'randrw'\nbs = '4KiB:60,64KiB:40'\njobs = 2\ndirect = true\n\
               rate = 100\narrivals = 'poisson'\nreads = 70\norder = 'zipf:0.99'\nfsync = 3\nsync = 'dsync'\n\
               [[load]]\nname = 'b'\npattern = 'read'\nstride = '1MiB'\nthink = '1ms'\nwarm = true\n\
               [[load]]\npattern = 'commit'\ngroup = 'c'\n[[load]]\npattern = 'write'\nengine = 'null'\ngroup = 'c'\n\
               start = '1s'\n";
    fs::write(cli.path().join("all.toml"), all).expect("a job");
    let exported = cli.typed("export --to fio all.toml -o all.fio");
    let is_listed = exported.err.starts_with("b: stride = 1MiB: ") && exported.err.lines().count() == 1;
    assert!(exported.status == Some(0) && is_listed, "{}", exported.err);
    parse("all.fio");
}
