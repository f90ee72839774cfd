//! Events as sentences: on standard error, and in the document of a run if its readers need them later.

use campaign::choose;
use campaign::events::Event;
use campaign::fit::announcement::announcement;
use campaign::fit::duration_words::about;
use kernel::provision::queue_tuning;
use kernel::sys::name::Shown;
use stats::{Remark, RemarkKind};
use workload::programs::command::MEASURED;

use crate::ui::output;
use crate::ui::shell;

/// Prints the sentences of an event on standard error, if it has any.
pub fn say(event: Event) {
    sentences(&event).iter().for_each(|sentence| output::remark(sentence));
}

/// The sentences of an event. Most events of the progress have none.
pub fn sentences(event: &Event) -> Vec<String> {
    match event {
        Event::Fitted { fitted, plan } => announcement(plan, fitted).lines().map(str::to_owned).collect(),
        Event::Comparing(infos) => choose::shared_devices(infos),
        event => match recorded(event) {
            Some(remark) => vec![placed(&remark)],
            None => of_preparation(event).or_else(|| of_leftovers(event)).into_iter().collect(),
        },
    }
}

/// The remark that the run's document keeps of an event; `None` if it keeps none.
pub fn recorded(event: &Event) -> Option<Remark> {
    let of_run = |kind, text| Remark { kind, target: None, program: None, text };
    let of = |kind, (target, program): (&str, &str), text| Remark {
        kind,
        target: Some(target.to_owned()),
        program: Some(program.to_owned()),
        text,
    };
    Some(match event {
        Event::WorkloadLimited(why) => of_run(RemarkKind::WorkloadLimited, (*why).to_owned()),
        Event::IoUringLimited { target, program, lack } => {
            of(RemarkKind::IoUringLimited, (target, program), lack.to_string())
        }
        Event::Repeated { target, program } => {
            let text = "a signal paused it during the measurement, so it was repeated".to_owned();
            of(RemarkKind::Repeated, (target, program), text)
        }
        Event::ProcessesEnded { target, program, command, count } => {
            let (prepare, count) = (prepare(*command), processes(*count));
            let text = format!("{prepare}left {count} running, which diskperf ended outside the measurement");
            of(RemarkKind::ProcessesLeft, (target, program), text)
        }
        Event::ProcessesLeft { target, program, command, count } => {
            let count = processes(*count);
            let text = format!("{}left {count} of another user running, which diskperf may not end", prepare(*command));
            of(RemarkKind::ProcessesLeft, (target, program), text)
        }
        Event::MemoryNotLimited { bytes, why } => {
            of_run(RemarkKind::MemoryNotLimited, format!("memory is not limited to {bytes}: {why}"))
        }
        Event::QueueLeft(queue_tuning::Restored { disk, pid, outcome: Err(fault) }) => {
            let text = format!("cannot restore the queue of {disk}, which process {pid} tuned: {fault}");
            of_run(RemarkKind::QueueNotRestored, text)
        }
        Event::RoundsLeftOut { ran, planned } => {
            of_run(RemarkKind::LeftOut, format!("the time limit was reached after {ran} of {planned} rounds"))
        }
        Event::ExecutionsLeftOut { target, program } => {
            let text = "left out of later rounds because the time limit was reached".to_owned();
            of(RemarkKind::LeftOut, (target, program), text)
        }
        _ => return None,
    })
}

/// The text with its program and target, as in `sh on .: left 1 process running`.
fn placed(Remark { target, program, text, .. }: &Remark) -> String {
    match (program, target) {
        (Some(program), Some(target)) => format!("{program} on {target}: {text}"),
        (Some(one), None) | (None, Some(one)) => format!("{one}: {text}"),
        (None, None) => text.clone(),
    }
}

fn prepare(command: u8) -> &'static str {
    if command == MEASURED { "" } else { "--prepare " }
}

fn processes(count: u32) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}

/// Sentences about events before and after the rounds.
fn of_preparation(event: &Event) -> Option<String> {
    Some(match event {
        Event::Aging { target, fill, churns, bytes } => {
            let changed = if *churns > 0 { format!(" and changed {churns} times") } else { String::new() };
            format!("{target} is filled to {fill} %{changed}: {bytes} are written to it, once")
        }
        Event::Aged { target, aged } => format!("{target}: {}", report::aged(aged)),
        Event::DeviceReadTakes { device, identity, rest } => format!(
            "reading all of {device} to prove that it is blank takes about {} more; to skip this and erase its data, \
                press \
             Ctrl-C and use --destroy-data --confirm {}",
            about(*rest),
            shell::word(identity)
        ),
        Event::ConditioningTakes { target, rest } => format!("conditioning {target} takes about {} more", about(*rest)),
        Event::Conditioned { target, conditioned } => format!("{target}: {}", report::conditioned(conditioned)),
        Event::LoadBegins { target, program, time } => {
            format!("loading {target} with {program} for {time} before the first round")
        }
        Event::LoadHeld => {
            "credits may come back while a target rests; from now on, each target is loaded again before a \
                            test"
                .to_owned()
        }
        Event::AllWritten => "no more rounds: another one would write more than --max-write allows".to_owned(),
        Event::NotStored(error) => format!("not stored: {error}; the run continues, and diskperf tries again later"),
        Event::Kept { target, path, is_image: true } => format!("kept the image of {target} as {}", path.shown()),
        Event::Kept { target, path, .. } => format!("kept the file system of {target} on {}", path.shown()),
        _ => return None,
    })
}

/// Sentences about leftovers of killed processes.
fn of_leftovers(event: &Event) -> Option<String> {
    Some(match event {
        Event::FolderRemoved { run, path } => format!("removed {}, left by {run}", path.shown()),
        Event::FolderStays { run, path, within } => {
            let (path, folder) = (path.shown(), shell::word(within));
            format!("{path} stays: no tag proves that {run} made it; to remove it: diskperf clean {folder}")
        }
        Event::MkfsRuns { run, node } => format!("waiting for the mkfs that {run} started on {}", node.shown()),
        Event::VolumeErased { run, volume } => {
            let (file_system, node, pid) = (&volume.file_system, volume.node(), volume.pid);
            format!("erased the {file_system} on {}, left by {run} (process {pid})", node.shown())
        }
        Event::LeftoversStay(error) => error.to_string(),
        Event::QueueLeft(queue_tuning::Restored { disk, pid, .. }) => {
            format!("restored the queue of {disk}, which process {pid} tuned")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    #[test]
    fn a_long_scan_names_the_option_that_saves_it() {
        let (device, identity) = ("/dev/sdb (EVO, 1 TiB)", "EVO 1 TiB");
        let said = sentences(&Event::DeviceReadTakes { device, identity, rest: Nanos::from_secs(2046) }).join("\n");
        for words in [device, "about 34 min more", "--destroy-data --confirm 'EVO 1 TiB'"] {
            assert!(said.contains(words), "{said}");
        }
    }
}
