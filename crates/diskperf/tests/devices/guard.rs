//! The guard from the command line: devices that only seem blank, that have two names, that another program writes to,
//! and whose name changes during the check. `crates/kernel/tests/` tests the guard itself.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;

use testkit::loop_disk::{Disk, LoopDisk};
use testkit::terminal::watch;
use testkit::{ProgramOutput, need_disk, run_tool, skip, wait_until};

use crate::common::{Cli, program};

const MIB: u64 = 1 << 20;

fn target(disk: &Disk) -> String {
    format!("new:ext4@{}", disk.text())
}

fn run(disk: &Disk, arguments: &[&str]) -> ProgramOutput {
    Cli::in_folder(disk.folder.path()).run(arguments)
}

/// Asserts that the command is refused with status 3, these words and a hint, and leaves every byte of the file.
fn refuses(disk: &Disk, arguments: &[&str], words: &[&str]) {
    let before = fs::read(&disk.file).expect("its bytes");
    let ended = run(disk, arguments);
    assert_eq!(ended.status, Some(3), "{arguments:?}: {} {}", ended.out, ended.err);
    for word in words.iter().chain(&["error: ", "hint: "]) {
        assert!(ended.err.contains(word), "{arguments:?} says nothing of {word:?}: {}", ended.err);
    }
    assert!(fs::read(&disk.file).expect("its bytes") == before, "{arguments:?}: something was written");
}

/// The accident of this project: `new:` overwrote an ext4 that began at 1 MiB.
#[test]
fn devices_with_data_after_zeros_need_destroy_data() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(20 * MIB);
    let file = disk.file.to_str().expect("a plain path");
    run_tool("mkfs.ext4", &["-q", "-F", "-E", "offset=1048576", file, "16m"]);
    let smoke = ["run", "smoke", &target(&disk), "--rounds", "1"];
    let words = ["it holds data of no known format", "--destroy-data --confirm '20 MiB'"];
    refuses(&disk, &smoke, &words);
    // The option alone does not name a device.
    refuses(&disk, &[&smoke[..], &["--destroy-data"]].concat(), &["it holds data of no known format"]);
    refuses(&disk, &["run", "device", disk.text(), "--write"], &["--destroy-data"]);
    let ended = run(&disk, &[&smoke[..], &["--destroy-data", "--confirm", "20 MiB"]].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    // The leftovers of that run are data too.
    refuses(&disk, &smoke, &words);
}

/// One byte between the samples: only reading everything finds it.
#[test]
fn devices_with_one_hidden_byte_need_destroy_data() {
    need_disk!("mkfs.ext4");
    let disk = Disk::holding(20 * MIB, &[(MIB + 5 * 4096, &[1])]);
    let smoke = ["run", "smoke", &target(&disk), "--rounds", "1"];
    refuses(&disk, &smoke, &["it holds data of no known format", "--destroy-data --confirm '20 MiB'"]);
    refuses(&disk, &[&smoke[..], &["--destroy-data"]].concat(), &["it holds data of no known format"]);
    refuses(&disk, &[&smoke[..], &["--destroy-data", "--confirm", "1 TiB"]].concat(), &["it holds data"]);
    let ended = run(&disk, &[&smoke[..], &["--destroy-data", "--confirm", "20 MiB"]].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.err);
}

/// A file of a terabyte, not named by --confirm, so that all of it must be read: Ctrl-C ends the reading.
#[test]
fn reading_a_large_device_is_shown_and_ends_at_ctrl_c() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(1 << 40);
    let file = File::open(&disk.file).expect("its file");
    let other = disk.folder.path().join("other");
    fs::write(&other, "other").and_then(|()| fs::rename(&other, &disk.file)).expect("it has no name any more");
    let mut command = testkit::command(&program());
    command.args(["run", "smoke", &target(&disk), "--rounds", "1"]).current_dir(disk.folder.path());
    let watched = watch(command, 200);
    let is_shown = |words: &str| wait_until(words, || watched.error_output().contains(words));
    is_shown("which must be blank");
    is_shown("checking that new:ext4@");
    is_shown("--destroy-data --confirm '1 TiB'");
    watched.interrupt();
    let ended = watched.end();
    let line = ended.err.lines().find(|line| line.contains("stopped before anything was measured")).expect(&ended.err);
    let seen = line.rsplit("\u{1b}[2K").next().expect("the end of the line");
    assert!(!seen.contains("checking that"), "the progress line was not erased: {}", ended.err);
    assert_ne!(ended.status, Some(0));
    assert_eq!(file.metadata().expect("it").blocks(), 0, "something was written");
}

#[test]
fn loop_devices_on_overlays_and_devices_they_may_show_are_refused() {
    need_disk!("mount", "umount", "unshare", "losetup", "mkfs.ext4");
    let cli = Cli::new();
    // The mounts end with the namespace; the devices are detached before.
    let script = r#"
        mount -t tmpfs layers . && cd "$PWD" && mkdir lower upper work merged || exit 99
        mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work test merged || exit 77
        truncate -s 16891904 upper/img && mkfs.ext4 -q -F upper/img || exit 99
        one=$(losetup --find --show upper/img) && other=$(losetup --find --show merged/img) || exit 99
        before=$(sha256sum <upper/img)
        for device in $other $one; do
            "$0" run smoke new:ext4@$device --destroy-data --confirm "16.11 MiB" --rounds 1
            echo "status $?" >&2
        done
        for file in upper/img merged/img; do "$0" write_8192 $file; echo "status $?" >&2; done
        losetup --detach $other
        # The one that is left has the numbers of another file.
        "$0" write_8192 merged/img; echo "status $?" >&2
        losetup --detach $one
        test "$before" = "$(sha256sum <upper/img)" || exit 98
    "#;
    let program = program();
    let arguments = ["--mount", "sh", "-c", script, program.to_str().expect("a plain path")];
    let ended = testkit::run(Path::new("unshare"), cli.path(), &arguments);
    if ended.status == Some(77) {
        return skip!("the kernel has no overlay");
    }
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_eq!(ended.err.matches("status 3\n").count(), 5, "{}", ended.err);
    for words in ["has a backing file on overlay, which may be in use", "has the same size and may have"] {
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
}

#[test]
fn devices_open_for_writing_are_refused_naming_the_program() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let node = File::options().write(true).open(disk.node()).expect("the device");
    let mut writer = testkit::command(Path::new("sleep"))
        .arg("3600")
        .stdin(Stdio::null())
        .stdout(node)
        .spawn()
        .expect("a program that has it open");
    let pid = writer.id();
    let words = [format!("it is open for writing in process {pid} (sleep)"), format!("ps -fp {pid}")];
    let words = words.each_ref().map(String::as_str);
    for more in [&[][..], &["--destroy-data", "--confirm", "16 MiB"]] {
        refuses(&disk, &[&["run", "smoke", &target(&disk)], more].concat(), &words);
        refuses(&disk, &[&["run", "device", disk.text(), "--write"], more].concat(), &words);
    }
    writer.kill().and_then(|()| writer.wait()).expect("its end");
    let ended = run(&disk, &["run", "smoke", &target(&disk), "--rounds", "1"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
}

/// A bind mount of / is /: diskperf asks, and no hint says to unmount it.
#[test]
fn a_bind_mount_of_the_root_needs_consent() {
    need_disk!("unshare", "mount", "mkfs.ext4");
    let cli = Cli::new();
    let script = r#"mount --bind / "$1" && exec "$0" run smoke "$2$1" --size 1MiB --rounds 1"#;
    let program = program();
    for scheme in ["", "image:ext4,size=64MiB,dir="] {
        let at = cli.path().to_str().expect("a plain path");
        let arguments = ["--mount", "sh", "-c", script, program.to_str().expect("a plain path"), at, scheme];
        let ended = testkit::run(Path::new("unshare"), Path::new("/"), &arguments);
        assert_eq!(ended.status, Some(3), "{}", ended.err);
        assert!(ended.err.contains("is the root directory") && ended.err.contains("hint: "), "{}", ended.err);
    }
}

#[test]
fn no_hint_unmounts_the_disk_of_the_running_system() {
    need_disk!("unshare", "mount", "umount", "mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    run_tool("mkfs.ext4", &["-q", "-F", disk.text()]);
    // In a private namespace, the disk is mounted below /usr, and at a path where it may be unmounted.
    let folder = disk.folder("mount");
    let script = r#"mount -o ro "$1" "$2" && mount --bind "$2" /usr/share && exec "$0" run smoke "new:ext4@$1""#;
    let program = program();
    let arguments = ["--mount", "sh", "-c", script, program.to_str().expect("a plain path"), disk.text(), &folder];
    let ended = testkit::run(Path::new("unshare"), disk.folder.path(), &arguments);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("is mounted at /usr/share"), "{}", ended.err);
    assert!(ended.err.contains("hint: this system uses it: choose another device"), "{}", ended.err);
    assert!(!ended.err.contains("umount"), "{}", ended.err);
}

/// Ends a thread, also if the test fails meanwhile.
struct Ending<'a>(&'a std::sync::atomic::AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// A name that leads to two devices in turn: diskperf writes to the device that it checked, or not at all.
#[test]
fn a_changing_link_leads_to_the_checked_device_or_fails() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let decoy = Disk::new(24 * MIB);
    run_tool("mkfs.ext4", &["-q", "-F", decoy.text()]);
    rustix::fs::sync();
    let before = fs::read(&decoy.file).expect("its bytes");
    let link = disk.folder.path().join("link");
    symlink(disk.node(), &link).expect("a link");
    let other = disk.folder.path().join("other");
    symlink(decoy.node(), &other).expect("a link");
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let cwd = rustix::fs::CWD;
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(cwd, &link, cwd, &other, exchange).expect("exchanged");
            }
        });
        let _ending = Ending(&is_over);
        let target = format!("new:ext4@{}", link.display());
        let ended: Vec<Option<i32>> = (0..8)
            .map(|_| {
                let arguments = ["run", "smoke", &target, "--rounds", "1", "--destroy-data", "--confirm", "16 MiB"];
                run(&disk, &arguments).status
            })
            .collect();
        assert!(ended.iter().all(|status| matches!(status, Some(0 | 3))), "{ended:?}");
    });
    rustix::fs::sync();
    assert!(fs::read(&decoy.file).expect("its bytes") == before, "the decoy was written to");
}

/// A read-only device needs no consent to be read.
#[test]
fn reading_a_device_needs_no_consent() {
    need_disk!();
    let disk = Disk::attached(16 * MIB, &[(MIB, b"data")], LoopDisk::attach_read_only);
    let ended = run(&disk, &["run", "device", disk.text(), "--time", "1s", "--rounds", "1"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let mut data = [0; 4];
    File::open(&disk.file).and_then(|file| file.read_exact_at(&mut data, MIB)).expect("its bytes");
    assert_eq!(&data, b"data");
}

/// A container has a PID namespace, whose /proc does not show the programs outside.
#[test]
fn unseen_programs_in_a_pid_namespace_give_a_warning() {
    need_disk!("unshare", "mkfs.ext4");
    let disk = Disk::new(20 * MIB);
    let warning =
        format!("cannot see programs outside of this container (PID namespace): one may have {} ", disk.text());
    let program = program();
    for target in
        [&["run", "smoke", &target(&disk), "--dry-run"][..], &["run", "smoke", &target(&disk), "--rounds", "1"]]
    {
        let outside = run(&disk, target);
        assert_eq!(outside.status, Some(0), "{}", outside.err);
        assert!(!outside.err.contains("PID namespace"), "{}", outside.err);
        let inside = ["--pid", "--fork", "--mount-proc", program.to_str().expect("a plain path")];
        let ended = testkit::run(Path::new("unshare"), disk.folder.path(), &[&inside, target].concat());
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert!(ended.err.contains(&warning), "{}", ended.err);
    }
}

/// With hidepid, a user without rights sees no process of others, so that none is counted as hidden.
#[test]
fn users_with_hidepid_may_not_overwrite_devices() {
    need_disk!("unshare", "mount", "setpriv");
    let disk = Disk::holding(16 * MIB, &[(0, &[1])]);
    let copy = disk.folder.path().join("diskperf");
    testkit::copy_of_program(&program(), &copy);
    for path in [copy.as_path(), disk.folder.path()] {
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("rights");
    }
    // A node that the user may open.
    let number = fs::metadata(disk.node()).expect("the device").rdev();
    let (kind, rights) = (rustix::fs::FileType::BlockDevice, rustix::fs::Mode::from_raw_mode(0o600));
    let node = disk.folder.path().join("node");
    rustix::fs::mknodat(rustix::fs::CWD, &node, kind, rights, number).expect("a node");
    std::os::unix::fs::chown(&node, Some(54321), Some(54321)).expect("given away");
    let script = r#"
        mount -t proc -o hidepid=invisible proc /proc || exit 77
        exec setpriv --reuid=54321 --regid=54321 --clear-groups --no-new-privs ./diskperf run device ./node --write \
            --destroy-data --confirm "16 MiB"
    "#;
    let ended = testkit::run(Path::new("unshare"), disk.folder.path(), &["--mount", "sh", "-c", script]);
    if ended.status == Some(77) {
        return skip!("/proc takes no hidepid here: {}", ended.err.trim());
    }
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    let said = "/proc hides other users' processes (hidepid), which may have the device open for writing";
    assert!(ended.err.contains(said) && ended.err.contains("hint: "), "{}", ended.err);
    let mut byte = [0];
    File::open(&disk.file).and_then(|file| file.read_exact_at(&mut byte, 0)).expect("its byte");
    assert_eq!(byte, [1]);
}

/// Without the kernel's count of writes, only a named device may be overwritten.
#[test]
fn devices_without_a_write_count_must_be_named() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(20 * MIB);
    let iostats = format!("/sys/block/{}/queue/iostats", disk.name());
    fs::write(&iostats, "0").expect("writes are not counted");
    let _counting = Counting(&iostats);
    let smoke = ["run", "smoke", &target(&disk), "--rounds", "1"];
    let hint = format!("echo 1 > {iostats}");
    refuses(&disk, &smoke, &["the kernel does not count writes to it", &hint, "--destroy-data --confirm '20 MiB'"]);
    let ended = run(&disk, &[&smoke[..], &["--destroy-data", "--confirm", "20 MiB"]].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.err);
}

/// Switches the kernel's count of a device on again, also if the test fails.
struct Counting<'a>(&'a str);

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        let is_on = fs::write(self.0, "1");
        assert!(std::thread::panicking() || is_on.is_ok());
    }
}
