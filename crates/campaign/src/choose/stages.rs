//! The changes from one stage to the next, from the targets as typed and from the properties found there.
//!
//! Policy:
//!   1. the properties that are new or different come first, as they would be typed; then those that are gone;
//!   2. each of several options or attributes is listed by itself;
//!   3. a property that was found, not typed, is reported only if its file system or controller is the same in both
//!      stages: another file system has other mount options, and another controller other numbers;
//!   4. if the kind of target changes, the whole new target is reported.

use std::path::Path;

use kernel::observe::block_device::Device;
use kernel::sys::name::Shown;
use machines::{Kind, Part};
use stats::Stage;

use crate::targets::{Described, Simulated, Site, Target};

/// A property of a stage that can change at the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trait {
    /// The name of the property, unique in a stage.
    key: String,
    /// The property, as it would be typed.
    word: String,
    /// The property that it is a part of, if any.
    within: Option<&'static str>,
    /// True if the user typed it.
    is_asked: bool,
}

/// The name of the property "file system" of real targets.
const FILE_SYSTEM: &str = "file system";

/// The stages, each with its changes.
pub fn stages(targets: &[Target]) -> Vec<Stage> {
    let changed = |place: usize| {
        let Some(before) = place.checked_sub(1).map(|before| &targets[before]) else { return Vec::new() };
        let target = &targets[place];
        // 4
        if kind(&before.site) != kind(&target.site) {
            return vec![unnamed(target)];
        }
        changes(&traits(before), &traits(target))
    };
    let stage = |(place, target): (usize, &Target)| Stage { target: target.name.clone(), changed: changed(place) };
    targets.iter().enumerate().map(stage).collect()
}

/// The text printed before the measurement: a line for each stage after the first.
pub fn announcement(targets: &[Target]) -> Vec<String> {
    let line = |(place, stage): (usize, Stage)| {
        let changed = match &stage.changed[..] {
            [] => "nothing changed, so it shows the effect of chance".to_owned(),
            changed => changed.join(", "),
        };
        format!("stage {}: {changed}", place + 1)
    };
    stages(targets).into_iter().enumerate().skip(1).map(line).collect()
}

/// The argument, without the name before it.
fn unnamed(target: &Target) -> String {
    let named = target.typed.strip_prefix(target.name.as_str()).and_then(|rest| rest.strip_prefix('='));
    named.unwrap_or(&target.typed).to_owned()
}

fn changes(before: &[Trait], now: &[Trait]) -> Vec<String> {
    let of = |traits: &[Trait], key: &str| traits.iter().find(|one| one.key == key).map(|one| one.word.clone());
    let stayed = |key: &str| of(before, key) == of(now, key);
    // 3
    let belongs = |one: &&Trait| one.within.is_none_or(stayed);
    // 1
    let new = now.iter().filter(|one| !stayed(&one.key) && (one.is_asked || belongs(one)));
    let gone = before.iter().filter(|one| of(now, &one.key).is_none()).filter(belongs);
    new.map(|one| one.word.clone()).chain(gone.map(|one| format!("no {}", one.word))).collect()
}

/// The kind of a target.
fn kind(site: &Site) -> &'static str {
    match site {
        Site::Directory { .. } => "directory",
        Site::Image { .. } => "image",
        Site::Volume(_) => "volume",
        Site::Device(_) => "device",
        Site::File { .. } => "file",
        Site::Simulated(Simulated::Flat) => "flat",
        Site::Simulated(Simulated::Described(_)) => "simulated",
    }
}

/// All properties that can change at the next stage.
fn traits(target: &Target) -> Vec<Trait> {
    let mut traits = match &target.site {
        Site::Directory { path, place } => {
            let mut traits = vec![asked("path", format!("in {}", path.shown()))];
            traits.extend(place.file_system.iter().map(|name| asked(FILE_SYSTEM, name.clone())));
            traits.extend(place.device.as_ref().map(device_trait));
            let found = |option: &String| Trait { within: Some(FILE_SYSTEM), is_asked: false, ..mounted(option) };
            traits.extend(place.mount_options.iter().map(found));
            traits
        }
        Site::File { path, place, .. } => {
            let device = place.device.as_ref().map(device_trait);
            [path_trait(path)].into_iter().chain(device).collect()
        }
        Site::Device(device) => vec![path_trait(&device.path)],
        Site::Image { image, .. } => {
            let spec = image.spec(0);
            let mut traits = vec![asked(FILE_SYSTEM, spec.file_system)];
            traits.extend(image.size.map(|size| asked("size", format!("size={size}"))));
            if spec.directory != Path::new(".") {
                traits.push(asked("dir", format!("dir={}", spec.directory.shown())));
            }
            traits.extend(spec.block.map(|block| asked("block", format!("block={block}"))));
            traits.extend(spec.mount_options.iter().map(|option| mounted(option)));
            traits.extend(made(&spec.mkfs_options));
            traits
        }
        Site::Volume(volume) => {
            let spec = &volume.spec;
            let mut traits = vec![asked(FILE_SYSTEM, spec.file_system.clone())];
            traits.push(asked("device", format!("device {}", volume.inspected.node().shown())));
            traits.extend(spec.block.map(|block| asked("block", format!("block={block}"))));
            traits.extend(spec.mount_options.iter().map(|option| mounted(option)));
            traits.extend(made(&spec.mkfs_options));
            traits
        }
        Site::Simulated(Simulated::Flat) => Vec::new(),
        Site::Simulated(Simulated::Described(described)) => of_machine(described),
    };
    let tune = |setting: &kernel::provision::queue_tuning::Setting| {
        let key = format!("tune={}", setting.attribute);
        asked(&key, format!("{key}:{}", setting.value))
    };
    // 2
    traits.extend(target.tuning.iter().map(tune));
    traits
}

fn asked(key: &str, word: String) -> Trait {
    Trait { key: key.to_owned(), word, within: None, is_asked: true }
}

fn path_trait(path: &Path) -> Trait {
    asked("path", path.shown().to_string())
}

fn device_trait(device: &Device) -> Trait {
    asked("device", format!("device {}", device.name))
}

/// In `data=journal`, `data` identifies the option.
fn mounted(option: &str) -> Trait {
    let which = option.split_once('=').map_or(option, |(which, _)| which);
    asked(&format!("mount={which}"), format!("mount={option}"))
}

/// Options for mkfs depend on each other, as `-O` and its argument: all of them are one property.
fn made(options: &[String]) -> Option<Trait> {
    (!options.is_empty()).then(|| asked("mkfs", format!("mkfs={}", options.join(" "))))
}

/// The parts of the machine and their values. Includes only the file system that programs use, not the machine's other
/// ones.
fn of_machine(described: &Described) -> Vec<Trait> {
    let machine = &described.machine;
    let file_system = machine.part(Kind::FileSystem);
    let others = Kind::ALL.into_iter().filter(|kind| *kind != Kind::FileSystem);
    let parts: Vec<&Part> = others.filter_map(|kind| machine.part(kind)).chain(file_system).collect();
    let part = |part: &&Part| asked(part.kind.key(), format!("{}={}", part.kind, part.id));
    let fields = parts.iter().flat_map(|part| {
        part.fields.iter().map(|field| {
            let key = format!("{}.{}", part.kind, field.key);
            let unit = field.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
            let word = format!("{key}={}{unit}", field.value);
            Trait { key, word, within: Some(part.kind.key()), is_asked: field.is_typed() }
        })
    });
    parts.iter().map(part).chain(fields).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The changes between these targets, which must all exist.
    fn changed(typed: &[&str]) -> Vec<String> {
        let targets = typed.iter().map(|typed| {
            let Ok(argument) = typed.parse();
            Target::resolve(&argument).expect("a target")
        });
        let targets: Vec<Target> = targets.collect();
        let stages = stages(&targets);
        assert!(stages[0].changed.is_empty());
        stages[1..].iter().map(|stage| stage.changed.join(", ")).collect()
    }

    /// The three stages of the paper's fifth table: the search lead, and then the arbitration.
    #[test]
    fn changed_parts_and_numbers_of_machines_are_named() {
        let stages = ["vax780-sc780-inadequate-lead", "vax780-sc780-initial-arbitration", "vax780-sc780"];
        let stages = stages.map(|machine| format!("sim:{machine}"));
        let changed_then = changed(&stages.each_ref().map(String::as_str));
        assert_eq!(changed_then[0], "controller.search_lead=5 sectors, controller.search_window=8 sectors");
        assert!(changed_then[1].starts_with("bus=sbi, "), "{changed_then:?}");
        assert!(changed_then[1].contains("file_system.rotational_delay=4 ms"), "{changed_then:?}");
        assert!(!changed_then[1].contains("bus."), "another bus has other numbers: {changed_then:?}");
        let typed = ["sim:vax780-sc780", "sim:vax780-sc780,drive=ra81,drive.rpm=1800", "sim:vax780-sc780,drive=ra81"];
        let changed_then = changed(&typed);
        assert_eq!(changed_then[0], "drive=ra81, drive.rpm=1800 turns/min");
        assert!(changed_then[1].starts_with("drive.rpm=3600"), "{changed_then:?}");
        assert_eq!(changed(&["sim:flat", "also=sim:flat"]), [""]);
        // A setting of a part is gone with the part.
        let typed = ["sim:vax780-sc780,drive.rpm=1800", "sim:vax780-sc780,drive=ra81", "sim:vax780-sc780"];
        assert_eq!(changed(&typed), ["drive=ra81", "drive=eagle"]);
    }

    #[test]
    fn changed_queue_attributes_are_named_one_by_one() {
        let typed = [".", ".,tune=scheduler:none+read_ahead_kb:4096", "a=.,tune=scheduler:none", "sim:flat"];
        let expected = ["tune=scheduler:none, tune=read_ahead_kb:4096", "no tune=read_ahead_kb:4096", "sim:flat"];
        assert_eq!(changed(&typed), expected);
    }

    #[test]
    fn changed_file_system_options_are_named_one_by_one() {
        let traits = |file_system: &str, mount: &[&str], mkfs: &[&str]| {
            let mkfs: Vec<String> = mkfs.iter().map(|option| (*option).to_owned()).collect();
            let mut traits = vec![asked(FILE_SYSTEM, file_system.to_owned())];
            traits.extend(mount.iter().map(|option| mounted(option)));
            traits.extend(made(&mkfs));
            traits
        };
        let plain = traits("ext4", &[], &[]);
        let mounted = traits("ext4", &["noatime", "data=journal"], &["-O", "^has_journal"]);
        assert_eq!(changes(&plain, &mounted), ["mount=noatime", "mount=data=journal", "mkfs=-O ^has_journal"]);
        let other = traits("xfs", &["noatime", "data=writeback"], &[]);
        assert_eq!(changes(&mounted, &other), ["xfs", "mount=data=writeback", "no mkfs=-O ^has_journal"]);
        assert_eq!(changes(&other, &other), Vec::<String>::new());
        let on = |name: &str| [asked("device", format!("device {name}"))];
        assert_eq!(changes(&on("vda"), &on("vdb")), ["device vdb"]);
        assert_eq!(changes(&on("vda"), &[]), ["no device vda"]);
    }

    /// An existing file system has dozens of mount options that the user did not type.
    #[test]
    fn found_options_are_named_only_for_equal_file_systems() {
        let found = |file_system: &str, options: &[&str]| {
            let found = |option: &&str| Trait { within: Some(FILE_SYSTEM), is_asked: false, ..mounted(option) };
            let all = [asked(FILE_SYSTEM, file_system.to_owned())];
            all.into_iter().chain(options.iter().map(found)).collect::<Vec<Trait>>()
        };
        let (ext4, xfs) = (found("ext4", &["relatime", "rw"]), found("xfs", &["inode64", "rw"]));
        assert_eq!(changes(&ext4, &xfs), ["xfs"]);
        let quiet = found("ext4", &["noatime", "rw"]);
        assert_eq!(changes(&ext4, &quiet), ["mount=noatime", "no mount=relatime"]);
    }
}
