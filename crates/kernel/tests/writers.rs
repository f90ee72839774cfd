//! A device that another process has open for writing is in use, and so is a device whose file is open for writing.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use kernel::guard::{Permission, inspect};
use kernel::{Cleared, guard::GuardFault};
use rustix::process::{Pid, Signal, kill_process};
use testkit::loop_disk::{Disk, LoopDisk};
use testkit::{need_disk, wait_until};

const MIB: u64 = 1 << 20;

/// A program that has a file open, and is not a descendant of this process: its parent has ended.
struct Stranger(Pid);

impl Stranger {
    /// Starts a program with this redirection of the shell: `>`, `<` or `<>`.
    fn opening(redirection: &str, path: &Path) -> Stranger {
        let stranger = Stranger::start(&format!("sleep 3600 {redirection}\"$1\""), path);
        wait_until("it runs its own program", || stranger.runs_program("sleep"));
        stranger
    }

    /// Starts a shell command; the path is its `$1`.
    fn start(command: &str, path: &Path) -> Stranger {
        let script = format!("{command} 2>/dev/null 3>&- & echo $! >&3");
        let folder = tempfile::tempdir().expect("a scratch folder");
        let told = folder.path().join("pid");
        let file = std::fs::File::create(&told).expect("a file");
        let status = testkit::command(&PathBuf::from("/bin/sh"))
            .args(["-c", &format!("exec 3>&1 >/dev/null; {script}"), "sh", path.to_str().expect("a plain path")])
            .stdin(Stdio::null())
            .stdout(file)
            .status()
            .expect("a shell");
        assert!(status.success());
        let pid = std::fs::read_to_string(&told).expect("its number").trim().parse().expect("a number");
        Stranger(Pid::from_raw(pid).expect("a number"))
    }

    fn runs_program(&self, name: &str) -> bool {
        let comm = std::fs::read_to_string(format!("/proc/{}/comm", self.0.as_raw_nonzero()));
        comm.is_ok_and(|comm| comm.trim() == name)
    }

    fn description(&self) -> String {
        format!("open for writing in process {} (sleep)", self.0.as_raw_nonzero())
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}

fn reasons(node: &Path) -> Vec<String> {
    inspect(node).expect("it can be looked at").reasons().iter().map(ToString::to_string).collect()
}

#[test]
fn devices_open_for_writing_are_refused_naming_the_process() {
    need_disk!();
    for redirection in [">", "<>"] {
        let disk = Disk::new(8 * MIB);
        let looked = inspect(disk.node()).expect("a device");
        let stranger = Stranger::opening(redirection, disk.node());
        assert_eq!(reasons(disk.node()), [format!("it is {}", stranger.description())]);
        // The process came after the inspection, and no permission overrides it.
        for leave in [Permission::None, Permission::Destroy(looked.identity())] {
            let outcome = Cleared::acquire(&looked, &leave);
            assert!(
                matches!(&outcome, Err(GuardFault::Refused { reasons, .. }) if !reasons[0].can_be_lifted()),
                "{outcome:?}"
            );
        }
        drop(stranger);
        wait_until("it is closed", || reasons(disk.node()).is_empty());
        Cleared::acquire(&looked, &Permission::None).expect("leave");
    }
}

#[test]
fn devices_open_for_reading_are_not_in_use() {
    need_disk!();
    let disk = Disk::new(8 * MIB);
    let _stranger = Stranger::opening("<", disk.node());
    assert_eq!(reasons(disk.node()), [""; 0]);
}

#[test]
fn devices_below_and_above_one_open_for_writing_are_refused() {
    need_disk!();
    let disk = Disk::new(8 * MIB);
    let above = LoopDisk::attach(disk.node()).expect("a loop device on a loop device");
    let name = |device: &Path| device.file_name().expect("a name").to_string_lossy().into_owned();
    let stranger = Stranger::opening("<>", above.node());
    let said = reasons(disk.node());
    assert!(
        said.contains(&format!("{}, which is on top of it, is {}", name(above.node()), stranger.description())),
        "{said:?}"
    );
    drop(stranger);
    wait_until("it is closed", || reasons(above.node()).is_empty());
    let stranger = Stranger::opening("<>", disk.node());
    assert_eq!(reasons(above.node()), [format!("{}, which is below it, is {}", disk.name(), stranger.description())]);
}

/// Like a running virtual machine, which has its image open.
#[test]
fn loop_devices_on_files_open_for_writing_are_refused() {
    need_disk!();
    let disk = Disk::new(8 * MIB);
    let stranger = Stranger::opening("<>", &disk.file);
    let shows = format!("it has a backing file that is {}", stranger.description());
    assert_eq!(reasons(disk.node()), [shows]);
    drop(stranger);
    wait_until("it is closed", || reasons(disk.node()).is_empty());
    let _reader = Stranger::opening("<", &disk.file);
    assert_eq!(reasons(disk.node()), [""; 0]);
}

#[test]
fn our_own_and_inherited_descriptors_do_not_count_as_use() {
    need_disk!();
    let disk = Disk::new(8 * MIB);
    let own = std::fs::File::options().write(true).open(disk.node()).expect("the device");
    let mut child = testkit::command(&PathBuf::from("sleep"))
        .arg("3600")
        .stdin(Stdio::null())
        .stdout(own.try_clone().expect("the device once more"))
        .spawn()
        .expect("a child");
    let said = reasons(disk.node());
    child.kill().and_then(|()| child.wait()).expect("its end");
    assert_eq!(said, [""; 0]);
}

/// The variable that names the device for the child process of the next test.
const DEVICE: &str = "DISKPERF_TEST_DEVICE";

#[test]
fn threads_with_their_own_descriptor_table_are_found() {
    need_disk!();
    let disk = Disk::new(8 * MIB);
    let own = std::env::current_exe().expect("this program");
    let own = own.to_str().expect("a plain path");
    let command = format!("{DEVICE}=\"$1\" {own} --ignored --exact child_whose_thread_has_the_device_open");
    let stranger = Stranger::start(&command, disk.node());
    let said = format!("it is open for writing in process {} (", stranger.0.as_raw_nonzero());
    wait_until("its thread is seen", || reasons(disk.node()).iter().any(|reason| reason.starts_with(&said)));
    // The main thread does not have the device open.
    let process = format!("/proc/{}/fd", stranger.0.as_raw_nonzero());
    let links = std::fs::read_dir(process).expect("its descriptors").flatten();
    assert!(links.filter_map(|link| std::fs::read_link(link.path()).ok()).all(|link| link != disk.node()));
}

#[test]
#[ignore = "the other half of threads_with_their_own_descriptor_table_are_found"]
fn child_whose_thread_has_the_device_open() {
    let device = std::env::var_os(DEVICE).expect("a device");
    let thread = std::thread::spawn(move || {
        // SAFETY: this thread uses no descriptor that another thread closes.
        unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::FILES) }.expect("its own descriptors");
        let _open = std::fs::File::options().write(true).open(device).expect("the device");
        std::thread::sleep(std::time::Duration::from_secs(3600));
    });
    thread.join().expect("it sleeps until the process is killed");
}
