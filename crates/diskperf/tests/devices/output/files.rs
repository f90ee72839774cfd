//! Output files: replaced completely or not at all, and never a device.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use super::{Decoy, OLD, SMOKE, assert_whole, refuses, shell, smoke_to};
use testkit::loop_disk::{Disk, Mounted};
use testkit::syscall_filter::{FALLOCATE, NOT_SUPPORTED, TMPFILE, run_answered};
use testkit::{names_in, need_disk, skip};

use crate::common::{Cli, program, text};

#[test]
fn a_new_file_has_the_permissions_of_the_umask() {
    for (umask, rights) in [("022", 0o644), ("077", 0o600)] {
        let folder = Cli::new();
        let ended = shell(folder.path(), &format!("umask {umask}; exec \"$0\" simulate -o new"));
        assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""));
        assert_eq!(fs::metadata(folder.path().join("new")).expect("the file").mode() & 0o7777, rights);
        let printed = folder.run(&["simulate"]).out;
        assert_eq!(fs::read_to_string(folder.path().join("new")).expect("the file"), printed);
        assert_eq!(folder.names(), ["new"]);
    }
}

#[test]
fn a_replaced_file_keeps_its_permissions_and_owner() {
    let folder = Cli::new();
    let path = folder.path().join("out");
    fs::write(&path, OLD).expect("a file");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o604)).expect("rights");
    if testkit::is_root() {
        std::os::unix::fs::chown(&path, Some(54321), Some(54322)).expect("given away");
    }
    let before = fs::metadata(&path).expect("the file");
    assert_eq!(smoke_to(folder.path(), "out").status, Some(0));
    let after = fs::metadata(&path).expect("the file");
    assert_ne!(after.ino(), before.ino(), "it was written in place");
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_whole(&path, true);
    assert_eq!(folder.names(), ["out"]);
}

/// Every option that writes a file shares the writer: another name of the old file keeps its content.
#[test]
fn other_names_of_a_replaced_file_keep_its_content() {
    let folder = Cli::new();
    let job = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jobs/samples/log.fio");
    let (run, job) = (folder.path().join("run.json"), job.to_str().expect("plain words"));
    assert_eq!(smoke_to(folder.path(), "run.json").status, Some(0));
    let run = run.to_str().expect("plain words");
    for (name, arguments) in [
        ("out", &["simulate", "-o", "out"][..]),
        ("table", &["show", run, "-o", "table"]),
        ("job.toml", &["import", job, "-o", "job.toml"]),
        ("page.html", &["report", run, "-o", "page.html"]),
        ("line.json", &["simulate", "vax750-sc750", "smoke", "--timeline", "line.json"]),
        ("diskperf.1", &["man", "--out", "."]),
    ] {
        fs::write(folder.path().join(name), OLD).expect("a file");
        fs::hard_link(folder.path().join(name), folder.path().join("other")).expect("another name");
        let ended = folder.run(arguments);
        assert_eq!(ended.status, Some(0), "{arguments:?}: {}", ended.err);
        assert_eq!(fs::read_to_string(folder.path().join("other")).expect("the old file"), OLD, "{arguments:?}");
        assert!(fs::metadata(folder.path().join(name)).expect("the new file").len() > 500, "{arguments:?}");
        rustix::fs::unlink(folder.path().join("other")).expect("a name less");
    }
    assert!(folder.names().iter().all(|name| !name.starts_with('.')), "{:?}", folder.names());
}

#[test]
fn a_link_stays_and_its_target_is_replaced() {
    let folder = Cli::new();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("below")).expect("a folder");
    symlink("below", path("way")).expect("a link");
    symlink("../target", path("below/second")).expect("a link");
    symlink("way/second", path("first")).expect("a link");
    // First the last link is dangling, then its target exists.
    for _ in 0..2 {
        assert_eq!(smoke_to(folder.path(), "first").status, Some(0));
        assert_whole(&path("target"), true);
        assert_eq!(folder.names(), ["below", "first", "target", "way"]);
        assert_eq!(names_in(&path("below")), ["second"]);
        assert!(path("first").is_symlink() && path("below/second").is_symlink());
        fs::write(path("target"), OLD).expect("an old file");
    }
    symlink("round", path("around")).expect("a link");
    symlink("around", path("round")).expect("a link");
    let ended = folder.run(&["simulate", "-o", "round"]);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert!(ended.err.contains("hint: name the file itself"), "{}", ended.err);
}

#[test]
fn names_that_cannot_be_written_are_refused_with_a_hint() {
    let folder = Cli::new();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("below")).expect("a folder");
    fs::write(path("file"), OLD).expect("a file");
    symlink("/dev/diskperf-no-such-device", path("astray")).expect("a link");
    symlink("none/file", path("nowhere")).expect("a link");
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).expect("a socket");
    let long = "x".repeat(256);
    let before = folder.names();
    for (name, status, says) in [
        ("below", 2, "below is a directory"),
        ("below/", 2, "below/ is a directory"),
        ("new/", 2, "there is no new/"),
        ("none/file", 2, "there is no none"),
        ("nowhere", 2, "there is no none"),
        ("file/below", 1, "cannot write file/below: Not a directory"),
        ("/dev/diskperf-no-such-device", 2, "there is no device /dev/diskperf-no-such-device; nothing was created"),
        ("astray", 2, "there is no device /dev/diskperf-no-such-device; nothing was created"),
        ("socket", 2, "socket is not a regular file"),
        (&long, 1, "File name too long"),
    ] {
        let ended = folder.run(&["simulate", "-o", name]);
        assert_eq!(ended.status, Some(status), "{name}: {}", ended.err);
        assert!(ended.err.contains(says) && ended.err.contains("\nhint: "), "{name}: {}", ended.err);
        assert_eq!(folder.names(), before, "{name}");
    }
    assert!(!Path::new("/dev/diskperf-no-such-device").exists());
    // The temporary name does not contain the name that is written.
    for _ in 0..2 {
        assert_eq!(smoke_to(folder.path(), &"x".repeat(255)).status, Some(0));
        assert_whole(&path(&"x".repeat(255)), true);
    }
}

#[test]
fn a_full_disk_keeps_the_old_file() {
    need_disk!("mount", "umount");
    let folder = Cli::new();
    let mounted = Mounted::tmpfs(folder.path(), "size=128k");
    let out = mounted.path().join("out");
    fs::write(&out, OLD).expect("room");
    // Enough for the beginning of the results, not for all.
    fs::write(mounted.path().join("filler"), vec![1; 96 << 10]).expect("room");
    for name in ["out", "new"] {
        let ended = smoke_to(mounted.path(), name);
        assert_eq!(ended.status, Some(1), "{}", ended.err);
        assert!(ended.err.contains("No space left") && ended.err.contains("hint: free some space"), "{}", ended.err);
        assert_eq!(fs::read_to_string(&out).expect("the old file"), OLD);
        assert_eq!(names_in(mounted.path()), ["filler", "out"]);
    }
}

#[test]
fn a_file_size_limit_is_an_error_and_keeps_the_old_file() {
    let folder = Cli::new();
    fs::write(folder.path().join("out"), OLD).expect("a file");
    // In blocks of 512 bytes, as in POSIX, or of 1024; the results have some 80,000 bytes.
    for name in ["out", "new"] {
        let ended = shell(folder.path(), &format!("ulimit -f 8; exec \"$0\" {} -o {name}", SMOKE.join(" ")));
        assert_eq!(ended.status, Some(1), "{}", ended.err);
        assert!(ended.err.contains("File too large") && ended.err.contains("ulimit -f"), "{}", ended.err);
        assert_eq!(fs::read_to_string(folder.path().join("out")).expect("the old file"), OLD);
        assert_eq!(folder.names(), ["out"]);
    }
    let ended = shell(folder.path(), "ulimit -f 0; exec \"$0\" simulate > out");
    assert_eq!(ended.status, Some(1), "a stream: {}", ended.err);
    assert!(ended.err.contains("File too large"), "{}", ended.err);
}

/// The call at which the process is killed, and whether the results have their name by then.
#[test]
fn kill_9_during_writing_keeps_the_old_file() {
    let folder = Cli::new();
    let Some(strace) = testkit::tool("strace") else { return skip!("strace is not installed") };
    let may = testkit::run(&strace, folder.path(), &["true"]);
    if may.status != Some(0) {
        return skip!("strace may not trace here: {}", may.err.trim());
    }
    let out = folder.path().join("out");
    for (calls, name) in [
        ("fchmod", "out"),
        ("fsync", "out"),
        ("linkat", "out"),
        ("rename,renameat,renameat2", "out"),
        ("linkat", "new"),
    ] {
        fs::write(&out, OLD).expect("a file");
        let program = program();
        let inject = format!("inject={calls}:signal=SIGKILL");
        let traced = ["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}"), "-e", &inject, text(&program)];
        let ended = testkit::run(&strace, folder.path(), &[&traced[..], &SMOKE, &["-o", name]].concat());
        assert_eq!(ended.status, None, "{calls} was never called: {}", ended.err);
        let names = folder.names();
        // Between the two calls that give the file its name, it has a temporary one.
        let is_between = calls.starts_with("rename");
        let others = names.iter().filter(|name| *name != "out" && *name != "new").count();
        assert!(others == 0 || is_between && others == 1, "{calls}: {names:?}");
        for name in names {
            assert_whole(&folder.path().join(&name), name != "out");
            rustix::fs::unlink(folder.path().join(name)).expect("removed");
        }
    }
}

#[test]
fn file_systems_without_unnamed_files_work() {
    let folder = Cli::new();
    let program = program();
    for (name, is_there) in [("new", false), ("out", true)] {
        let path = folder.path().join(name);
        if is_there {
            fs::write(&path, OLD).expect("a file");
            fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).expect("rights");
            fs::hard_link(&path, folder.path().join("other")).expect("another name");
        }
        let arguments = [&SMOKE[..], &["-o", name]].concat();
        let ended = run_answered(TMPFILE, NOT_SUPPORTED, &program, folder.path(), &arguments);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert_whole(&path, true);
        assert!(!is_there || fs::metadata(&path).expect("the file").mode() & 0o777 == 0o640);
    }
    assert_eq!(fs::read_to_string(folder.path().join("other")).expect("the old file"), OLD);
    assert_eq!(folder.names(), ["new", "other", "out"]);
    // After a failure, the unfinished file is removed.
    let limited = format!("ulimit -f 8; exec \"$0\" {} -o new", SMOKE.join(" "));
    let words = ["-c", &limited, text(&program)];
    let ended = run_answered(TMPFILE, NOT_SUPPORTED, Path::new("/bin/sh"), folder.path(), &words);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert_whole(&folder.path().join("new"), true);
    assert_eq!(folder.names(), ["new", "other", "out"]);
}

/// A user who may write a file expects it to be written, also if the folder is another's.
#[test]
fn writable_files_in_unwritable_folders_are_written_in_place() {
    need_disk!("setpriv");
    let folder = Cli::new();
    let copy = folder.path().join("diskperf");
    testkit::copy_of_program(&program(), &copy);
    let path = |name: &str| folder.path().join(name);
    for (name, rights) in [("out", 0o666), ("long", 0o666), ("locked", 0o644), ("unreadable", 0o222)] {
        fs::write(path(name), OLD).expect("a file");
        fs::set_permissions(path(name), PermissionsExt::from_mode(rights)).expect("rights");
    }
    fs::write(path("long"), vec![b'x'; 1 << 20]).expect("a longer file");
    for path in [copy.as_path(), folder.path()] {
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("rights");
    }
    let user = ["--reuid=54321", "--regid=54321", "--clear-groups", "--no-new-privs", text(&copy)];
    let run =
        |name: &str| testkit::run(Path::new("setpriv"), folder.path(), &[&user[..], &SMOKE, &["-o", name]].concat());
    // The limit is known before the first byte: a file that is written in place would be truncated.
    let limited = format!("ulimit -f 8; exec {} {} -o out", text(&copy), SMOKE.join(" "));
    let words = [&user[..4], &["/bin/sh", "-c", &limited]].concat();
    let ended = testkit::run(Path::new("setpriv"), folder.path(), &words);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert!(ended.err.contains("File too large"), "{}", ended.err);
    assert_whole(&path("out"), false);
    for name in ["out", "long"] {
        let before = fs::metadata(path(name)).expect("the file").ino();
        let ended = run(name);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert_whole(&path(name), true);
        assert_eq!(fs::metadata(path(name)).expect("the file").ino(), before);
    }
    for name in ["locked", "unreadable", "new"] {
        let ended = run(name);
        assert_eq!(ended.status, Some(1), "{}", ended.err);
        assert!(ended.err.contains("Permission denied"), "{}", ended.err);
        assert!(ended.err.contains("hint: name a file that you may write to"), "{}", ended.err);
    }
    for name in ["locked", "unreadable"] {
        assert_eq!(fs::read_to_string(path(name)).expect("the file"), OLD);
    }
    assert_eq!(folder.names(), ["diskperf", "locked", "long", "out", "unreadable"]);
}

#[test]
fn bind_mounted_files_are_written_in_place() {
    need_disk!("mount", "umount");
    let folder = Cli::new();
    let (out, outside) = (folder.path().join("out"), folder.path().join("outside"));
    for path in [&out, &outside] {
        fs::write(path, OLD).expect("a file");
    }
    let mounted = Mounted::mount(&outside, &out, "bind");
    let ended = smoke_to(folder.path(), "out");
    drop(mounted);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_whole(&outside, true);
    assert_eq!(fs::read_to_string(&out).expect("the file below"), OLD);
    assert_eq!(folder.names(), ["out", "outside"]);
}

/// A sweep in CSV is written in steps, into a new file that then cannot take the name.
#[test]
fn steps_are_written_in_place_at_the_end() {
    need_disk!("mount", "umount");
    let folder = Cli::new();
    let (out, outside) = (folder.path().join("out"), folder.path().join("outside"));
    for path in [&out, &outside] {
        fs::write(path, OLD).expect("a file");
    }
    let sweep = ["simulate", "vax750-uda50", "--size", "32KiB", "--phases", "1", "--program", "read_8192"];
    let sweep = [&sweep[..], &["--sweep", "kernel.call=1..2us", "--format", "csv"]].concat();
    let printed = folder.well(&sweep).out;
    let mounted = Mounted::mount(&outside, &out, "bind");
    folder.well(&[&sweep[..], &["-o", "out"]].concat());
    drop(mounted);
    assert_eq!(fs::read_to_string(&outside).expect("the mounted file"), printed);
    assert_eq!(fs::read_to_string(&out).expect("the file below"), OLD);
    assert_eq!(folder.names(), ["out", "outside"]);
}

#[test]
fn a_full_disk_keeps_a_file_that_is_written_in_place() {
    need_disk!("mount", "umount", "setpriv");
    let (folder, tools) = (Cli::new(), Cli::new());
    let copy = tools.path().join("diskperf");
    testkit::copy_of_program(&program(), &copy);
    let full = Mounted::tmpfs(folder.path(), "size=128k,mode=755");
    let out = full.path().join("out");
    fs::write(&out, OLD).expect("a file");
    fs::write(full.path().join("filler"), vec![1; 96 << 10]).expect("room");
    for (path, rights) in [(tools.path(), 0o755), (&copy, 0o755), (&out, 0o666)] {
        fs::set_permissions(path, PermissionsExt::from_mode(rights)).expect("rights");
    }
    let user = ["--reuid=54321", "--regid=54321", "--clear-groups", "--no-new-privs", text(&copy)];
    let words = [&user[..], &SMOKE, &["-o", "out"]].concat();
    let ended = testkit::run(Path::new("setpriv"), full.path(), &words);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert!(ended.err.contains("No space left"), "{}", ended.err);
    assert_whole(&out, false);
}

/// Old results of several blocks, so that new ones overwrite blocks that the file already has.
fn long_results() -> Vec<u8> {
    (0..40_000_u32).map(|at| b'a' + (at / 4096 % 26) as u8).collect()
}

/// Fills a file system until it takes no more bytes.
fn fill(folder: &Path) {
    let file = File::create_new(folder.join("filler")).expect("a file");
    let piece = vec![1; 1 << 20];
    let mut length = piece.len();
    let mut at = 0;
    while length >= 512 {
        match file.write_at(&piece[..length], at).and_then(|written| file.sync_data().map(|()| written)) {
            Ok(written) => at += written as u64,
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => length /= 2,
            Err(error) => panic!("{error}"),
        }
    }
}

/// A file system without room for new blocks, whether it can reserve room or not, and whether it copies on write or
/// not.
#[test]
fn any_full_file_system_keeps_a_file_written_in_place() {
    need_disk!("mount", "umount", "mkfs.ext4", "mkfs.btrfs");
    for (make, options, mib) in [
        ("mkfs.ext4", &["-q", "-F", "-m", "0"][..], 16),
        ("mkfs.ext4", &["-q", "-F", "-m", "0", "-t", "ext3"], 16),
        ("mkfs.btrfs", &["-q"], 128),
        ("mkfs.btrfs", &["-q", "--mixed"], 32),
    ] {
        let disk = Disk::new(mib << 20);
        testkit::run_tool(make, &[options, &[disk.text()]].concat());
        let full = Mounted::mount(disk.node(), Path::new(&disk.folder("mount")), "rw");
        stays_whole(full.path(), &format!("{make} {options:?}"));
    }
    let folder = Cli::new();
    let full = Mounted::tmpfs(folder.path(), "size=256k");
    stays_whole(full.path(), "tmpfs");
}

/// The file is mounted on another name, so that it can only be written in place.
fn stays_whole(full: &Path, what: &str) {
    let (folder, old) = (Cli::new(), long_results());
    let (out, outside) = (folder.path().join("out"), full.join("outside"));
    fs::write(&out, "").and_then(|()| fs::write(&outside, &old)).expect("files");
    let mounted = Mounted::mount(&outside, &out, "bind");
    File::open(&outside).and_then(|file| file.sync_all()).expect("durable");
    fill(full);
    let arguments = [&SMOKE[..], &["-o", "out"]].concat();
    for reserves in [true, false] {
        let ended = match reserves {
            true => folder.run(&arguments),
            false => run_answered(FALLOCATE, NOT_SUPPORTED, &program(), folder.path(), &arguments),
        };
        let what = format!("{what}, can reserve: {reserves}");
        assert_eq!(ended.status, Some(1), "{what}: {}", ended.err);
        assert!(ended.err.contains("No space left"), "{what}: {}", ended.err);
        assert!(fs::read(&outside).expect("the old file") == old, "{what}: it was changed: {}", ended.err);
    }
    rustix::fs::unlink(full.join("filler")).expect("room again");
    rustix::fs::sync();
    let ended = folder.run(&arguments);
    assert_eq!(ended.status, Some(0), "{what}: {}", ended.err);
    assert_whole(&outside, true);
    // The space that was reserved to restore the old results is freed.
    let stat = fs::metadata(&outside).expect("the file");
    assert!(stat.blocks() * 512 <= stat.len().next_multiple_of(64 << 10), "{what}: {stat:?}");
    drop(mounted);
}

/// An access list that lets user 54321 read and write. Version 2 (linux/posix_acl_xattr.h), then tag, rights and
/// number: owner, user 54321, group, mask, others.
fn access_list() -> Vec<u8> {
    let entries = [(0x01_u16, 6_u16, u32::MAX), (0x02, 6, 54321), (0x04, 0, u32::MAX), (0x10, 6, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, number) in entries.into_iter().chain([(0x20, 0, u32::MAX)]) {
        list.extend(tag.to_le_bytes().into_iter().chain(rights.to_le_bytes()).chain(number.to_le_bytes()));
    }
    list
}

/// The name of a file's access list.
const ACCESS_LIST: &str = "system.posix_acl_access";

/// A new file would have no access list, and its group would have the rights that the list gives to others.
#[test]
fn access_lists_stay() {
    let folder = Cli::new();
    let out = folder.path().join("out");
    fs::write(&out, OLD).expect("a file");
    let list = access_list();
    if let Err(errno) = rustix::fs::setxattr(&out, ACCESS_LIST, &list, rustix::fs::XattrFlags::empty()) {
        return skip!("the temporary folder takes no access lists: {errno}");
    }
    assert_eq!(smoke_to(folder.path(), "out").status, Some(0));
    assert_whole(&out, true);
    let mut now = vec![0; 256];
    let bytes = rustix::fs::getxattr(&out, ACCESS_LIST, &mut now[..]).expect("its list");
    assert_eq!(now[..bytes], list);
}

/// The new file would inherit the list, and give the user in it rights that the old file did not give.
#[test]
fn default_access_lists_of_folders_are_not_given_to_replaced_files() {
    let folder = Cli::new();
    let out = folder.path().join("out");
    fs::write(&out, OLD).expect("a file");
    fs::set_permissions(&out, PermissionsExt::from_mode(0o640)).expect("rights");
    let (default, flags) = ("system.posix_acl_default", rustix::fs::XattrFlags::empty());
    if let Err(errno) = rustix::fs::setxattr(folder.path(), default, &access_list(), flags) {
        return skip!("the temporary folder takes no access lists: {errno}");
    }
    assert_eq!(smoke_to(folder.path(), "out").status, Some(0));
    assert_whole(&out, true);
    let list = rustix::fs::getxattr(&out, ACCESS_LIST, &mut [0; 256][..]);
    assert_eq!(list, Err(rustix::io::Errno::NODATA));
    assert_eq!(fs::metadata(&out).expect("the file").mode() & 0o7777, 0o640);
}

#[test]
fn output_options_refuse_devices_and_files_shown_by_devices() {
    need_disk!();
    let decoy = Decoy::new();
    let folder = decoy.folder();
    let job = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jobs/samples/log.fio");
    assert_eq!(smoke_to(folder, "run.json").status, Some(0));
    for way in 0..decoy.ways() {
        for (end, before) in [
            ("out", &["simulate", "-o"][..]),
            ("out", &["run", "smoke", "sim:flat", "-o"]),
            ("out", &["show", "run.json", "-o"]),
            ("out", &["explain", "run.json", "commit", "-o"]),
            ("out", &["doctor", "-o"]),
            ("out", &["import", text(&job), "-o"]),
            ("out.html", &["report", "run.json", "-o"]),
            ("line.svg", &["simulate", "vax750-sc750", "smoke", "--timeline"]),
            ("line.json", &["simulate", "vax750-sc750", "smoke", "--timeline"]),
        ] {
            decoy.lead(way, end);
            refuses(folder, &[before, &[end]].concat(), decoy.says(way));
        }
        for (folder_name, end, before) in [
            ("charts", "charts/rates-1.svg", &["report", "run.json", "--svg"][..]),
            ("pages", "pages/diskperf.1", &["man", "--out"]),
        ] {
            fs::create_dir_all(folder.join(folder_name)).expect("a folder");
            decoy.lead(way, end);
            let ended = Cli::in_folder(folder).run(&[before, &[folder_name]].concat());
            assert!(matches!(ended.status, Some(2 | 3)), "{way} {before:?}: {:?} {}", ended.status, ended.err);
        }
        decoy.assert_unchanged();
    }
}

#[test]
fn programs_refuse_to_write_devices_and_files_shown_by_devices() {
    need_disk!();
    let decoy = Decoy::new();
    fs::write(decoy.folder().join("old"), OLD).expect("a file");
    for way in 0..decoy.ways() {
        decoy.lead(way, "out");
        for program in ["write_8192", "write_4096", "rewrite_8192"] {
            refuses(decoy.folder(), &[program, "out"], decoy.says(way));
        }
        refuses(decoy.folder(), &["copy", "old", "out"], decoy.says(way));
        decoy.assert_unchanged();
    }
}

/// diskperf judges a character device by its number. It does not open the device, because that would affect a tape.
#[test]
fn only_character_devices_that_store_nothing_are_written() {
    need_disk!();
    let folder = Cli::new();
    let node = |name: &str, major: u32, minor: u32| {
        let (kind, rights) = (rustix::fs::FileType::CharacterDevice, rustix::fs::Mode::from_raw_mode(0o600));
        let number = rustix::fs::makedev(major, minor);
        rustix::fs::mknodat(rustix::fs::CWD, folder.path().join(name), kind, rights, number).expect("a node");
    };
    // Memory itself, a tape, flash memory, and a device for experiments (admin-guide/devices.txt).
    for (major, minor) in [(1, 1), (9, 0), (90, 0), (60, 0)] {
        node("device", major, minor);
        refuses(folder.path(), &["simulate", "-o", "device"], "is a device, and this would overwrite it");
        rustix::fs::unlink(folder.path().join("device")).expect("removed");
    }
    assert_eq!(folder.run(&["simulate", "-o", "/dev/null"]).status, Some(0));
    let full = folder.run(&["simulate", "-o", "/dev/full"]);
    assert_eq!(full.status, Some(1), "{}", full.err);
    assert!(full.err.contains("cannot write /dev/full: No space left"), "{}", full.err);
}

#[test]
fn a_disk_as_output_is_refused_before_measuring() {
    need_disk!();
    let disk = Disk::new(1 << 20);
    let log = File::create_new(disk.folder.path().join("log")).expect("a file");
    let mut run = testkit::command(&program());
    let measured = disk.folder.path().join("measured");
    run.args(["run", ".", "-o", disk.text(), "--", "touch", text(&measured)]).current_dir(disk.folder.path());
    let status = run.stderr(log).status().expect("diskperf starts");
    assert_eq!(status.code(), Some(3));
    assert_eq!(names_in(disk.folder.path()), ["disk", "log"]);
}
