//! Well-known fio jobs run unchanged: ten recipes, two of which run loads at the same time. Only the size, the time and
//! the rounds are smaller here.

use std::fs;

use crate::common::Cli;
use crate::common::document::document;

/// Ten recipes: a name, a fio job as its users write it, and the tests that it becomes.
const RECIPES: [(&str, &str, &[&str]); 10] = [
    // etcd: "Using fio to tell whether your storage is fast enough for etcd".
    ("etcd", "[mytest]\nrw=write\nioengine=sync\nfdatasync=1\ndirectory=test-data\nsize=22m\nbs=2300\n", &["mytest"]),
    (
        "postgres-wal",
        "[global]\nioengine=psync\nsize=1g\nruntime=60\ntime_based\n[wal]\nrw=write\nbs=8k\nfdatasync=1\n[data]\n\
         rw=randrw\nrwmixread=70\nbs=8k\nnumjobs=2\n",
        &["wal", "data", "sum"],
    ),
    (
        "kafka-log",
        "[global]\nbs=1m\nsize=4g\nioengine=psync\nruntime=60\n[append]\nrw=write\nfsync=64\n[consumers]\n\
         startdelay=100ms\nrw=read\nnumjobs=2\n",
        &["append", "consumers", "sum"],
    ),
    (
        "object-store",
        "[global]\nsize=8g\nioengine=libaio\niodepth=16\nruntime=60\ntime_based\ngroup_reporting\n[get]\nrw=randread\n\
         bssplit=64k/50:1m/30:4m/20\nnorandommap\n[put]\nstonewall\nrw=write\nbs=4m\nend_fsync=1\n",
        &["get", "put"],
    ),
    ("video-capture", "[camera]\nrw=write\nbs=1m\nrate=50m\nsize=4g\nioengine=psync\nfallocate=none\n", &["camera"]),
    (
        "vm-boot",
        "[boot]\nrw=randrw\nrwmixread=90\nbssplit=4k/60:16k/20:64k/20\nrandom_distribution=zipf:1.1\n\
         ioengine=io_uring\niodepth=4\nsize=2g\nruntime=30\ntime_based\n",
        &["boot"],
    ),
    ("backup", "[backup]\nrw=read\nbs=1M\nioengine=libaio\niodepth=8\nsize=4G\ninvalidate=1\n", &["backup"]),
    (
        "compaction",
        "[global]\nbs=1m\nioengine=psync\nsize=2g\n[input]\nrw=read\n[output]\nstonewall\nrw=write\nfsync=16\n",
        &["input", "output"],
    ),
    (
        "mail",
        "[mail]\nrw=randrw\nrwmixread=30\nbssplit=4k/50:8k/30:16k/20\nfsync=1\nnumjobs=4\nioengine=psync\nsize=256m\n\
         runtime=60\ntime_based\ngroup_reporting\n",
        &["mail"],
    ),
    (
        "build",
        "[build]\nrw=randrw\nrwmixread=60\nbssplit=4k/70:16k/20:64k/10\nnumjobs=2\nioengine=psync\nrate_iops=300,200\n\
         size=512m\nruntime=30\ntime_based\nthread\n",
        &["build"],
    ),
];

/// Shortens the time and the file of each workload in a job file. Sizes that were rounded to blocks stay.
fn shortened(job: &str) -> String {
    let line = |line: &str| match line {
        _ if line.starts_with("time = ") => "time = \"100ms\"".to_owned(),
        _ if line.starts_with("size = ") && line.contains("iB") => "size = \"16MiB\"".to_owned(),
        _ => line.to_owned(),
    };
    job.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn ten_recipes_are_imported_and_run() {
    let cli = Cli::new();
    for (name, job, tests) in RECIPES {
        let file = format!("{name}.fio");
        fs::write(cli.path().join(&file), job).expect("a fio job");
        let imported = cli.well(&["import", &file]).out;
        let own = format!("{name}.toml");
        fs::write(cli.path().join(&own), shortened(&imported)).expect("a job file");
        let ended = cli.run(&["run", &own, ".", "--rounds", "1", "--json"]);
        assert_eq!(ended.status, Some(0), "{name}: {}\n{imported}", ended.err);
        let document = document(&ended);
        let cells = document["cells"].as_array().expect("cells");
        let programs: Vec<&str> = cells.iter().map(|cell| cell["program"].as_str().expect("a name")).collect();
        assert_eq!(programs, tests, "{name}");
        for cell in cells {
            assert_eq!(cell["measured"], true, "{name}: {cell:#}");
            assert!(cell["rounds"][0]["ops"].as_u64() > Some(0), "{name}: {cell:#}");
        }
        // Dropped settings are comments.
        assert!(!job.contains("directory=") || imported.contains("#   line 5: directory=test-data: not converted"));
    }
}

#[test]
fn the_size_of_a_recipe_is_rounded_to_its_blocks() {
    let cli = Cli::new();
    fs::write(cli.path().join("etcd.fio"), RECIPES[0].1).expect("a fio job");
    let imported = cli.well(&["import", "etcd.fio"]).out;
    assert!(imported.contains("[mytest]: size: rounded down to whole blocks of 2300 B"), "{imported}");
    assert!(imported.contains("pattern = \"commit\"") && imported.contains("size = \"23066700B\""), "{imported}");
    fs::write(cli.path().join("etcd.toml"), imported).expect("a job file");
    let plan = cli.well(&["run", "etcd.toml", ".", "--dry-run"]).out;
    assert!(plan.contains("mytest"), "{plan}");
}

#[test]
fn a_command_line_of_fio_is_imported() {
    let cli = Cli::new();
    let line = "import -- fio --name=db --rw=randrw --bs=8k --rate_iops=700,300 --size=64m --runtime=5 --fdatasync=4";
    let job = cli.typed(line);
    assert_eq!(job.status, Some(0), "{}", job.err);
    for key in ["name = \"db\"", "rate = \"700/300\"", "fdatasync = 4", "time = \"5s\""] {
        assert!(job.out.contains(key), "{key}: {}", job.out);
    }
    assert_eq!(cli.typed("import").status, Some(2));
    assert_eq!(cli.typed("import x.fio -- fio --name=x").status, Some(2));
    let stray = ["x y.fio is neither an option of fio nor", "diskperf import 'x y.fio'\n"];
    cli.refuses(&["import", "--", "fio", "--bs=4k", "x y.fio"], 2, &stray);
}
