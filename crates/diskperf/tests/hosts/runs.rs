//! Runs of several hosts, up to the end.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use rustix::fs::{OFlags, XattrFlags, getxattr, setxattr};
use rustix::process::Pid;
use serde_json::Value;
use testkit::skip;
use units::Bytes;

use crate::common;
use crate::ranks::{MPICH, OPEN_MPI, READS, ended, hosts, wait, with};
use crate::throttle::{CLOUD, SLOW, SlowDisks};

#[test]
fn hosts_with_clocks_of_their_own_measure_together() {
    let hosts = hosts!(OPEN_MPI);
    let more = ["data", "--time", "300ms", "--rounds", "2", "--json"];
    let ran = hosts.run(2, "host_with_clock", &with(&READS, &more));
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let document = common::document::document(&ran);
    let of_hosts = document["run"]["hosts"].as_array().expect("hosts");
    assert_eq!(of_hosts.iter().map(|host| host["name"].as_str()).collect::<Vec<_>>(), [Some("n0"), Some("n1")]);
    let (offset, uncertainty) = (of_hosts[1]["offset_ns"].as_i64(), of_hosts[1]["uncertainty_ns"].as_i64());
    let error = (offset.expect("an offset") - 1_000_000_000_000).abs();
    assert!(error <= uncertainty.expect("an uncertainty"), "{error} {uncertainty:?}");
    assert_eq!(document["run"]["shared"], serde_json::json!(["data"]));
    let cell = &document["cells"][0];
    assert_eq!((&cell["measured"], cell["hosts"].as_array().map(Vec::len)), (&Value::Bool(true), Some(2)));
    let rounds = cell["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 2);
    for round in rounds {
        let parts = round["parts"].as_array().expect("parts");
        let sum: u64 = parts.iter().filter_map(|part| part["ops"].as_u64()).sum();
        assert_eq!((parts.len(), round["ops"].as_u64()), (2, Some(sum)));
        let last = parts.iter().filter_map(|part| part["returned_s"].as_f64()).fold(0.0, f64::max);
        assert_eq!(round["returned_s"].as_f64(), Some(last));
        assert!(round["start_spread"]["nanos"].is_u64());
    }
    let mut show = testkit::command(&common::program());
    show.args(["show", "--hosts"]).env("DISKPERF_STORE", hosts.path("store"));
    let shown = common::ended(show);
    for word in ["2 hosts: together", "slowest host", "of median", "n0", "n1"] {
        assert!(shown.out.contains(word), "{word}: {}", shown.out);
    }
    assert_eq!(testkit::names_in(&hosts.path("data")), [""; 0]);
}

/// Each rank starts in another working folder, and each folder has a `data`.
#[test]
fn a_relative_path_is_that_of_the_first_host() {
    let hosts = hosts!(OPEN_MPI);
    ["n0", "n1"].iter().for_each(|name| fs::create_dir_all(hosts.path(name).join("work/data")).expect("a folder"));
    let (scratch, host) = (hosts.scratch.path().display(), hosts.path("host"));
    let (enter, host) = (format!("cd '{scratch}/n'$rank/work"), format!("exec '{}' \"$@\"", host.display()));
    hosts.script("apart", &format!("{enter}\n{host}"));
    // The second host does not see the folder of the first one.
    hosts.script("hide", &format!("mount -t tmpfs none '{scratch}/n0' && {host}"));
    hosts.script("hidden", &format!("{enter}\n[ $rank = 0 ] && {host}\nexec unshare --mount '{scratch}/hide' \"$@\""));
    let reads = |target| with(&READS, &["--time", "300ms", "--rounds", "2", "--json", target]);
    let refused = hosts.run(2, "hidden", &reads("data"));
    let words = ["error: host n1: cannot enter ", "/n0/work, the working folder of the first host: No such file"];
    hosts.refuses(&refused, &words);
    let absolute = hosts.path("data").display().to_string();
    for (script, target) in [("apart", "data"), ("hidden", &absolute)] {
        let ran = hosts.run(2, script, &reads(target));
        assert_eq!(ran.status, Some(0), "{}", ran.err);
        assert_eq!(common::document::document(&ran)["run"]["shared"], serde_json::json!([target]), "{}", ran.err);
    }
}

#[test]
fn the_first_host_chooses_sizes_for_all() {
    let hosts = hosts!(MPICH);
    ["n0", "n1"].iter().for_each(|name| fs::create_dir(hosts.path(name)).expect("a folder"));
    let words = ["run", "quick", "%h", "--only", "read_8192", "--floor", "0", "--rounds", "2", "--yes", "--json"];
    let ran = hosts.run(2, "host", &words);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let document = common::document::document(&ran);
    let cell = &document["cells"][0];
    let bytes: Vec<Option<u64>> =
        cell["rounds"][0]["parts"].as_array().expect("parts").iter().map(|part| part["bytes"].as_u64()).collect();
    assert!(bytes.len() == 2 && bytes[0] == bytes[1] && bytes[0] > Some(0), "{bytes:?}");
    assert_eq!(document["run"].get("shared"), None);
    assert!(["n0", "n1"].iter().all(|name| testkit::names_in(&hosts.path(name)).is_empty()));
}

/// Both hosts write to both disks at the same time. The fast disk allows 15 times as many operations.
#[test]
fn hosts_choose_the_faster_disk() {
    let hosts = hosts!(OPEN_MPI);
    if let Some(missing) = SlowDisks::impossible() {
        return skip!("{missing}");
    }
    let disks = SlowDisks::new(Bytes::mib(64), &[CLOUD, SLOW]);
    let directories = disks.paths().into_iter().flat_map(|disk| ["n0", "n1"].map(|host| disk.join(host)));
    directories.for_each(|directory| fs::create_dir(directory).expect("a directory"));
    let [fast, slow] = disks.paths()[..] else { panic!("two disks") };
    let targets = [("fast", fast), ("slow", slow)].map(|(name, disk)| format!("{name}={}/%h", disk.display()));
    let mut words = vec!["choose", &targets[0], &targets[1]];
    words.extend("io randwrite --direct --size 4MiB --time 1s --floor 0 --rounds 6 --yes --json".split(' '));
    let command = disks.command(Path::new(hosts.library.launcher));
    let ran = ended(hosts.launched(command, 2, "host", &words).spawn().expect("a launcher"));
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let document = common::document::document(&ran);
    let comparison = &document["run"]["choice"]["comparisons"][0];
    // On a busy machine, or if other programs use the disk below both, the comparison may stay undecided.
    assert_eq!((&comparison["first"], &comparison["second"]), (&"fast".into(), &"slow".into()), "{comparison:#}");
    let is_decided = comparison["verdict"] == "faster";
    assert!(comparison["ratio"].as_f64().is_some_and(|ratio| ratio < 1.0 || !is_decided), "{comparison:#}");
    assert_ne!(comparison["faster"], "slow", "{comparison:#}");
    for cell in document["cells"].as_array().expect("results") {
        assert_eq!((cell["hosts"].as_array().map(Vec::len), &cell["measured"]), (Some(2), &true.into()), "{cell:#}");
    }
    assert!(disks.paths().iter().all(|disk| testkit::names_in(&disk.join("n1")).is_empty()));
}

/// The host that made the folder in which this process reads a file for a test; `None` if it reads none now. The tag of
/// the folder names the host. Files that a test opens are inherited by children, and others are not.
fn read_folder(process: Pid, directory: &Path) -> Option<String> {
    let process = Path::new("/proc").join(process.as_raw_pid().to_string());
    let open = fs::read_dir(process.join("fd")).ok()?.flatten();
    let is_read = |number: &OsStr| {
        let info = fs::read_to_string(process.join("fdinfo").join(number)).unwrap_or_default();
        let flags = info.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
        flags.is_some_and(|flags| {
            OFlags::from_bits_retain(flags).intersection(OFlags::RWMODE | OFlags::CLOEXEC).is_empty()
        })
    };
    let files = open.filter(|entry| is_read(&entry.file_name())).filter_map(|entry| fs::read_link(entry.path()).ok());
    let file = files.filter(|file| file.starts_with(directory)).find(|file| file.ends_with("f0"))?;
    let mut tag = vec![0; 512];
    let length = getxattr(file.parent()?, "user.diskperf", &mut tag[..]).ok()?;
    let tag = String::from_utf8_lossy(&tag[..length]).into_owned();
    tag.split(' ').nth(2).map(str::to_owned)
}

#[test]
fn each_host_reads_the_files_of_the_next_one() {
    let hosts = hosts!(OPEN_MPI);
    if setxattr(hosts.path("data"), "user.tag", b"1", XattrFlags::empty()).is_err() {
        return skip!("the file system of temporary files stores no tags");
    }
    // A low rate: reading from memory as fast as possible, three hosts would keep all processors busy for 12 s.
    let rate = ["--rate", "100", "--time", "2s", "--rounds", "6"];
    let words = [&READS[..], &rate, &["data", "--read-others", "--json"]].concat();
    let mut launcher = hosts.launcher(3, "host", &words).spawn().expect("a launcher");
    hosts.wait_for_rounds(&mut launcher, 1);
    let processes = [0, 1, 2].map(|rank| hosts.process_of(rank));
    let mut seen = vec![BTreeSet::new(); processes.len()];
    wait(|| {
        for (process, seen) in processes.iter().zip(&mut seen) {
            seen.extend(read_folder(*process, &hosts.path("data")));
        }
        seen.iter().all(|seen| !seen.is_empty())
    });
    let only = |name: &str| BTreeSet::from([name.to_owned()]);
    assert_eq!(seen, [only("n1"), only("n2"), only("n0")]);
    let ran = ended(launcher);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let document = common::document::document(&ran);
    assert_eq!((&document["run"]["read_others"], &document["cells"][0]["measured"]), (&true.into(), &true.into()));
    assert_eq!(testkit::names_in(&hosts.path("data")), [""; 0]);
}

#[test]
fn read_others_refuses_writes_private_directories_and_one_host() {
    let hosts = hosts!(MPICH);
    ["n0", "n1"].iter().for_each(|name| fs::create_dir(hosts.path(name)).expect("a folder"));
    let of = |pattern, target| ["io", pattern, target, "--size", "4MiB", "--time", "300ms", "--read-others", "--yes"];
    let writes = hosts.run(2, "host", &of("randwrite", "data"));
    hosts.refuses(&writes, &["error: --read-others needs tests that only read, and randwrite writes"]);
    let apart = hosts.run(2, "host", &of("randread", "%h"));
    hosts.refuses(&apart, &["error: --read-others needs directories that all hosts share, and %h is another one"]);
    let one = hosts.run(1, "host", &of("randread", "data"));
    hosts.refuses(&one, &["error: --read-others needs several hosts"]);
    let mut alone = testkit::command(&common::program());
    alone.args(of("randread", "data")).current_dir(hosts.scratch.path()).env("DISKPERF_STORE", hosts.path("store"));
    hosts.refuses(&common::ended(alone), &["error: --read-others needs several hosts"]);
}

#[test]
fn job_files_and_commands_run_on_all_hosts() {
    let hosts = hosts!(OPEN_MPI);
    let job = "rounds = 2\n[[load]]\npattern = \"randread\"\nsize = \"4MiB\"\ntime = \"300ms\"\n\
               [[load]]\npattern = \"write\"\nsize = \"4MiB\"\ntime = \"300ms\"\n";
    fs::write(hosts.path("job.toml"), job).expect("a job file");
    let of_job = ["run", "job.toml", "data", "--floor", "0", "--yes", "--json"];
    // Each host runs the command in its own folder, which contains the file of --prepare. The command does not get
    // DISKPERF_PEERS, so it cannot send messages to the other hosts.
    let command = "test -z \"$DISKPERF_PEERS\" || exit 1; cat prepared > copied; hostname >> copied; \
                   test -s prepared; sleep 0.05";
    let of_command = "run data --rounds 2 --floor 0 --yes --json --prepare".split(' ').collect::<Vec<_>>();
    let of_command = with(&of_command, &["cp /proc/version prepared", "--", "sh", "-c", command]);
    for (words, tests) in [(&of_job[..], &["randread", "write"][..]), (&of_command, &["sh"])] {
        let ran = hosts.run(2, "host", words);
        assert_eq!(ran.status, Some(0), "{}", ran.err);
        let document = common::document::document(&ran);
        let cells = document["cells"].as_array().expect("results");
        assert_eq!(cells.iter().map(|cell| cell["program"].as_str().expect("a name")).collect::<Vec<_>>(), tests);
        for cell in cells {
            let rounds = cell["rounds"].as_array().expect("rounds");
            assert!(cell["measured"] == true && rounds.len() == 2, "{cell:#}");
            assert!(rounds.iter().all(|round| round["parts"].as_array().map(Vec::len) == Some(2)), "{cell:#}");
        }
    }
    assert_eq!(testkit::names_in(&hosts.path("data")), [""; 0]);
}

#[test]
fn a_command_that_is_another_program_on_a_host_is_refused() {
    let hosts = hosts!(MPICH);
    for folder in ["bin0", "bin1"] {
        fs::create_dir(hosts.path(folder)).expect("a folder");
        hosts.script(&format!("{folder}/tool"), "exit 0");
    }
    let path = format!("export PATH={}$rank:$PATH", hosts.path("bin").display());
    hosts.script("with_path", &format!("{path}\nexec '{}' \"$@\"", hosts.path("host").display()));
    let ran = hosts.run(2, "with_path", &["run", "data", "--yes", "--", "tool"]);
    hosts.refuses(
        &ran,
        &["error: host n1: the command is ", "bin1/tool on this host, and ", "bin0/tool on the first one"],
    );
}
