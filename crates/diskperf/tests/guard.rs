//! The guard as a person meets it: published accidents replayed by their numbers, what has to be said before a
//! device is overwritten, and what is left of it afterwards. What the guard sees of devices is tested one by one in
//! `crates/kernel/tests/guard.rs`.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use kernel::may_administer;
use serde_json::Value;
use tempfile::TempDir;
use testkit::disk::LoopDisk;
use testkit::{Ended, names_in, skip, soon};

const MIB: u64 = 1 << 20;

fn program() -> PathBuf {
    testkit::program(env!("CARGO_BIN_EXE_diskperf"))
}

macro_rules! need {
    ($($tool:expr),*) => {
        if !may_administer() || !Path::new("/dev/loop-control").exists() {
            return skip!("needs root and loop devices");
        }
        $(if !testkit::has_tool($tool) {
            return skip!("{} is not installed", $tool);
        })*
    };
}

/// A disk of the test's own: a loop device on a file with holes.
struct Disk {
    // Dropped from the first to the last: detached, gone.
    device: LoopDisk,
    file: PathBuf,
    folder: TempDir,
}

impl Disk {
    fn new(bytes: u64) -> Disk {
        Disk::holding(bytes, &[])
    }

    /// A disk with these bytes at these places.
    fn holding(bytes: u64, pieces: &[(u64, &[u8])]) -> Disk {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("disk");
        let file = File::create(&path).expect("a file");
        file.set_len(bytes).expect("its size");
        pieces.iter().for_each(|(at, piece)| file.write_all_at(piece, *at).expect("written"));
        file.sync_all().expect("durable");
        Disk { device: LoopDisk::attach(&path).expect("a loop device"), file: path, folder }
    }

    fn text(&self) -> &str {
        self.device.node().to_str().expect("a plain path")
    }

    fn target(&self, file_system: &str) -> String {
        format!("new:{file_system}@{}", self.text())
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        testkit::run(&program(), self.folder.path(), arguments)
    }

    /// All its bytes.
    fn bytes(&self) -> Vec<u8> {
        rustix::fs::sync();
        fs::read(&self.file).expect("its bytes")
    }

    /// The command is refused with this status, says these words and a hint, and leaves every byte.
    fn refuses(&self, status: i32, arguments: &[&str], words: &[&str]) -> Ended {
        let before = self.bytes();
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(status), "{arguments:?}: {} {}", ended.out, ended.err);
        for word in words.iter().chain(&["hint: "]) {
            assert!(ended.err.contains(word), "{arguments:?} says nothing of {word:?}: {}", ended.err);
        }
        assert!(self.bytes() == before, "{arguments:?}: something was written");
        ended
    }

    /// Nothing tells that anything was ever made on it.
    fn holds_nothing(&self) {
        let inspected = kernel::guard::inspect(self.device.node()).expect("it can be looked at");
        assert_eq!(inspected.reasons(), []);
    }

    fn is_ext4(&self) -> bool {
        self.bytes()[1024 + 0x38..][..2] == [0x53, 0xEF]
    }
}

fn tool(name: &str, arguments: &[&str]) {
    let path = testkit::tool(name).expect("it is installed");
    let ended = testkit::run(&path, Path::new("/"), arguments);
    assert_eq!(ended.status, Some(0), "{name} {arguments:?}: {}", ended.err);
}

/// What is mounted goes with this, also where the test fails.
struct Mounted(String);

impl Mounted {
    fn at(disk: &Disk) -> Mounted {
        let folder = disk.folder.path().join("mount");
        fs::create_dir(&folder).expect("a folder");
        let folder = folder.to_str().expect("a plain path").to_owned();
        tool("mount", &["-o", "ro", disk.text(), &folder]);
        Mounted(folder)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        tool("umount", &[&self.0]);
    }
}

const BOOT: (u64, &[u8]) = (510, &[0x55, 0xAA]);

/// axboe/fio#1007: a command copied from somewhere names a disk that is mounted.
#[test]
fn fio_1007_a_mounted_device() {
    need!("mkfs.ext4", "mount", "umount");
    let disk = Disk::new(16 * MIB);
    tool("mkfs.ext4", &["-q", "-F", disk.text()]);
    let mounted = Mounted::at(&disk);
    let said = format!("it is mounted at {}", mounted.0);
    disk.refuses(3, &["run", "smoke", &disk.target("ext4")], &[&said, "hint: unmount it: umount "]);
    // Whatever else is said.
    disk.refuses(3, &["run", "smoke", &disk.target("ext4"), "--destroy-data", "--confirm", "16 MiB"], &[&said]);
    disk.refuses(3, &["run", "smoke", &disk.target("ext4"), "--destroy-data", "--dry-run"], &[&said]);
    disk.refuses(2, &["run", "smoke", disk.text()], &["is a block device"]);
    for program in ["write_4096", "write_8192", "rewrite_8192"] {
        disk.refuses(3, &[program, disk.text()], &["is a device, and this would overwrite it"]);
    }
    disk.refuses(3, &["copy", "/etc/passwd", disk.text()], &["is a device, and this would overwrite it"]);
}

/// axboe/fio#1382: the disk of a mounted partition. The kernel here gives loop devices no partitions: that of a
/// recorded machine is in `crates/kernel/src/guard/decide/tests.rs`. What stands for it is a device on which another
/// lies that is mounted.
#[test]
fn fio_1382_a_device_below_a_mounted_one() {
    need!("mkfs.ext4", "mount", "umount");
    let disk = Disk::new(16 * MIB);
    tool("mkfs.ext4", &["-q", "-F", disk.text()]);
    let above = LoopDisk::attach(disk.device.node()).expect("a loop device on it");
    let folder = disk.folder.path().join("mount");
    fs::create_dir(&folder).expect("a folder");
    let folder = folder.to_str().expect("a plain path").to_owned();
    tool("mount", &["-o", "ro", above.node().to_str().expect("a plain path"), &folder]);
    let mounted = Mounted(folder);
    let said = format!("which lies on it, is mounted at {}", mounted.0);
    disk.refuses(3, &["run", "smoke", &disk.target("ext4"), "--destroy-data", "--confirm", "16 MiB"], &[&said]);
}

/// axboe/fio#1550: nobody asks whether a raw device is meant that holds data.
#[test]
fn fio_1550_a_device_that_holds_data_is_asked_for() {
    need!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    tool("mkfs.ext4", &["-q", "-F", "-L", "photos", disk.text()]);
    let target = disk.target("ext4");
    let says = ["it holds ext4 \"photos\"", "--destroy-data --confirm '16 MiB'"];
    disk.refuses(3, &["run", "smoke", &target], &says);
    // One document, also of what was refused.
    let ended = disk.refuses(3, &["run", "smoke", &target, "--json"], &says);
    let document: Value = serde_json::from_str(&ended.out).expect("a document");
    assert!(document["errors"][0]["message"].as_str().is_some_and(|message| message.contains("it holds ext4")));
    assert!(document["errors"][0]["hint"].as_str().is_some_and(|hint| hint.contains("--destroy-data")));
    // Nobody can type here, so nobody has said which device is meant.
    disk.refuses(3, &["run", "smoke", &target, "--destroy-data"], &["is not its size", "--confirm"]);
    for words in ["yes", "32 MiB", "/dev/sda", ""] {
        let arguments = ["run", "smoke", &target, "--destroy-data", "--confirm", words];
        disk.refuses(3, &arguments, &["is not its size"]);
    }
    let ended = disk.run(&["run", "smoke", &target, "--rounds", "1", "--destroy-data", "--confirm", "16MiB"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("destroys what is on ") && ended.err.contains("\"photos\""), "{}", ended.err);
    disk.holds_nothing();
}

/// Two disks with the same words on them: whoever names one has not named the other.
#[test]
fn each_device_is_named_by_words_of_its_own() {
    need!("mkfs.ext4");
    let disks = [Disk::new(16 * MIB), Disk::new(16 * MIB)];
    disks.iter().for_each(|disk| tool("mkfs.ext4", &["-q", "-F", disk.text()]));
    let [first, second] = disks.each_ref().map(|disk| disk.target("ext4"));
    let run = ["run", "smoke", &first, &second, "--rounds", "1", "--destroy-data"];
    let named = ["--confirm", "16 MiB"];
    let before = disks[1].bytes();
    disks[0].refuses(3, &[&run[..], &named].concat(), &[disks[1].text(), "is not its size"]);
    assert!(disks[1].bytes() == before);
    let ended = disks[0].run(&[&run[..], &named, &named].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    disks.iter().for_each(Disk::holds_nothing);
}

/// The question, where somebody can type.
#[test]
fn a_person_types_what_is_printed_on_the_device() {
    need!("mkfs.ext4", "script");
    let disk = Disk::new(16 * MIB);
    tool("mkfs.ext4", &["-q", "-F", disk.text()]);
    let before = disk.bytes();
    let words = format!("{} run smoke {} --rounds 1 --destroy-data", program().display(), disk.target("ext4"));
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
        assert!(disk.bytes() == before);
    }
    let (status, said) = typed("16 MiB\n");
    assert_eq!(status, Some(0), "{said}");
    disk.holds_nothing();
}

#[test]
fn without_rights_the_way_to_get_them_is_said() {
    need!("setpriv");
    let disk = Disk::new(16 * MIB);
    // Where another user finds the program, whatever the rights of the folders it was built in.
    let copy = disk.folder.path().join("diskperf");
    testkit::copy_of_program(&program(), &copy);
    for path in [copy.as_path(), disk.folder.path()] {
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("rights");
    }
    let user = ["--reuid=54321", "--regid=54321", "--clear-groups", "--no-new-privs"];
    let command = [copy.to_str().expect("a plain path"), "run", "smoke", &disk.target("ext4")];
    let ended = testkit::run(Path::new("setpriv"), disk.folder.path(), &[&user[..], &command].concat());
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(
        ended.err.contains("cannot look at ") && ended.err.contains("hint: run it as root: sudo "),
        "{}",
        ended.err
    );
    disk.holds_nothing();
}

/// axboe/fio#1637: a partition table, or a file system, is overwritten without being forced to.
#[test]
fn fio_1637_a_partition_table() {
    need!("mkfs.ext4");
    let gpt: &[(u64, &[u8])] = &[BOOT, (512, b"EFI PART"), (16 * MIB - 512, b"EFI PART")];
    let mbr: &[(u64, &[u8])] = &[BOOT, (0x1BE, &[0x80, 0, 2, 0, 0x83])];
    for (format, pieces) in [("GPT", gpt), ("MBR", mbr)] {
        let disk = Disk::holding(16 * MIB, pieces);
        let target = disk.target("ext4");
        disk.refuses(3, &["run", "smoke", &target], &[&format!("it holds {format}")]);
        let said = ["--destroy-data", "--confirm", "16 MiB"];
        let ended = disk.run(&[&["run", "smoke", &target, "--rounds", "1"], &said[..]].concat());
        assert_eq!(ended.status, Some(0), "{format}: {}", ended.err);
        disk.holds_nothing();
    }
}

/// axboe/fio#150: the boot sector went with the writes, and the boot loader with it.
#[test]
fn fio_150_a_boot_sector() {
    need!();
    let disk = Disk::holding(16 * MIB, &[(0, b"\xEB\x63\x90GRUB"), BOOT]);
    disk.refuses(3, &["run", "smoke", &disk.target("ext4")], &["it holds MBR partition table or boot sector"]);
    disk.refuses(3, &["write_8192", disk.text()], &["is a device"]);
}

/// louwrentius/fio-plot#23: any test that writes, on a device, without a warning.
#[test]
fn fio_plot_23_no_preset_writes_to_a_device() {
    need!();
    let disk = Disk::new(16 * MIB);
    for preset in ["quick", "classic1983", "lfs", "tlpi", "smoke"] {
        let words = ["is a block device, and this measures through a file system", "new:ext4@"];
        disk.refuses(2, &["run", preset, disk.text()], &words);
    }
}

/// tytso/e2fsprogs#241: a drive with NTFS on it, which this system cannot even mount.
#[test]
fn e2fsprogs_241_a_file_system_of_another_system() {
    need!();
    let disk = Disk::holding(16 * MIB, &[(3, b"NTFS    "), BOOT]);
    disk.refuses(3, &["run", "smoke", &disk.target("ext4")], &["it holds ntfs"]);
}

/// Starosdev/scrutiny#228: every disk that is found is tested, also the members of pools that no list of mounts
/// shows; and before that (#219) a file was made in /dev.
#[test]
fn scrutiny_228_a_member_of_a_pool() {
    need!();
    let uberblock: &[u8] = &[0x0C, 0xB1, 0xBA, 0, 0, 0, 0, 0];
    let disk = Disk::holding(16 * MIB, &[(0x2_1000, uberblock)]);
    disk.refuses(3, &["run", "smoke", &disk.target("ext4")], &["it holds zfs"]);
    let missing = "/dev/diskperf-no-such-device";
    for arguments in
        [&["run", "smoke", &format!("new:ext4@{missing}")][..], &["run", "smoke", missing], &["write_8192", missing]]
    {
        disk.refuses(2, arguments, &["there is no device", "nothing was created"]);
        assert!(!Path::new(missing).exists());
    }
}

/// Probed of fio: the file behind a mounted loop device is written to.
#[test]
fn a_file_that_a_loop_device_shows_is_no_file_to_write_to() {
    need!();
    let disk = Disk::new(16 * MIB);
    let link = disk.folder.path().join("link");
    symlink(&disk.file, &link).expect("a link");
    fs::write(disk.folder.path().join("old"), "old").expect("a file");
    for name in ["disk", "link"] {
        for program in ["write_4096", "write_8192", "rewrite_8192"] {
            disk.refuses(3, &[program, name], &["is what loop", "and this would overwrite it"]);
        }
        disk.refuses(3, &["copy", "old", name], &["is what loop"]);
        disk.refuses(3, &["run", "smoke", "sim:flat", "--json", "-o", name], &["is what loop"]);
        disk.refuses(2, &["run", "smoke", &format!("new:ext4@{name}")], &["is no block device"]);
    }
    assert_eq!(disk.run(&["read_8192", "disk"]).status, Some(0), "reading harms nobody");
}

#[test]
fn a_fresh_file_system_on_a_device_is_measured_and_the_next_run_is_possible() {
    need!("mkfs.ext4", "mkfs.btrfs");
    for (file_system, mib) in [("ext4", 32), ("btrfs", 128)] {
        let disk = Disk::new(mib * MIB);
        let target = format!("a={},tune=read_ahead_kb:64", disk.target(file_system));
        for _ in 0..2 {
            let ended = disk.run(&["run", "smoke", &target, "--rounds", "1", "--json"]);
            assert_eq!(ended.status, Some(0), "{}", ended.err);
            assert!(ended.err.contains("its signature is erased afterwards"), "{}", ended.err);
            let document: Value = serde_json::from_str(&ended.out).expect("a document");
            let cells = document["cells"].as_array().expect("cells");
            assert!(!cells.is_empty() && cells.iter().all(|cell| cell["measured"] == true), "{document:#}");
            let info = &document["run"]["targets"][0];
            assert_eq!((&info["file_system"], &info["name"]), (&Value::from(file_system), &Value::from("a")));
            assert_eq!(info["device"], disk.text().trim_start_matches("/dev/"));
            assert_eq!(info["tuning"], "read_ahead_kb:64");
            disk.holds_nothing();
        }
    }
}

#[test]
fn the_1983_preset_makes_it_anew_before_each_program() {
    need!("mkfs.ext4");
    let disk = Disk::new(64 * MIB);
    let options = "new:ext4,block=1KiB,mount=noatime,mkfs=-m 0";
    let target = format!("{options}@{}", disk.text());
    let ended = disk.run(&["run", "classic1983", &target, "--size", "1MiB", "--rounds", "2", "--json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let document: Value = serde_json::from_str(&ended.out).expect("a document");
    let info = &document["run"]["targets"][0];
    assert_eq!(info["before_each"], "made anew before each program");
    assert!(info["mount_options"].as_array().expect("options").contains(&Value::from("noatime")));
    disk.holds_nothing();
}

#[test]
fn the_plan_is_shown_and_nothing_done() {
    need!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let (target, before) = (disk.target("ext4"), disk.bytes());
    let plan = |said: &[&str]| disk.run(&[&["run", "smoke", &target, "--dry-run"], said].concat());
    let ended = plan(&[]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    for words in ["makes ext4 on ", disk.text(), "(16 MiB)", "mkfs.ext4 -q -F", "its signature is erased"] {
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
    assert!(ended.out.contains("write_8192 on "), "{}", ended.out);
    assert!(disk.bytes() == before);
    tool("mkfs.ext4", &["-q", "-F", disk.text()]);
    disk.refuses(3, &["run", "smoke", &target, "--dry-run"], &["it holds ext4"]);
    let before = disk.bytes();
    let ended = plan(&["--destroy-data"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("destroys what is on ") && ended.err.contains("it holds ext4"), "{}", ended.err);
    assert!(disk.bytes() == before);
}

#[test]
fn a_file_system_is_left_there_where_it_is_to_be_kept() {
    need!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let ended = disk.run(&["run", "smoke", &disk.target("ext4"), "--rounds", "1", "--keep"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains(&format!("on {}", disk.text())) && disk.is_ext4(), "{}", ended.err);
}

/// Starts a run that would go on for a long time.
fn start(disk: &Disk) -> Child {
    testkit::command(&program())
        .args(["run", "smoke", &disk.target("ext4"), "--rounds", "100000", "--json"])
        .current_dir(disk.folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started")
}

#[test]
fn being_stopped_erases_it_and_being_killed_leaves_what_the_next_run_asks_about() {
    need!("mkfs.ext4", "kill");
    let disk = Disk::new(16 * MIB);
    let child = start(&disk);
    soon("there is a file system", || disk.is_ext4());
    tool("kill", &["-INT", &child.id().to_string()]);
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(document["run"]["interrupted"], true);
    disk.holds_nothing();

    let mut child = start(&disk);
    soon("there is a file system", || disk.is_ext4());
    child.kill().and_then(|()| child.wait()).expect("killed");
    // The kernel unmounts with the last process that saw it.
    let target = disk.target("ext4");
    soon("it is unmounted", || disk.run(&["run", "smoke", &target]).err.contains("overwritten: it holds ext4\n"));
    let ended = disk.run(&["run", "smoke", &target, "--rounds", "1", "--destroy-data", "--confirm", "16MiB"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    disk.holds_nothing();
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    need!("mkfs.ext4");
    let disk = Disk::new(16 * MIB);
    let at = disk.text();
    let cases: [(String, i32, &[&str]); 8] = [
        ("new:ext4".to_owned(), 2, &["no device is named"]),
        (format!("new:ext4,size=1GiB@{at}"), 2, &["no key size", "block, mount, mkfs, tune"]),
        (format!("new:zzfs@{at}"), 2, &["no mkfs.zzfs"]),
        (format!("new:ext4,mkfs=-J device=x@{at}"), 2, &["nothing but the target is written to"]),
        (format!("new:ext4,mkfs=-O frobnicate@{at}"), 2, &["mkfs.ext4 says: "]),
        (format!("new:ext4,mount=frobnicate@{at}"), 2, &["cannot mount ext4"]),
        ("new:ext4@.".to_owned(), 2, &["is no block device"]),
        (format!("new:ext4,tune=a:b@{at},tune=a:b"), 2, &["tune is given twice"]),
    ];
    for (target, status, words) in &cases {
        let ended = disk.run(&["run", "smoke", target]);
        assert_eq!(ended.status, Some(*status), "{target}: {}", ended.err);
        for word in words.iter().chain(&["hint: "]) {
            assert!(ended.err.contains(word), "{target} says nothing of {word:?}: {}", ended.err);
        }
        disk.holds_nothing();
    }
    let ended = disk.run(&["run", "smoke", "--size", "64MiB", &disk.target("ext4")]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    let ended = disk.run(&["run", "smoke", &disk.target("ext4"), "--confirm", "16MiB"]);
    assert_eq!(ended.status, Some(2), "--confirm is of use with --destroy-data only: {}", ended.err);
    disk.holds_nothing();
}

#[test]
fn the_root_of_all_files_is_asked_about() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let before = names_in(Path::new("/"));
    for arguments in [&["run", "smoke", "/"][..], &["run", "smoke", "/usr/.."]] {
        let ended = testkit::run(&program(), scratch.path(), arguments);
        if !testkit::is_root() {
            return skip!("needs root: nobody else may write there");
        }
        assert_eq!(ended.status, Some(3), "{}", ended.err);
        assert!(ended.err.contains("is the root of all files") && ended.err.contains("hint: "), "{}", ended.err);
    }
    let ended = testkit::run(&program(), Path::new("/"), &["smallfb", "1", "1"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    let ended = testkit::run(&program(), scratch.path(), &["run", "smoke", "/", "--dry-run"]);
    assert_eq!(ended.status, Some(0), "the plan writes nothing: {}", ended.err);
    assert_eq!(names_in(Path::new("/")), before);
}

#[test]
fn in_a_directory_nothing_outside_a_private_folder_is_touched() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let target = scratch.path().join("target");
    fs::create_dir(&target).and_then(|()| fs::write(target.join("mine"), "mine")).expect("a file of somebody's");
    let mut child = testkit::command(&program())
        .args(["run", "smoke", "--rounds", "100000"])
        .current_dir(&target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program can be started");
    let ours = || names_in(&target).into_iter().find(|name| name.starts_with(".diskperf-"));
    soon("it has a folder", || ours().is_some());
    let folder = target.join(ours().expect("its folder"));
    let mode = fs::symlink_metadata(&folder).expect("its folder").mode();
    // Something of another's is put in its place.
    let other = scratch.path().join("other");
    fs::create_dir(&other).and_then(|()| fs::write(other.join("precious"), "precious")).expect("a file of another's");
    fs::rename(&folder, scratch.path().join("moved")).and_then(|()| symlink(&other, &folder)).expect("replaced");
    tool("kill", &["-INT", &child.id().to_string()]);
    child.wait().expect("its end");
    assert_eq!(mode & 0o7777, 0o700);
    assert_eq!(names_in(&other), ["precious"]);
    assert_eq!(fs::read(target.join("mine")).expect("untouched"), b"mine");
}
