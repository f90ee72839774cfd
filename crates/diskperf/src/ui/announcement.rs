//! The announcement of a run: the places and amounts of its writes, and what remains.

use kernel::guard::{Inspected, Permission};
use kernel::sys::name::Shown;
use units::{Bytes, Nanos};

use campaign::fit::duration_words::about;
use campaign::plan::Plan;
use campaign::rounds::first_load::load_writes;
use campaign::targets::precondition;
use campaign::targets::{Site, Target, VolumeArgument};

/// Announces all writes before they happen.
pub fn announce(plan: &Plan, targets: &[Target], (keep, sustained): (bool, Option<Nanos>)) {
    if plan.schedule.is_until_steady()
        && let Some(rounds) = precondition::rounds_in_words(plan)
    {
        remark!("{rounds}");
    }
    let time = plan.limits().and_then(|limits| limits.time);
    let time = time.map_or_else(String::new, |time| format!(", in up to {}", about(time)));
    for (index, target) in targets.iter().enumerate() {
        let writes = plan.writes_in_words(index);
        let load = sustained.filter(|_| plan.writes(index) > 0 && plan.load_limit(index, true) == u64::MAX);
        match load.zip(load_writes(plan, index)) {
            Some((time, true)) => {
                remark!("--sustained writes as much as it can to {} for {time}, in addition", target.name);
            }
            Some((time, false)) => {
                remark!("--sustained reads {} for {time}, and creates the test's files several times", target.name);
            }
            None => {}
        }
        let space = Bytes(plan.space(index));
        // The space that a command needs is unknown.
        let at_most = if space.0 == 0 { String::new() } else { format!(", at most {space} at a time") };
        match &target.site {
            Site::Directory { path, .. } => {
                let path = path.shown();
                remark!("writes {writes} in {path}{at_most}{time}; Ctrl-C leaves nothing behind");
            }
            Site::Image { image, host } => {
                let (size, directory) = (image.spec(space.0).file_bytes(), image.directory().shown());
                let host = host.file_system.as_deref().map_or_else(String::new, |host| format!(" ({host})"));
                let file_system = image.file_system();
                let after = if keep { "the image is kept" } else { "nothing is left behind" };
                remark!(
                    "writes an image of {size} in {directory}{host}, then {writes} to {file_system} on it{time}; \
                        {after}"
                );
            }
            Site::Volume(volume) => {
                let VolumeArgument { spec, inspected, permission } = &**volume;
                let (device, file_system) = (inspected.described(), &spec.file_system);
                let line = spec.mkfs_line().unwrap_or_default();
                let holds: Vec<String> = inspected.reasons().iter().map(ToString::to_string).collect();
                cannot_see(inspected);
                if !holds.is_empty() {
                    remark!("destroys the data on {device}: {}", holds.join("; "));
                }
                let after = if keep { "the file system is kept" } else { "its signature is erased afterwards" };
                let blank =
                    if holds.is_empty() && *permission == Permission::None { ", which must be blank" } else { "" };
                remark!("makes {file_system} on {device}{blank} ({line}), then writes {writes} to it{time}; {after}");
            }
            Site::Device(device) => match &device.overwriting {
                Some(overwriting) => {
                    cannot_see(&overwriting.inspected);
                    remark!("{}", precondition::announcement(overwriting));
                }
                None => remark!("reads {}", device.path.shown()),
            },
            Site::File { path, .. } => remark!("reads {}", path.shown()),
            Site::Simulated(_) => {}
        }
    }
}

/// The most processes that are listed; a sandbox may have hundreds.
const NAMED: usize = 3;

/// Warns of programs that may have the device open for writing without showing it.
fn cannot_see(inspected: &Inspected) {
    let named: Vec<String> = inspected.hidden().iter().take(NAMED).map(ToString::to_string).collect();
    let more = match inspected.hidden().len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let device = inspected.node();
    if !named.is_empty() {
        remark!("diskperf cannot see whether {}{more} has {} open for writing", named.join(", "), device.shown());
    }
    if inspected.is_in_namespace() {
        remark!(
            "diskperf cannot see programs outside of this container (PID namespace): one may have {} open for writing",
            device.shown()
        );
    }
}
