//! A scripted `diskperf-mpi` answers one host. The script contains the messages of the other hosts.

use std::io::{Cursor, Write};
use std::sync::mpsc::{Receiver, Sender, channel};

use runner::execution::ExecutionResult;
use runner::peers::Peers as _;

use super::*;

struct Kept(Sender<Vec<u8>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // A test that does not look at the requests drops the receiver.
        let _ = self.0.send(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// An answer with these messages.
fn got(messages: &[&[u8]]) -> Vec<u8> {
    let mut answer = format!("got {}\n", messages.len()).into_bytes();
    for message in messages {
        answer.extend(format!("{}\n", message.len()).into_bytes());
        answer.extend_from_slice(message);
    }
    answer
}

fn hello(name: &str, moment: u64) -> Vec<u8> {
    text(&Hello { name: name.to_owned(), moment, uncertainty: 5, ..Hello::this() })
}

/// The first of two hosts, with the answers after their introduction, and the requests that it sends.
fn first_of_two(answers: &[Vec<u8>]) -> (Peers, Receiver<Vec<u8>>) {
    let mut script = b"start 1000 0\n".to_vec();
    script.extend(got(&[&hello("n0", 1000), &hello("n1", 5000)]));
    answers.iter().for_each(|answer| script.extend_from_slice(answer));
    let (sender, receiver) = channel();
    let wire = Wire::new(Cursor::new(script), Kept(sender));
    (Peers::Piped(Box::new(Piped::introduce(wire, 0).expect("an introduction"))), receiver)
}

const FINE: u8 = Standing::Fine as u8;

fn meeting(other: Standing) -> Vec<u8> {
    got(&[&[FINE], &[other as u8]])
}

#[test]
fn hosts_introduce_themselves() {
    let (peers, _) = first_of_two(&[]);
    let offsets: Vec<(String, i64)> = peers.infos().into_iter().map(|info| (info.name, info.offset_ns)).collect();
    assert_eq!(offsets, [("n0".to_owned(), 0), ("n1".to_owned(), 4000)]);
    let argument: crate::targets::TargetArgument = "a=/mnt/%h/x".to_owned().into();
    assert_eq!(argument.on_host("n1").typed, "a=/mnt/n1/x");
}

#[test]
fn an_execution_is_left_at_the_first_meeting_with_a_failure() {
    let answers = [got(&[b"null", b"null"]), meeting(Standing::Fine), meeting(Standing::Failed)];
    let (mut peers, sent) = first_of_two(&answers);
    let task = Task { alternative: 0, sizes: None, round: Some(1), is_hurried: false };
    peers.order(task).expect("an order");
    assert!(peers.meet());
    assert!(!peers.meet());
    // From now on, the host sends no more requests.
    assert!(!peers.meet() && peers.agree_on_start() == Agreed::Left && !peers.leave(Standing::Stopped));
    assert_eq!(sent.try_iter().count(), 2 + 3);
}

#[test]
fn all_repeat_what_one_host_must_repeat() {
    let order = got(&[b"null", b"null"]);
    let start = b"start 7 3\n".to_vec();
    let answers = [order, meeting(Standing::Suspended), meeting(Standing::Fine), start, meeting(Standing::Fine)];
    let (mut peers, _) = first_of_two(&answers);
    peers.order(Task { alternative: 0, sizes: None, round: None, is_hurried: false }).expect("an order");
    assert!(!peers.meet() && peers.leave(Standing::Stopped));
    assert_eq!(peers.agree_on_start(), Agreed::At(Start { moment: Nanos(7), uncertainty: Nanos(3) }));
    assert!(!peers.leave(Standing::Fine));
}

#[test]
fn a_host_that_is_gone_ends_the_run_and_is_named() {
    let (mut peers, _) = first_of_two(&[got(&[b"null", b"null"]), b"gone n1\tsignal 9\n".to_vec()]);
    let stop = Stop::default();
    let task = Task { alternative: 0, sizes: None, round: Some(3), is_hurried: false };
    peers.order(task).expect("an order");
    assert!(!peers.meet() && !peers.leave(Standing::Stopped));
    assert!(peers.collect(Some(Ok(ExecutionResult::default())), &stop).is_none());
    assert!(stop.requested());
    let fault = peers.fault(|| " in round 3 of 5".to_owned()).expect("a fault");
    assert_eq!(fault.to_string(), "host n1 is gone (signal 9) in round 3 of 5");
    assert_eq!(fault.exit(), units::Exit::Failed);
    assert!(peers.order(task).is_err() && peers.finish().is_err());
}

#[test]
fn other_plans_are_refused_with_their_difference() {
    let tests = |last: &str| {
        let tests = vec!["read (target [0])".to_owned(), last.to_owned()];
        text(&Agreement { tests, storage: Vec::new(), warnings: Vec::new(), largest: None })
    };
    let agreed = got(&[b"null", b"null"]);
    let (peers, _) = first_of_two(&[agreed, got(&[&tests("write"), &tests("write, left out")])]);
    let Peers::Piped(mut piped) = peers else { panic!("two hosts") };
    let options = crate::presets::LOAD.options_on(&[]);
    let mut plan = Plan::fixed(("io", options), crate::presets::LOAD.schedule.clone(), 1, Vec::new());
    let refused = piped.compare((&[], &[]), &mut plan).expect_err("a refusal");
    assert_eq!(refused.to_string(), "the hosts plan different tests: write on n0, write, left out on n1");
}

#[test]
fn a_warning_of_some_hosts_names_them() {
    let with = |test: &str, warnings: &[&str]| {
        let (tests, warnings) = (vec![test.to_owned()], warnings.iter().map(|&warning| warning.to_owned()).collect());
        text(&Agreement { tests, storage: Vec::new(), warnings, largest: None })
    };
    let compared = |test: &str, warning: &str| {
        let all = got(&[&with("deep", &["both"]), &with(test, &["both", warning])]);
        let (peers, _) = first_of_two(&[got(&[b"null", b"null"]), all]);
        let Peers::Piped(mut piped) = peers else { panic!("two hosts") };
        let options = crate::presets::LOAD.options_on(&[]);
        let mut plan = Plan::fixed(("io", options), crate::presets::LOAD.schedule.clone(), 1, Vec::new());
        piped.compare((&[], &[]), &mut plan)
    };
    assert_eq!(compared("deep", "few processors"), Ok(vec!["only on n1: few processors".to_owned()]));
    let refused = compared("plain", "no io_uring");
    let differs = "deep on n0, plain on n1; only on n1: no io_uring";
    assert_eq!(refused, Err(PeerFault::Plans(differs.to_owned())));
}

#[test]
fn a_host_that_cannot_prepare_refuses_for_all() {
    let problem = text(&Some(Problem { message: "no space".to_owned(), hint: None, exit: 3 }));
    let (mut peers, _) = first_of_two(&[got(&[b"null", &problem])]);
    let refused = peers.prepared().expect_err("a refusal");
    assert_eq!((refused.to_string().as_str(), refused.exit()), ("host n1: no space", units::Exit::Refused));
}

#[test]
fn an_error_that_only_another_host_has_ends_the_run_with_its_words() {
    let answers = [got(&[b"null", b"null"]), meeting(Standing::Fine), b"error n1\t13\n1\0no pipe\0try".to_vec()];
    let (mut peers, _) = first_of_two(&answers);
    peers.order(Task { alternative: 0, sizes: None, round: Some(1), is_hurried: false }).expect("an order");
    assert!(peers.meet() && !peers.meet());
    let fault = peers.fault(String::new).expect("a fault");
    assert_eq!((fault.to_string().as_str(), fault.hint().as_deref()), ("host n1: no pipe", Some("try")));
    assert_eq!(fault.exit(), units::Exit::Failed);
}

#[test]
fn hosts_that_share_a_directory_divide_its_room_but_not_a_given_size() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["x", "y"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder of a host");
    }
    let argument: crate::targets::TargetArgument = folder.path().to_str().expect("UTF-8").to_owned().into();
    let targets = [Target::resolve(&argument).expect("a target")];
    let (size, max_write) = (Some(units::Bytes::kib(1000)), Some(units::Bytes(1 << 30)));
    let resolved = RunRequest { size, max_write, ..RunRequest::main_job() }.resolve().expect("the tests");
    let mut plan = crate::request::planning::plan(&resolved, &targets).expect("a plan");
    let before = plan.limits().expect("limits");
    let (fine, seen) = (got(&[b"null", b"null"]), text(&[[true, true]]));
    let names = got(&[&text(&["x"]), &text(&["y"])]);
    let (mut peers, _) = first_of_two(&[fine.clone(), names, got(&[&seen, &seen]), fine]);
    peers.compare_targets(&targets, &mut plan).expect("a shared directory");
    assert_eq!(peers.shared().len(), 1);
    let after = plan.limits().expect("limits");
    assert_eq!((after.largest.large, after.largest.spots), (before.largest.large, before.largest.spots));
    assert_eq!(after.largest.copied, before.largest.copied / 2);
    assert_eq!(after.written, before.written.map(|bytes| bytes / 2));
}
