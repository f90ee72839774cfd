//! `diskperf clean`: finds the leftovers of killed runs by their mark and removes them, on real devices. Things that
//! only look alike stay, and so do those of a running process.

mod common;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use kernel::may_administer;
use testkit::loop_disk::LoopDisk;
use testkit::{ProgramOutput, names_in, skip, tool, wait_until};

use common::{Cli, program};

/// Every run restores the queues that killed runs left tuned: while a test checks one, no other test starts a run.
static RUNS: RwLock<()> = RwLock::new(());

/// Holds the lock in shared mode, so that other tests can start runs at the same time.
fn with_others() -> RwLockReadGuard<'static, ()> {
    RUNS.read().unwrap_or_else(PoisonError::into_inner)
}

/// A run that continues until it is killed. Dropping it kills it.
struct Run(Child);

impl Run {
    fn start(folder: &Path, arguments: &[&str]) -> Run {
        let mut command = testkit::command(&program());
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Run(command.spawn().expect("the program can be started"))
    }

    fn kill(mut self) -> u32 {
        self.0.kill().expect("it is killed");
        self.0.wait().expect("its end");
        self.0.id()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The private folders in a folder.
fn private(folder: &Path) -> Vec<String> {
    names_in(folder).into_iter().filter(|name| name.starts_with(".diskperf-")).collect()
}

/// A run of many rounds that has its private folder.
fn standing(folder: &Path, more: &[&str]) -> Run {
    let run = Run::start(folder, &[&["run", "smoke", ".", "--rounds", "1000"], more].concat());
    wait_until("it stands in its folder", || {
        private(folder)
            .iter()
            .any(|name| folder.join(name).read_dir().is_ok_and(|mut entries| entries.next().is_some()))
    });
    run
}

macro_rules! need_devices {
    () => {
        if !may_administer() || !Path::new("/dev/loop-control").exists() {
            return skip!("needs root and loop devices");
        }
        if !testkit::has_tool("mkfs.ext4") {
            return skip!("mkfs.ext4 is not installed");
        }
    };
}

/// The list of `clean`, when nothing is removed.
fn listed(folder: &Path, arguments: &[&str]) -> String {
    let ended = Cli::in_folder(folder).run(&[&["clean", "--dry-run"], arguments].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    ended.out
}

/// True if files here can have tags.
fn takes_tags(folder: &Path) -> bool {
    rustix::fs::setxattr(folder, "user.test", b"1", rustix::fs::XattrFlags::empty()).is_ok()
}

#[test]
fn folders_of_killed_runs_are_removed_and_similar_ones_stay() {
    let _shared = with_others();
    let folder = Cli::new();
    let here = folder.path();
    if !takes_tags(here) {
        return skip!("the folder for temporary files takes no extended attributes");
    }
    let pid = standing(here, &[]).kill();
    let left = private(here);
    assert_eq!(left.len(), 1);
    fs::create_dir_all(here.join(".diskperf-k3-abcdef/d0")).expect("a look-alike");
    fs::write(here.join("diskperf-ext4.img"), "an image of somebody's").expect("a look-alike");
    let others = vec![".diskperf-k3-abcdef".to_owned(), "diskperf-ext4.img".to_owned()];
    let before = names_in(here);
    let expected =
        format!("{}  folder, of process {pid}\n", here.canonicalize().expect("a path").join(&left[0]).display());
    // Without a path, leftovers of other programs on this machine are listed too.
    assert!(listed(here, &[]).contains(&expected));
    assert_eq!(listed(here, &["."]), expected);
    assert_eq!(listed(Path::new("/"), &[here.to_str().expect("a plain path")]), expected);
    // There is no terminal to ask on.
    let ended = Cli::in_folder(here).run(&["clean", "."]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(3), expected.as_str()));
    assert!(ended.err.contains("this was not removed: not confirmed") && ended.err.contains("hint: "), "{}", ended.err);
    assert_eq!(names_in(here), before);
    let ended = Cli::in_folder(here).run(&["clean", ".", "--yes"]);
    let path = |name: &str| here.canonicalize().expect("a path").join(name).display().to_string();
    let stays = format!(
        "{0} stays: it has no diskperf tag; run diskperf clean {0} on a terminal to remove it\n\
         {1} stays: it has no diskperf tag; clean asks about it on a terminal\n",
        path(&others[1]),
        path(&others[0])
    );
    assert_eq!((ended.status, ended.out.as_str(), &ended.err), (Some(0), expected.as_str(), &stays));
    assert_eq!(names_in(here), others);
    let ended = Cli::in_folder(here).run(&["clean", ".", "--yes"]);
    assert_eq!((ended.status, ended.out.as_str(), ended.err), (Some(0), "", stays + "no other leftovers found\n"));
    let ended = Cli::in_folder(here).run(&["clean", ".diskperf-k3-abcdef/d0", "--yes"]);
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "", "no leftovers found\n"));
    assert!(here.join(".diskperf-k3-abcdef/d0").is_dir());
}

/// `verify --check` needs the records after a power cut, also on a file system without tags.
#[test]
fn records_without_a_tag_are_never_removed() {
    let folder = Cli::new();
    fs::create_dir_all(folder.path().join(".diskperf-verify-abc/d0")).expect("a folder");
    let ended = clean_typing(folder.path(), &["."], "y\n");
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("stays: it may hold records that verify --check needs"), "{}", ended.err);
    assert!(!ended.err.contains("[y/N]"), "{}", ended.err);
    assert!(folder.path().join(".diskperf-verify-abc/d0").is_dir());
}

/// After a power cut, the records and the log are the only evidence.
#[test]
fn records_are_removed_only_if_they_or_their_directory_are_named() {
    let _shared = with_others();
    let folder = Cli::new();
    let here = folder.path();
    if !takes_tags(here) {
        return skip!("the folder for temporary files takes no extended attributes");
    }
    let records = here.join(".diskperf-verify-abc");
    standing(here, &[]).kill();
    // Its tag has the inode number, which stays.
    fs::rename(here.join(private(here).remove(0)), &records).expect("renamed");
    // Without a path, leftovers of other programs on this machine are listed too.
    let ended = Cli::in_folder(here).run(&["clean", "--dry-run"]);
    assert_eq!((ended.status, ended.out.contains(".diskperf-verify-abc")), (Some(0), false), "{}", ended.out);
    let stays = ".diskperf-verify-abc stays: verify --check needs its records; name its directory to remove it\n";
    assert!(ended.err.contains(stays), "{}", ended.err);
    for arguments in [&["."][..], &[".diskperf-verify-abc"], &[".", ".diskperf-verify-abc"]] {
        let listed = listed(here, arguments);
        assert!(listed.contains(".diskperf-verify-abc  records for verify --check, of process "), "{listed}");
        assert_eq!(listed.lines().count(), 1, "{listed}");
    }
    // The command of the hints after `verify --check`.
    let ended = Cli::in_folder(here).run(&["clean", ".", "--yes"]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert!(!records.exists());
    // Other private folders may be named too, and are listed once.
    standing(here, &[]).kill();
    let left = private(here).remove(0);
    for arguments in [&["."][..], &[&left], &[".", &left]] {
        let listed = listed(here, arguments);
        assert!(listed.contains(&left) && listed.lines().count() == 1, "{listed}");
    }
}

/// Runs `clean` on a terminal with this input.
fn clean_typing(folder: &Path, arguments: &[&str], typed: &str) -> ProgramOutput {
    let mut command = testkit::command(&program());
    command.arg("clean").args(arguments).current_dir(folder);
    testkit::terminal::watch_typing(command, 200, typed).end()
}

#[test]
fn untagged_folders_are_removed_only_after_yes_on_a_terminal() {
    let _shared = with_others();
    let folder = Cli::new();
    let here = folder.path();
    fs::create_dir_all(here.join(".diskperf-k3-abcdef/d0")).expect("a folder");
    fs::create_dir(here.join("other")).expect("a folder");
    std::os::unix::fs::symlink("other", here.join(".diskperf-link")).expect("a link");
    fs::write(here.join("diskperf-ext4.img"), "an image").expect("an image");
    let before = names_in(here);
    // There is no terminal to ask on, and --yes applies only to things with a tag.
    for arguments in [&["."][..], &[".", "--yes"], &[".", "--dry-run"], &["diskperf-ext4.img", "--yes"]] {
        let ended = Cli::in_folder(here).run(&[&["clean"], arguments].concat());
        assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
        assert!(ended.err.contains("it has no diskperf tag"), "{}", ended.err);
        assert_eq!(names_in(here), before);
    }
    for (arguments, typed) in [(&["."][..], "n\n"), (&[".", "--yes"], "\n"), (&[".", "--dry-run"], "y\n")] {
        let ended = clean_typing(here, arguments, typed);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert_eq!(names_in(here), before, "{arguments:?}");
    }
    // A process has its current directory in it: a run on a file system without tags has its folder open.
    let mut sleeper = testkit::command(&tool("sleep").expect("sleep"));
    sleeper.arg("1000").current_dir(here.join(".diskperf-k3-abcdef/d0"));
    let sleeper = Run(sleeper.spawn().expect("it can be started"));
    let ended = clean_typing(here, &["."], "y\n");
    assert!(ended.err.contains(&format!("stays: process {} uses it", sleeper.0.id())), "{}", ended.err);
    assert_eq!(names_in(here), before);
    sleeper.kill();
    let ended = clean_typing(here, &["."], "y\n");
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.out.ends_with(".diskperf-k3-abcdef  folder without a tag\n"), "{}", ended.out);
    assert_eq!(names_in(here), [".diskperf-link", "diskperf-ext4.img", "other"]);
    let ended = clean_typing(here, &["diskperf-ext4.img"], "y\n");
    assert!(ended.out.ends_with("diskperf-ext4.img  image without a tag\n"), "{}", ended.out);
    assert_eq!(names_in(here), [".diskperf-link", "other"]);
}

#[test]
fn unfinished_file_systems_need_their_device_typed() {
    let _shared = with_others();
    need_devices!();
    let disk = Disk::new();
    // The state after the whole process group was killed: a note of an unfinished mkfs, of a dead process.
    let (note, text) = disk.killed();
    let text = text.replace("end\n", "making\nend\n");
    fs::write(&note, text).expect("a note");
    disk.write(&[(0, &[0; 1 << 17]), (8192, &[7; 100])]);
    let ended = disk.clean();
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
    assert!(ended.err.contains(&format!("{} stays: it has no diskperf tag", disk.node())), "{}", ended.err);
    assert!(!disk.holds_nothing());
    let ended = clean_typing(disk.folder.path(), &[disk.node()], "y\n");
    assert!(ended.err.contains("\"y\" is not its size") && !disk.holds_nothing(), "{}", ended.err);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    let text = fs::read_to_string(&note).expect("a note");
    let line = |key: &str| text.lines().find(|line| line.starts_with(key)).expect(key).to_owned();
    // A note of another disk with the same name, and a note about another use of the same disk.
    for (old, new) in [(line("bytes\t"), "bytes\t4096"), (line("sequence\t"), "sequence\t1")] {
        fs::write(&note, text.replace(&old, new)).expect("a note");
        let ended = clean_typing(disk.folder.path(), &[disk.node()], "32 MiB\n");
        assert!(ended.status == Some(0) && ended.err.contains("no leftovers found"), "{new}: {}", ended.err);
        assert!(!disk.holds_nothing(), "{new}");
    }
    fs::write(&note, &text).expect("a note");
    disk.write(&[(16 << 20, &[7; 100])]);
    let ended = clean_typing(disk.folder.path(), &[disk.node()], "32 MiB\n");
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.out.contains("possibly an unfinished ext4 of process "), "{}", ended.err);
    let bytes = fs::read(disk.folder.path().join("disk")).expect("its bytes");
    assert_eq!((bytes[8192], bytes[16 << 20]), (0, 7), "all of the device was discarded");
}

#[test]
fn a_partition_table_next_to_our_file_system_stays() {
    let _shared = with_others();
    need_devices!();
    let disk = Disk::new();
    // The note of a file system without a number, which may be any later file system of that format.
    let (note, text) = disk.killed();
    let text: String =
        text.lines().filter(|line| !line.starts_with("made\t")).map(|line| format!("{line}\n")).collect();
    fs::write(&note, text).expect("a note");
    disk.write(&[((32 << 20) - 512, b"EFI PART")]);
    let ended = clean_typing(disk.folder.path(), &[disk.node()], "32 MiB\n");
    assert!(ended.status == Some(0) && ended.err.contains("no leftovers found"), "{}", ended.err);
    assert!(!disk.holds_nothing());
}

#[test]
fn copies_and_links_of_our_folders_stay() {
    let _shared = with_others();
    let folder = Cli::new();
    let here = folder.path();
    if !takes_tags(here) {
        return skip!("the folder for temporary files takes no extended attributes");
    }
    standing(here, &[]).kill();
    let left = private(here).remove(0);
    // With its attributes, as in a backup.
    let copied = testkit::run(&tool("cp").expect("cp"), here, &["-a", &left, ".diskperf-copy"]);
    assert_eq!(copied.status, Some(0), "{}", copied.err);
    fs::create_dir(here.join("others")).expect("a folder of others");
    fs::write(here.join("others/mine"), "mine").expect("a file");
    std::os::unix::fs::symlink("others", here.join(".diskperf-link")).expect("a link");
    std::os::unix::fs::symlink("../others", here.join(&left).join("link")).expect("a link inside");
    assert_eq!(listed(here, &["."]).lines().count(), 1);
    assert_eq!(Cli::in_folder(here).run(&["clean", ".", "--yes"]).status, Some(0));
    assert_eq!(names_in(here), [".diskperf-copy", ".diskperf-link", "others"]);
    assert_eq!(names_in(&here.join("others")), ["mine"]);
}

#[test]
fn leftovers_of_running_runs_stay() {
    let _shared = with_others();
    let folder = Cli::new();
    let here = folder.path();
    if !takes_tags(here) {
        return skip!("the folder for temporary files takes no extended attributes");
    }
    let run = standing(here, &[]);
    let before = private(here);
    let ended = Cli::in_folder(here).run(&["clean", ".", "--yes"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
    assert!(ended.err.contains(&format!("stays: process {} still runs", run.0.id())), "{}", ended.err);
    assert_eq!(private(here), before);
}

#[test]
fn folders_of_killed_runs_are_found_through_the_store() {
    let _shared = with_others();
    let (folder, elsewhere) = (Cli::new(), Cli::new());
    let here = folder.path();
    if !takes_tags(here) {
        return skip!("the folder for temporary files takes no extended attributes");
    }
    let store = elsewhere.path().join("runs.sqlite");
    let store = store.to_str().expect("a plain path");
    standing(here, &["--store", store]).kill();
    let listed = listed(elsewhere.path(), &["--store", store]);
    let left = private(here).remove(0);
    assert!(listed.contains(&left), "{listed}");
    let missing = elsewhere.run(&["clean", "--store", "missing"]);
    assert_eq!((missing.status, missing.out.as_str()), (Some(2), ""), "{}", missing.err);
}

#[test]
fn kept_images_are_removed_if_named_and_not_in_use() {
    let _shared = with_others();
    need_devices!();
    let folder = Cli::new();
    let here = folder.path();
    if !takes_tags(here) {
        return skip!("the folder for temporary files takes no extended attributes");
    }
    let only = ["--only", "write_8192", "--rounds", "1"];
    let targets = ["a=image:ext4,size=24MiB", "b=image:ext4,size=24MiB"];
    let ended = Cli::in_folder(here)
        .run(&[&["run", "smoke", "--keep", "--store", "diskperf.sqlite"], &targets[..], &only[..]].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let before = names_in(here);
    assert_eq!(before, ["diskperf-a.img", "diskperf-b.img", "diskperf.sqlite"]);
    for arguments in [&["clean", ".", "--yes"][..], &["clean", "--dry-run", "--store", "diskperf.sqlite"]] {
        let ended = Cli::in_folder(here).run(arguments);
        assert_eq!(ended.out.matches("diskperf-").count(), 0, "{}", ended.out);
        for name in ["diskperf-a.img", "diskperf-b.img"] {
            let kept = format!("{name} stays: it was kept; name it to remove it\n");
            assert_eq!(ended.err.matches(&kept).count(), 1, "{}", ended.err);
        }
        assert_eq!(names_in(here), before);
    }
    let shown = LoopDisk::attach(&here.join("diskperf-a.img")).expect("a loop device");
    let both = ["clean", "diskperf-a.img", "diskperf-b.img", ".", "--yes"];
    let ended = Cli::in_folder(here).run(&both);
    assert_eq!((ended.status, ended.out.lines().count()), (Some(0), 1), "{}", ended.err);
    assert!(ended.err.contains("diskperf-a.img stays: it is the backing file of "), "{}", ended.err);
    assert_eq!(names_in(here), ["diskperf-a.img", "diskperf.sqlite"]);
    drop(shown);
    wait_until("no device shows it", || kernel::guard::shown_by(&here.join("diskperf-a.img")).is_empty());
    let ended = Cli::in_folder(here).run(&["clean", "diskperf-a.img", "--yes"]);
    assert_eq!((ended.status, ended.out.lines().count()), (Some(0), 1), "{}", ended.err);
    assert_eq!(names_in(here), ["diskperf.sqlite"]);
    assert_eq!(Cli::in_folder(here).run(&["clean", "diskperf.sqlite", "--yes"]).status, Some(2), "no image");
}

/// A disk of the test, and runs that make a file system on it.
struct Disk {
    device: LoopDisk,
    folder: Cli,
}

impl Disk {
    fn new() -> Disk {
        let folder = Cli::new();
        let path = folder.path().join("disk");
        File::create(&path).and_then(|file| file.set_len(32 << 20)).expect("a file");
        Disk { device: LoopDisk::attach(&path).expect("a loop device"), folder }
    }

    fn node(&self) -> &str {
        self.device.node().to_str().expect("a plain path")
    }

    fn target(&self) -> String {
        format!("new:ext4@{}", self.node())
    }

    /// Starts a run, and waits until its file system is mounted.
    fn working(&self, tune: &str) -> Run {
        let target = self.target() + tune;
        let run = Run::start(self.folder.path(), &["run", "smoke", &target, "--rounds", "1000"]);
        wait_until("the file system is mounted", || {
            let mounts = testkit::mounts(&run.0.id().to_string());
            mounts.is_some_and(|mounts| mounts.lines().any(|line| line.contains(&format!(" ext4 {} ", self.node()))))
        });
        run
    }

    /// Kills a run on the disk. Returns the path of its note, and the text.
    fn killed(&self) -> (String, String) {
        self.working("").kill();
        self.is_let_go();
        let note = self.note();
        let text = fs::read_to_string(&note).expect("a note");
        (note, text)
    }

    /// Waits until the kernel has removed the mounts of a dead process, which it does a moment after its end.
    fn is_let_go(&self) {
        wait_until("no program uses it", || {
            let inspected = kernel::guard::inspect(self.device.node()).expect("it can be looked at");
            inspected.reasons().iter().all(kernel::guard::Reason::can_be_lifted)
        });
    }

    /// The path of the note about the file system that a run made on the disk.
    fn note(&self) -> String {
        format!("/run/diskperf/made-{}", self.node().trim_start_matches("/dev/"))
    }

    /// Writes these bytes at these offsets, durably, into the file behind the device.
    fn write(&self, pieces: &[(u64, &[u8])]) {
        let file = File::options().write(true).open(self.folder.path().join("disk")).expect("its bytes");
        pieces.iter().for_each(|(at, bytes)| file.write_all_at(bytes, *at).expect("written"));
        file.sync_all().expect("durable");
    }

    fn clean(&self) -> ProgramOutput {
        Cli::in_folder(self.folder.path()).run(&["clean", self.node(), "--yes"])
    }

    fn holds_nothing(&self) -> bool {
        kernel::guard::inspect(self.device.node()).expect("it can be looked at").reasons().is_empty()
    }

    fn run(&self) -> ProgramOutput {
        let arguments = ["run", "smoke", &self.target(), "--only", "write_8192", "--rounds", "1"];
        Cli::in_folder(self.folder.path()).run(&arguments)
    }
}

#[test]
fn a_file_system_of_a_killed_run_is_erased() {
    let _shared = with_others();
    need_devices!();
    let disk = Disk::new();
    let run = disk.working("");
    let ended = disk.clean();
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
    assert!(ended.err.contains(&format!("stays: process {} still runs", run.0.id())), "{}", ended.err);
    let pid = run.kill();
    disk.is_let_go();
    // The refusal before `clean`.
    let refused = disk.run();
    assert_eq!(refused.status, Some(3), "{}", refused.err);
    // Meanwhile, another process uses it.
    let folder = disk.folder.path().join("mount");
    fs::create_dir(&folder).expect("a folder");
    let folder = folder.to_str().expect("a plain path");
    let tool = |name: &str, arguments: &[&str]| {
        let ended = testkit::run(&tool(name).expect("it is installed"), Path::new("/"), arguments);
        assert_eq!(ended.status, Some(0), "{name}: {}", ended.err);
    };
    tool("mount", &[disk.node(), folder]);
    let ended = disk.clean();
    tool("umount", &[folder]);
    // A run of another test may have just started, and have a copy of the mount.
    disk.is_let_go();
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
    assert!(ended.err.contains(&format!("{} stays: it is mounted at ", disk.node())), "{}", ended.err);
    let ended = disk.clean();
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert_eq!(ended.out, format!("{}  ext4 made by process {pid}\n", disk.node()));
    assert!(disk.holds_nothing());
    assert_eq!(disk.run().status, Some(0));
    assert!(disk.holds_nothing());
}

#[test]
fn a_kept_file_system_is_erased_only_if_its_device_is_named() {
    let _shared = with_others();
    need_devices!();
    let disk = Disk::new();
    let arguments = ["run", "smoke", &disk.target(), "--only", "write_8192", "--rounds", "1", "--keep"];
    let ended = Cli::in_folder(disk.folder.path()).run(&arguments);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    disk.is_let_go();
    // Without a path, leftovers of other programs on this machine are listed too, which do not matter here.
    let ended = Cli::in_folder(disk.folder.path()).run(&["clean", "--dry-run"]);
    assert_eq!((ended.status, ended.out.contains(&format!("{}  ", disk.node()))), (Some(0), false), "{}", ended.out);
    let kept = format!("{} stays: it was kept; name it to erase it\n", disk.node());
    assert!(ended.err.contains(&kept) && !disk.holds_nothing(), "{}", ended.err);
    let ended = disk.clean();
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert!(disk.holds_nothing());
}

#[test]
fn data_written_by_another_program_since_then_stay() {
    let _shared = with_others();
    need_devices!();
    let disk = Disk::new();
    disk.working("").kill();
    disk.is_let_go();
    let made = testkit::run(&tool("mkfs.ext4").expect("mkfs"), Path::new("/"), &["-q", "-F", disk.node()]);
    assert_eq!(made.status, Some(0), "{}", made.err);
    let before = fs::read(disk.folder.path().join("disk")).expect("its bytes");
    let ended = disk.clean();
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "", "no leftovers found\n"));
    assert!(fs::read(disk.folder.path().join("disk")).expect("its bytes") == before, "something was written");
}

#[test]
fn the_queue_tuned_by_a_killed_run_is_restored() {
    let _alone = RUNS.write().unwrap_or_else(PoisonError::into_inner);
    need_devices!();
    let disk = Disk::new();
    let attribute = "queue/read_ahead_kb";
    let before = disk.device.attribute(attribute);
    let other = if before == "64" { "32" } else { "64" };
    let pid = kill_while_tuned(&disk, attribute, other);
    disk.is_let_go();
    let ended = disk.clean();
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
    assert_eq!(disk.device.attribute(attribute), before);
    assert!(disk.holds_nothing());
    assert!(ended.out.contains(&format!("/queue  tuned by process {pid}\n")), "{}", ended.out);
}

/// Kills a run that has tuned the queue, and returns its process id.
fn kill_while_tuned(disk: &Disk, attribute: &str, value: &str) -> u32 {
    let run = disk.working(&format!(",tune=read_ahead_kb:{value}"));
    let signal = |signal| {
        let pid = rustix::process::Pid::from_child(&run.0);
        rustix::process::kill_process(pid, signal).expect("it hears");
    };
    // The queue is tuned only while a program runs, so stop the run at that moment.
    loop {
        wait_until("it is tuned", || disk.device.attribute(attribute) == value);
        signal(rustix::process::Signal::STOP);
        if disk.device.attribute(attribute) == value {
            return run.kill();
        }
        signal(rustix::process::Signal::CONT);
    }
}
