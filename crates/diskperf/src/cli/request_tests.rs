//! Tests that command lines become the right requests, and that stored requests are read back unchanged.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;

use campaign::presets::Sizing;
use campaign::request::resolved::{Resolved, Tests};
use campaign::request::{RunRequest, Together};
use campaign::targets::{Conditioning, TargetArgument, TargetKind};
use kernel::sys::name::Shown;
use units::{Bytes, Nanos};

use crate::cli;
use crate::error::Error;
use crate::session::Stored;
use crate::ui::output_format::{Output, RunFormat};

/// Parses and resolves a command line, without the name of the program.
fn asked(line: &str) -> Resolved {
    let words = shlex::split(line).expect("words").into_iter().map(OsString::from);
    read(&["diskperf".into()].into_iter().chain(words).collect::<Vec<OsString>>())
}

/// Parses and resolves these words.
fn read(words: &[OsString]) -> Resolved {
    let asked: Result<Resolved, Error> = cli::asked(words, true).expect("it runs something");
    asked.unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

/// The request after it was stored and read.
fn stored(request: &RunRequest) -> RunRequest {
    let stored = Stored { request: request.clone(), output: Output::default() };
    Stored::of_text(&stored.to_text()).expect("what is stored is read").request
}

#[test]
fn every_request_is_read_back_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let (job, trace) = (folder.path().join("x.toml"), folder.path().join("trace"));
    let text = "targets = ['sim:flat']\nseed = 3\nbudget = '1min'\n[[load]]\npattern = 'read'\nsize = '1MiB'\n";
    fs::write(&job, text).expect("a job file");
    fs::write(&trace, include_str!("../../../jobs/samples/blkparse.txt")).expect("a trace");
    let (job, trace) = (job.display(), trace.display());
    for line in [
        "run quick . --size 64MiB --budget 2min --rounds 3 --seed 7 --yes --max-write 1GiB --floor 0",
        "run classic1983 a=. b=/tmp --together --cache 64MiB --cold --drop-caches --json -o x.json",
        "run lfs . --only smallfb --only largefb --solo --warm",
        "run tlpi image:ext4,size=1GiB,tune=scheduler:none --budget 5min --size 1MB --keep",
        "run vaxmix sim:flat --mix sizes=512B:1+8KiB:4,reads=66.7,hot=60/10,near=20,rate=50",
        "run vaxmix sim:flat --mix bs=4KiB:60,64KiB:40,order=zipf:0.99",
        &format!("run vaxmix sim:flat --from-trace {trace}"),
        "run device /dev/x --write --precondition 1.5x --time 30s --destroy-data --confirm 'A B' --confirm C",
        "run smoke new:ext4@/dev/x --fill 70% --age 10 --data zeros --format csv",
        "run . --prepare \"true 'a b'\" --timeout 30s --size 1GiB -- sh -c 'cp {} x'",
        &format!("run {job} --rounds 9"),
        "io randrw . --bs 4KiB:60,64KiB:40 --reads 70 --rate 100 --arrivals poisson --time 10s --size 1GiB",
        "io randwrite . --order zipf:0.99 --fsync 8 --direct --engine posix --jobs 2 --rounds 9 --seed 5",
        "io randread . --cold --rounds 3",
        "io write . --stride 1MiB --think 1.5ms --sync dsync --budget 1min",
        "choose a=. b=/tmp --use commit=60,randread=40 --need 'read>=200MiB/s,commit.p99<=5ms' --margin 2.3%",
        "choose a=. b=/tmp --stages --price a=0.10/GiB-month --price b=3 --rounds 12 --preset tlpi --use mail",
        "choose . /tmp --preset device",
        "choose . /tmp --cold -- true",
    ] {
        let Resolved { request, tests } = asked(line);
        let again = stored(&request);
        assert_eq!(format!("{again:?}"), format!("{request:?}"), "{line}");
        let again = again.resolve().expect(line);
        if !matches!(tests, Tests::Job(_)) {
            assert_eq!(format!("{:?}", again.tests), format!("{tests:?}"), "{line}");
        }
    }
}

#[test]
fn words_that_are_not_utf_8_are_read_back_unchanged() {
    let odd = OsString::from_vec(b"a\xff".to_vec());
    let words = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
    let command = [
        words("diskperf run"),
        vec![odd.clone()],
        words("--prepare"),
        vec![OsString::from_vec(b"sh -c a\xff".to_vec())],
        words("-- sh -c"),
        vec![odd.clone()],
    ];
    let Resolved { request, tests } = read(&command.concat());
    assert_eq!(stored(&request).targets[0].kind, TargetKind::Directory(odd.clone().into()));
    let (Tests::Command(before), Tests::Command(after)) = (tests, stored(&request).resolve().expect("a shell").tests)
    else {
        panic!("a command");
    };
    assert_eq!(format!("{after:?}"), format!("{before:?}"));
    let output = Output { format: RunFormat::Csv, file: Some(odd.shown().into_owned()) };
    let again = Stored::of_text(&Stored { request, output }.to_text()).expect("what is stored is read");
    assert_eq!((again.output.format, again.output.file), (RunFormat::Csv, Some(odd.shown().into_owned())));
}

#[test]
fn typed_options_are_in_the_request() {
    let quick = asked("run quick --size 64MiB --rounds 3").request;
    assert_eq!((quick.size, quick.schedule.rounds(), quick.schedule.promised()), (Some(Bytes::mib(64)), 3, 5));
    assert_eq!(quick.targets, [TargetArgument::from(".".to_owned())]);
    assert_eq!(quick.sizing(), Sizing::FitTime { usual: Nanos::from_secs(60) });
    assert_eq!((quick.max_write, quick.no_floor), (None, false));
    let limited = asked("choose a=. b=. --max-write 1GiB --floor 0").request;
    assert_eq!((limited.max_write, limited.no_floor), (Some(Bytes(1 << 30)), true));
    let chosen = asked("choose . /tmp").request;
    assert_eq!((chosen.sizing(), chosen.budget), (Sizing::FitTime { usual: campaign::choose::USUAL }, None));
    assert_eq!(chosen.schedule.goal().map(|goal| goal.margin), Some(0.05));
    // The limit of the page cache belongs to a file of the preset's size.
    let classic = |options: &str| asked(&format!("run classic1983 . {options}")).request;
    assert_eq!(classic("").environment.memory, Some(Bytes::mib(64)));
    assert_eq!(classic("--size 8MiB").environment.memory, None);
    assert_eq!(classic("").together, Together::IfShared);
    assert_eq!(classic("--solo").together, Together::Never);
    let device = |options: &str| asked(&format!("run device /dev/x {options}")).request.workload.overwrites();
    assert_eq!((device(""), device("--write")), (None, Some(Conditioning::default())));
}

#[test]
fn the_command_line_overrides_the_job_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("x.toml");
    let text = "targets = ['sim:flat']\nseed = 3\nrounds = 4\nbudget = '1min'\n[[load]]\npattern = 'read'\n";
    fs::write(&job, text).expect("a job file");
    let read = |options: &str| {
        let request = asked(&format!("run {} {options}", job.display())).request;
        let targets = request.targets.into_iter().map(|target| target.typed).collect::<Vec<_>>();
        (targets, request.schedule.rounds(), request.budget, request.environment.seed)
    };
    assert_eq!(read(""), (vec!["sim:flat".to_owned()], 4, Some(Nanos::from_secs(60)), 3));
    let typed = read(". --rounds 2 --budget 5s --seed 9");
    assert_eq!(typed, (vec![".".to_owned()], 2, Some(Nanos::from_secs(5)), 9));
}

#[test]
fn choose_uses_the_keys_of_its_job_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("x.toml");
    let text = "seed = 3\nrounds = 9\nbudget = '1min'\nsustained = '30s'\n[[load]]\npattern = 'read'\n";
    fs::write(&job, text).expect("a job file");
    let read = |options: &str| {
        let request = asked(&format!("choose a=sim:flat b=sim:flat --load {} {options}", job.display())).request;
        (request.budget, request.sustained, request.environment.seed, request.schedule.asked_rounds())
    };
    let seconds = |count| Some(Nanos::from_secs(count));
    // A comparison has as many rounds as it needs.
    assert_eq!(read(""), (seconds(60), seconds(30), 3, None));
    let typed = read("--budget 5s --sustained 6s --seed 7 --rounds 8");
    assert_eq!(typed, (seconds(5), seconds(6), 7, Some(8)));
}

#[test]
fn requests_of_other_builds_are_not_read() {
    let text = Stored { request: asked("run smoke .").request, output: Output::default() }.to_text();
    assert!(Stored::of_text(&text).is_some());
    for (word, other) in
        [("smoke", "smoulder"), ("\"keep\"", "\"kept\""), ("\"budget\":null,", "\"budget\":null,\"x\":1,")]
    {
        let changed = text.replace(word, other);
        assert!(changed != text && Stored::of_text(&changed).is_none(), "{changed}");
    }
}
