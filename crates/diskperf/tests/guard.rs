//! The guard as a user meets it: published accidents repeated by their numbers, the consent that is needed before a
//! device is overwritten, and the leftovers on it. `crates/kernel/tests/guard.rs` tests each finding about devices.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use kernel::guard::Reason;
use serde_json::Value;
use testkit::loop_disk::{Disk, LoopDisk, Mounted};
use testkit::{ProgramOutput, names_in, need_disk, run_tool, wait_until};

const MIB: u64 = 1 << 20;

fn program() -> PathBuf {
    testkit::program(env!("CARGO_BIN_EXE_diskperf"))
}

fn target(disk: &Disk, file_system: &str) -> String {
    format!("new:{file_system}@{}", disk.text())
}

fn run(disk: &Disk, arguments: &[&str]) -> ProgramOutput {
    testkit::run(&program(), disk.folder.path(), arguments)
}

/// All bytes of a disk.
fn bytes(disk: &Disk) -> Vec<u8> {
    rustix::fs::sync();
    fs::read(&disk.file).expect("its bytes")
}

/// Asserts that the command is refused with this status, these words and a hint, and leaves every byte.
fn refuses(disk: &Disk, status: i32, arguments: &[&str], words: &[&str]) -> ProgramOutput {
    let before = bytes(disk);
    let ended = run(disk, arguments);
    assert_eq!(ended.status, Some(status), "{arguments:?}: {} {}", ended.out, ended.err);
    for word in words.iter().chain(&["hint: "]) {
        assert!(ended.err.contains(word), "{arguments:?} says nothing of {word:?}: {}", ended.err);
    }
    assert!(bytes(disk) == before, "{arguments:?}: something was written");
    ended
}

/// Asserts that the device looks as if it had never been used.
fn holds_nothing(disk: &Disk) {
    let inspected = kernel::guard::inspect(disk.node()).expect("it can be looked at");
    assert_eq!(inspected.reasons(), []);
}

/// Asserts that there are no signs of a file system on it. Data that the user gave up may be left.
fn holds_no_file_system(disk: &Disk) {
    let inspected = kernel::guard::inspect(disk.node()).expect("it can be looked at");
    let is_data = |reason: &Reason| reason.to_string() == "it holds data of no known format";
    assert!(inspected.reasons().iter().all(is_data), "{:?}", inspected.reasons());
}

fn is_ext4(disk: &Disk) -> bool {
    bytes(disk)[1024 + 0x38..][..2] == [0x53, 0xEF]
}

/// Mounts a device in the folder of the disk's file, read-only.
fn mounted(node: &Path, disk: &Disk) -> Mounted {
    Mounted::mount(node, Path::new(&disk.folder("mount")), "ro")
}

const BOOT: (u64, &[u8]) = (510, &[0x55, 0xAA]);

/// axboe/fio#1007: a command copied from elsewhere names a mounted disk.
#[test]
fn fio_1007_mounted_devices_are_refused() {
    need_disk!("mkfs.ext4", "mount", "umount");
    let disk = Disk::new(16 * MIB);
    run_tool("mkfs.ext4", &["-q", "-F", disk.text()]);
    let mounted = mounted(disk.node(), &disk);
    let said = format!("it is mounted at {}", mounted.path().display());
    refuses(&disk, 3, &["run", "smoke", &target(&disk, "ext4")], &[&said, "hint: unmount it: umount "]);
    // No option and no other command permits it.
    refuses(&disk, 3, &["run", "smoke", &target(&disk, "ext4"), "--destroy-data", "--confirm", "16 MiB"], &[&said]);
    refuses(&disk, 3, &["run", "smoke", &target(&disk, "ext4"), "--destroy-data", "--dry-run"], &[&said]);
    refuses(&disk, 2, &["run", "smoke", disk.text()], &["is a block device"]);
    for program in ["write_4096", "write_8192", "rewrite_8192"] {
        refuses(&disk, 3, &[program, disk.text()], &["is a device, and this would overwrite it"]);
    }
    refuses(&disk, 3, &["copy", "/etc/passwd", disk.text()], &["is a device, and this would overwrite it"]);
}

/// axboe/fio#1382: the disk of a mounted partition. Loop devices have no partitions in this kernel:
/// `crates/kernel/src/guard/decide/tests.rs` has those of a recorded machine. Here, a device below a mounted one
/// replaces it.
#[test]
fn fio_1382_devices_below_mounted_ones_are_refused() {
    need_disk!("mkfs.ext4", "mount", "umount");
    let disk = Disk::new(16 * MIB);
    run_tool("mkfs.ext4", &["-q", "-F", disk.text()]);
    let above = LoopDisk::attach(disk.node()).expect("a loop device on it");
    let mounted = mounted(above.node(), &disk);
    let said = format!("which is on top of it, is mounted at {}", mounted.path().display());
    refuses(&disk, 3, &["run", "smoke", &target(&disk, "ext4"), "--destroy-data", "--confirm", "16 MiB"], &[&said]);
}

/// axboe/fio#1550: fio overwrites a raw device with data on it without asking.
#[test]
fn fio_1550_devices_with_data_need_consent() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    run_tool("mkfs.ext4", &["-q", "-F", "-L", "photos", disk.text()]);
    let target = target(&disk, "ext4");
    let says = ["it holds ext4 \"photos\"", "--destroy-data --confirm '16 MiB'"];
    refuses(&disk, 3, &["run", "smoke", &target], &says);
    // Exactly one document, also for a refusal.
    let ended = refuses(&disk, 3, &["run", "smoke", &target, "--json"], &says);
    let document: Value = serde_json::from_str(&ended.out).expect("a document");
    assert!(document["errors"][0]["message"].as_str().is_some_and(|message| message.contains("it holds ext4")));
    assert!(document["errors"][0]["hint"].as_str().is_some_and(|hint| hint.contains("--destroy-data")));
    // There is no terminal to type on, so the device is not confirmed.
    refuses(
        &disk,
        3,
        &["run", "smoke", &target, "--destroy-data"],
        &["you have not named the device by its size", "--confirm"],
    );
    for words in ["yes", "32 MiB", "/dev/sda"] {
        let arguments = ["run", "smoke", &target, "--destroy-data", "--confirm", words];
        refuses(&disk, 3, &arguments, &["is not its size"]);
    }
    let ended = run(&disk, &["run", "smoke", &target, "--rounds", "1", "--destroy-data", "--confirm", "16MiB"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("destroys the data on ") && ended.err.contains("\"photos\""), "{}", ended.err);
    holds_no_file_system(&disk);
}

/// Two disks with the same model and size: one `--confirm` names only one of them.
#[test]
fn each_device_needs_its_own_confirmation() {
    need_disk!("mkfs.ext4");
    let disks = [Disk::new(16 * MIB), Disk::new(16 * MIB)];
    for disk in &disks {
        run_tool("mkfs.ext4", &["-q", "-F", disk.text()]);
    }
    let [first, second] = disks.each_ref().map(|disk| target(disk, "ext4"));
    let destroys = ["run", "smoke", &first, &second, "--rounds", "1", "--destroy-data"];
    let named = ["--confirm", "16 MiB"];
    let before = bytes(&disks[1]);
    refuses(&disks[0], 3, &[&destroys[..], &named].concat(), &[disks[1].text(), "you have not named the device"]);
    assert!(bytes(&disks[1]) == before);
    let ended = run(&disks[0], &[&destroys[..], &named, &named].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    disks.iter().for_each(holds_no_file_system);
}

/// The question on a terminal.
#[test]
fn the_answer_on_a_terminal_is_the_identity_of_the_device() {
    need_disk!("mkfs.ext4", "script");
    let disk = Disk::new(16 * MIB);
    run_tool("mkfs.ext4", &["-q", "-F", disk.text()]);
    let before = bytes(&disk);
    let words = format!("{} run smoke {} --rounds 1 --destroy-data", program().display(), target(&disk, "ext4"));
    let typed = |answer: &str| {
        let mut child = testkit::command(&testkit::tool("script").expect("it is installed"))
            .args(["-qec", &words, "/dev/null"])
            .current_dir(disk.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a terminal");
        child.stdin.take().expect("its keyboard").write_all(answer.as_bytes()).expect("typed");
        let output = child.wait_with_output().expect("its end");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for answer in ["\n", "y\n", "8 MiB\n"] {
        let (status, said) = typed(answer);
        assert!(said.contains("it holds ext4. Type its size to destroy that:"), "{said}");
        assert_eq!(status, Some(3), "{said}");
        assert!(bytes(&disk) == before);
    }
    let (status, said) = typed("16 MiB\n");
    assert_eq!(status, Some(0), "{said}");
    holds_no_file_system(&disk);
}

#[test]
fn missing_rights_are_refused_with_a_hint() {
    need_disk!("setpriv");
    let disk = Disk::new(16 * MIB);
    // A path at which another user can run the program, whatever the rights of its build folder.
    let copy = disk.folder.path().join("diskperf");
    testkit::copy_of_program(&program(), &copy);
    for path in [copy.as_path(), disk.folder.path()] {
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("rights");
    }
    let user = ["--reuid=54321", "--regid=54321", "--clear-groups", "--no-new-privs"];
    let command = [copy.to_str().expect("a plain path"), "run", "smoke", &target(&disk, "ext4")];
    let ended = testkit::run(Path::new("setpriv"), disk.folder.path(), &[&user[..], &command].concat());
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(
        ended.err.contains("cannot inspect ") && ended.err.contains("hint: run it as root: sudo "),
        "{}",
        ended.err
    );
    holds_nothing(&disk);
}

/// axboe/fio#1637: a partition table, or a file system, is overwritten without an option that forces it.
#[test]
fn fio_1637_devices_with_a_partition_table_need_consent() {
    need_disk!("mkfs.ext4");
    let gpt: &[(u64, &[u8])] = &[BOOT, (512, b"EFI PART"), (16 * MIB - 512, b"EFI PART")];
    let mbr: &[(u64, &[u8])] = &[BOOT, (0x1BE, &[0x80, 0, 2, 0, 0x83])];
    for (format, pieces) in [("GPT", gpt), ("MBR", mbr)] {
        let disk = Disk::holding(16 * MIB, pieces);
        let target = target(&disk, "ext4");
        refuses(&disk, 3, &["run", "smoke", &target], &[&format!("it holds {format}")]);
        let said = ["--destroy-data", "--confirm", "16 MiB"];
        let ended = run(&disk, &[&["run", "smoke", &target, "--rounds", "1"], &said[..]].concat());
        assert_eq!(ended.status, Some(0), "{format}: {}", ended.err);
        holds_no_file_system(&disk);
    }
}

/// axboe/fio#150: the writes destroyed the boot sector, and the boot loader with it.
#[test]
fn fio_150_devices_with_a_boot_sector_need_consent() {
    need_disk!();
    let disk = Disk::holding(16 * MIB, &[(0, b"\xEB\x63\x90GRUB"), BOOT]);
    refuses(&disk, 3, &["run", "smoke", &target(&disk, "ext4")], &["it holds MBR partition table or boot sector"]);
    refuses(&disk, 3, &["write_8192", disk.text()], &["is a device"]);
}

/// louwrentius/fio-plot#23: any test that writes overwrites a device without a warning.
#[test]
fn fio_plot_23_presets_do_not_write_to_raw_devices() {
    need_disk!();
    let disk = Disk::new(16 * MIB);
    for preset in ["quick", "classic1983", "lfs", "tlpi", "vaxmix", "smoke"] {
        let words = ["is a block device; this command measures file systems", "new:ext4@"];
        refuses(&disk, 2, &["run", preset, disk.text()], &words);
    }
}

/// tytso/e2fsprogs#241: a drive with NTFS, which this system cannot even mount.
#[test]
fn e2fsprogs_241_foreign_file_systems_need_consent() {
    need_disk!();
    let disk = Disk::holding(16 * MIB, &[(3, b"NTFS    "), BOOT]);
    refuses(&disk, 3, &["run", "smoke", &target(&disk, "ext4")], &["it holds ntfs"]);
}

/// Starosdev/scrutiny#228: it tests every disk that it finds, also the members of pools, which no list of mounts shows.
/// Before that (#219), it created a file in /dev.
#[test]
fn scrutiny_228_pool_members_need_consent() {
    need_disk!();
    let uberblock: &[u8] = &[0x0C, 0xB1, 0xBA, 0, 0, 0, 0, 0];
    let disk = Disk::holding(16 * MIB, &[(0x2_1000, uberblock)]);
    refuses(&disk, 3, &["run", "smoke", &target(&disk, "ext4")], &["it holds zfs"]);
    let missing = "/dev/diskperf-no-such-device";
    for arguments in
        [&["run", "smoke", &format!("new:ext4@{missing}")][..], &["run", "smoke", missing], &["write_8192", missing]]
    {
        refuses(&disk, 2, arguments, &["there is no device", "nothing was created"]);
        assert!(!Path::new(missing).exists());
    }
}

/// Seen in fio: it writes to the file behind a mounted loop device.
#[test]
fn files_shown_by_loop_devices_are_not_written() {
    need_disk!();
    let disk = Disk::new(16 * MIB);
    let link = disk.folder.path().join("link");
    symlink(&disk.file, &link).expect("a link");
    fs::write(disk.folder.path().join("old"), "old").expect("a file");
    for name in ["disk", "link"] {
        for program in ["write_4096", "write_8192", "rewrite_8192"] {
            refuses(&disk, 3, &[program, name], &["is the backing file of loop", "would overwrite it"]);
        }
        refuses(&disk, 3, &["copy", "old", name], &["is the backing file of loop"]);
        refuses(&disk, 3, &["run", "smoke", "sim:flat", "--json", "-o", name], &["is the backing file of loop"]);
        refuses(&disk, 2, &["run", "smoke", &format!("new:ext4@{name}")], &["is not a block device"]);
    }
    assert_eq!(run(&disk, &["read_8192", "disk"]).status, Some(0), "reading is allowed");
}

#[test]
fn a_new_file_system_is_measured_in_two_consecutive_runs() {
    need_disk!("mkfs.ext4", "mkfs.btrfs");
    for (file_system, mib) in [("ext4", 32), ("btrfs", 128)] {
        let disk = Disk::new(mib * MIB);
        let target = format!("a={},tune=read_ahead_kb:64", target(&disk, file_system));
        for _ in 0..2 {
            let ended = run(&disk, &["run", "smoke", &target, "--rounds", "1", "--json"]);
            assert_eq!(ended.status, Some(0), "{}", ended.err);
            assert!(ended.err.contains("its signature is erased afterwards"), "{}", ended.err);
            let document: Value = serde_json::from_str(&ended.out).expect("a document");
            let cells = document["cells"].as_array().expect("cells");
            assert!(!cells.is_empty() && cells.iter().all(|cell| cell["measured"] == true), "{document:#}");
            let info = &document["run"]["targets"][0];
            assert_eq!((&info["file_system"], &info["name"]), (&Value::from(file_system), &Value::from("a")));
            assert_eq!(info["device"], disk.text().trim_start_matches("/dev/"));
            assert_eq!(info["tuning"], "read_ahead_kb:64");
            holds_nothing(&disk);
        }
    }
}

#[test]
fn classic1983_recreates_the_file_system_before_each_program() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(64 * MIB);
    let options = "new:ext4,block=1KiB,mount=noatime,mkfs=-m 0";
    let target = format!("{options}@{}", disk.text());
    let ended = run(&disk, &["run", "classic1983", &target, "--size", "1MiB", "--rounds", "2", "--json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let document: Value = serde_json::from_str(&ended.out).expect("a document");
    let info = &document["run"]["targets"][0];
    assert_eq!(info["before_each"], "re-created (mkfs) before each test");
    assert!(info["mount_options"].as_array().expect("options").contains(&Value::from("noatime")));
    holds_nothing(&disk);
}

#[test]
fn a_dry_run_shows_the_plan_and_writes_nothing() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let (target, before) = (target(&disk, "ext4"), bytes(&disk));
    let plan = |said: &[&str]| run(&disk, &[&["run", "smoke", &target, "--dry-run"], said].concat());
    let ended = plan(&[]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    for words in ["makes ext4 on ", disk.text(), "(16 MiB)", "mkfs.ext4 -q -F", "its signature is erased"] {
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
    assert!(ended.out.contains("write_8192 on "), "{}", ended.out);
    assert!(bytes(&disk) == before);
    run_tool("mkfs.ext4", &["-q", "-F", disk.text()]);
    refuses(&disk, 3, &["run", "smoke", &target, "--dry-run"], &["it holds ext4"]);
    let before = bytes(&disk);
    let ended = plan(&["--destroy-data"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("destroys the data on ") && ended.err.contains("it holds ext4"), "{}", ended.err);
    assert!(bytes(&disk) == before);
}

#[test]
fn a_kept_file_system_stays_on_the_device() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let ended = run(&disk, &["run", "smoke", &target(&disk, "ext4"), "--rounds", "1", "--keep"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains(&format!("on {}", disk.text())) && is_ext4(&disk), "{}", ended.err);
}

/// Starts a run that takes a long time.
fn start(disk: &Disk) -> Child {
    testkit::command(&program())
        .args(["run", "smoke", &target(disk, "ext4"), "--rounds", "100000", "--json"])
        .current_dir(disk.folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started")
}

#[test]
fn a_stop_erases_the_file_system_and_a_kill_leaves_it() {
    need_disk!("mkfs.ext4", "kill");
    let disk = Disk::new(16 * MIB);
    let child = start(&disk);
    wait_until("there is a file system", || is_ext4(&disk));
    run_tool("kill", &["-INT", &child.id().to_string()]);
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(document["run"]["interrupted"], true);
    holds_nothing(&disk);

    let mut child = start(&disk);
    wait_until("there is a file system", || is_ext4(&disk));
    child.kill().and_then(|()| child.wait()).expect("killed");
    // The kernel unmounts with the last process that saw it.
    let target = target(&disk, "ext4");
    wait_until("it is unmounted", || {
        run(&disk, &["run", "smoke", &target]).err.contains("overwritten: it holds ext4\n")
    });
    let ended = run(&disk, &["run", "smoke", &target, "--rounds", "1", "--destroy-data", "--confirm", "16MiB"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    holds_no_file_system(&disk);
}

#[test]
fn invalid_targets_are_refused_with_the_reason() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let at = disk.text();
    let cases: [(String, i32, &[&str]); 8] = [
        ("new:ext4".to_owned(), 2, &["no device is named"]),
        (format!("new:ext4,size=1GiB@{at}"), 2, &["unknown key size", "block, mount, mkfs, tune"]),
        (format!("new:zzfs@{at}"), 2, &["mkfs.zzfs is not installed"]),
        (format!("new:ext4,mkfs=-J device=x@{at}"), 2, &["writes only to the target"]),
        (format!("new:ext4,mkfs=-O frobnicate@{at}"), 2, &["mkfs.ext4 says: "]),
        (format!("new:ext4,mount=frobnicate@{at}"), 2, &["cannot mount ext4"]),
        ("new:ext4@.".to_owned(), 2, &["is not a block device"]),
        (format!("new:ext4,tune=a:b@{at},tune=a:b"), 2, &["tune is given twice"]),
    ];
    for (target, status, words) in &cases {
        let ended = run(&disk, &["run", "smoke", target]);
        assert_eq!(ended.status, Some(*status), "{target}: {}", ended.err);
        for word in words.iter().chain(&["hint: "]) {
            assert!(ended.err.contains(word), "{target} says nothing of {word:?}: {}", ended.err);
        }
        holds_nothing(&disk);
    }
    let ended = run(&disk, &["run", "smoke", "--size", "64MiB", &target(&disk, "ext4")]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    let ended = run(&disk, &["run", "smoke", &target(&disk, "ext4"), "--confirm", "16MiB"]);
    assert_eq!(ended.status, Some(2), "--confirm is of use with --destroy-data only: {}", ended.err);
    holds_nothing(&disk);
}

/// Options that mkfs or the kernel refuses are found before anything is erased.
#[test]
fn invalid_options_destroy_no_data() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    run_tool("mkfs.ext4", &["-q", "-F", "-L", "photos", disk.text()]);
    for (options, said) in [("mkfs=-O frobnicate", "mkfs.ext4 says: "), ("mount=frobnicate", "cannot mount ext4")] {
        let target = format!("new:ext4,{options}@{}", disk.text());
        let arguments = ["run", "smoke", &target, "--rounds", "1", "--destroy-data", "--confirm", "16 MiB"];
        refuses(&disk, 2, &arguments, &[said]);
    }
}

#[test]
fn two_targets_on_one_device_are_refused() {
    need_disk!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let link = disk.folder.path().join("link");
    symlink(disk.node(), &link).expect("a link");
    let again = format!("again=new:ext4,mkfs=-m 0@{}", link.display());
    let first = target(&disk, "ext4");
    for solo in [&[][..], &["--solo"]] {
        let arguments = [&["run", "smoke", &first, &again], solo].concat();
        refuses(&disk, 2, &arguments, &["and again are the same device"]);
    }
}

#[test]
fn the_root_directory_needs_consent() {
    need_disk!("mkfs.ext4");
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let before = names_in(Path::new("/"));
    for arguments in
        [&["run", "smoke", "/"][..], &["run", "smoke", "/usr/.."], &["run", "smoke", "image:ext4,size=64MiB,dir=/"]]
    {
        let ended = testkit::run(&program(), scratch.path(), arguments);
        assert_eq!(ended.status, Some(3), "{}", ended.err);
        assert!(ended.err.contains("is the root directory") && ended.err.contains("hint: "), "{}", ended.err);
    }
    let ended = testkit::run(&program(), Path::new("/"), &["smallfb", "1", "1"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    let ended = testkit::run(&program(), scratch.path(), &["run", "smoke", "/", "--dry-run"]);
    assert_eq!(ended.status, Some(0), "the plan writes nothing: {}", ended.err);
    assert_eq!(names_in(Path::new("/")), before);
}

#[test]
fn nothing_outside_of_the_private_folder_is_changed() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let target = scratch.path().join("target");
    fs::create_dir(&target).and_then(|()| fs::write(target.join("mine"), "mine")).expect("a file that is not ours");
    let mut child = testkit::command(&program())
        .args(["run", "smoke", "--rounds", "100000"])
        .current_dir(&target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program can be started");
    let ours = || names_in(&target).into_iter().find(|name| name.starts_with(".diskperf-"));
    wait_until("it has a folder", || ours().is_some());
    let folder = target.join(ours().expect("its folder"));
    let mode = fs::symlink_metadata(&folder).expect("its folder").mode();
    // A link to other data is put in its place.
    let other = scratch.path().join("other");
    fs::create_dir(&other).and_then(|()| fs::write(other.join("precious"), "precious")).expect("a file of another's");
    fs::rename(&folder, scratch.path().join("moved")).and_then(|()| symlink(&other, &folder)).expect("replaced");
    run_tool("kill", &["-INT", &child.id().to_string()]);
    child.wait().expect("its end");
    assert_eq!(mode & 0o7777, 0o700);
    assert_eq!(names_in(&other), ["precious"]);
    assert_eq!(fs::read(target.join("mine")).expect("untouched"), b"mine");
}
