//! Tests of groups in job files.

use crate::job_file::Job;
use crate::queue_depth::sample;
use crate::source_span::Source;

fn read(text: &str) -> Result<Job, String> {
    let read = Job::read(&Source::new("x", text), &sample());
    read.map_err(|error| format!("{error}\n{}", error.hint().unwrap_or_default()))
}

const TWO: &str = "[[load]]\nname = 'wal'\npattern = 'commit'\ngroup = 'db'\n\
                   [[load]]\npattern = 'read'\n\
                   [[load]]\nname = 'data'\npattern = 'randrw'\ngroup = 'db'\nstart = '1500ms'\n";

#[test]
fn loads_of_a_group_take_one_turn() {
    let job = read(TWO).expect("a job");
    assert_eq!(job.turns(), [vec![0, 2], vec![1]]);
    assert_eq!(job.loads.iter().map(|load| load.group).collect::<Vec<_>>(), [Some("db"), None, Some("db")]);
    assert_eq!(job.loads.iter().map(|load| load.start.0).collect::<Vec<_>>(), [0, 0, 1_500_000_000]);
    let all = read("together = true\n[[load]]\npattern = 'commit'\n[[load]]\npattern = 'read'\nstart = '1s'\n");
    let all = all.expect("a job");
    assert_eq!((all.turns(), all.loads[1].group), (vec![vec![0, 1]], Some("sum")));
    let apart = read("[[load]]\npattern = 'commit'\n[[load]]\npattern = 'read'\n").expect("a job");
    assert_eq!(apart.turns(), [vec![0], vec![1]]);
}

#[test]
fn groups_that_cannot_run_are_refused_at_their_place() {
    let load = |keys: &str| format!("[[load]]\npattern = 'randread'\n{keys}\n");
    let two = |first: &str, second: &str| load(first) + &load(&format!("name = 'b'\n{second}"));
    for (text, said, hint) in [
        (load("group = 'db'"), "x:3:1: group: no other workload", "the same group"),
        (format!("together = true\n{}", load("")), "x:1:1: together: no other workload", "leave it out"),
        (format!("together = 1\n{}", load("")), "x:1:12: together: invalid type", ""),
        (two("group = 'a b'", "group = 'a b'"), "x:3:1: group: a name has 1 to 40", "as in group"),
        (two("group = 3", ""), "x:3:9: group: invalid type", ""),
        (two("start = '1s'", ""), "x:3:1: start: only workloads that run at the same time", "together = true"),
        (two("group = 'g'\nstart = 5", "group = 'g'"), "x:4:9: start: invalid type", "quotes"),
        (two("group = 'g'\nstart = '5'", "group = 'g'"), "x:4:9: start: unknown or missing unit", ""),
        (format!("together = true\n{}", two("group = 'g'", "")), "x:4:1: group: together = true", "leave out"),
        (two("group = 'b'", "group = 'b'"), "x:6:1: name: b is already the name of a group", "another name"),
        (
            two("group = 'g'\nwarm = true", "group = 'g'"),
            "x:4:1: warm: another workload of the group starts with a cold",
            "or for none",
        ),
        (
            two("group = 'g'\njobs = 300", "group = 'g'\njobs = 300"),
            "x:4:1: jobs: the workloads of the group have 600 threads",
            "fewer jobs",
        ),
    ] {
        let error = read(&text).expect_err(&text);
        let (what, tried) = error.split_once('\n').expect("a hint");
        assert!(what.starts_with(said) && tried.contains(hint), "{text}\n{error}");
    }
}

#[test]
fn a_group_may_start_in_any_one_state() {
    let group = |first: &str, second: &str| {
        let load = |name, keys: &str| format!("[[load]]\nname = '{name}'\ngroup = 'g'\n{keys}\n");
        read(&(load("a", first) + &load("b", second)))
    };
    let cold = "pattern = 'randread'";
    for (first, second) in [
        (cold, cold),
        (cold, "pattern = 'commit'"),
        (cold, "pattern = 'randread'\ndirect = true"),
        ("pattern = 'randread'\nwarm = true", "pattern = 'randwrite'"),
    ] {
        assert!(group(first, second).is_ok(), "{first} {second}");
    }
}
