//! A guest: a virtual machine with a kernel of its own, in which tests use disks and stacks that this machine does not
//! have. QEMU emulates the processors (no KVM), so processor work is ten to twenty times slower. Rates mean little
//! there; guards, states, warnings, identities and failures are those of a real kernel.
//!
//! Policy:
//!   1. `cargo xtask test` downloads the kernels and tools of the guests. Without them, or without QEMU, a test skips
//!      itself ([`need_guest!`](crate::need_guest));
//!   2. a guest starts from memory: its first file system holds the program, the named tools with their libraries, the
//!      named kernel modules with those that they need, and a script. Every command reads the script first;
//!   3. commands and their results travel over the second serial line (`guest/agent.rs`). The first line is the
//!      kernel's
//!      log. The third line is a journal: lines that must survive a power cut of the guest;
//!   4. a guest that is silent for [`SILENCE`], or ends, is an error with the end of its kernel log. A kernel that
//!      panics or has no free memory ends. A command that computes for longer is not silent: the guest reports every
//!      few seconds that it lives;
//!   5. QEMU emulates several processors at once, and sometimes one of them runs code that another one has just
//!      changed. The kernel then stops with `CHANGED_CODE`. A guest that does not boot for that reason is booted
//!      again;
//!   6. nothing is left behind. QEMU ends with the value, or with the thread that booted it. The first file system, the
//!      disks and the logs are files without names, and there is no socket.

mod agent;
mod cpio;
mod kernels;
mod modules;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::{ProgramOutput, tool};

pub use self::kernels::{FOLDER, Kernel, folder, installed, installed_as, missing_requirement};

/// Returns this kernel, or skips the test if guests cannot run here: `let kernel = need_guest!("6.1");`.
#[macro_export]
macro_rules! need_guest {
    ($version:expr) => {
        match $crate::guest::Kernel::find($version) {
            Ok(kernel) => kernel,
            Err(reason) => return $crate::skip!("{reason}"),
        }
    };
}

/// The longest silence of a guest that is not an error (4).
pub const SILENCE: Duration = Duration::from_secs(50);

/// The words in the kernel log if a processor ran a breakpoint that was there only while code was changed (5). Seen
/// once, with Linux 6.12.
const CHANGED_CODE: &str = "Oops: int3";

/// Attempts to boot a guest (5). Chosen.
const BOOTS: u32 = 3;

/// The emulator.
const QEMU: &str = "qemu-system-x86_64";

/// The last bytes of the kernel log that an error shows.
const LOG_BYTES: u64 = 6000;

/// A disk of a guest: a file on this machine.
#[derive(Debug)]
pub struct GuestDisk {
    /// The path that QEMU opens.
    path: PathBuf,
    /// The device that the guest sees, as QEMU's option `-device` names it: `nvme,serial=one`.
    device: String,
    /// More settings of QEMU's option `-drive`.
    drive: String,
}

impl GuestDisk {
    /// A disk on a file of the test.
    pub fn on_path(path: &Path, device: &str) -> GuestDisk {
        GuestDisk { path: path.to_owned(), device: device.to_owned(), drive: String::new() }
    }

    /// A disk on an open file of this process, which needs no name.
    pub fn on_file(file: &File, device: &str) -> GuestDisk {
        GuestDisk::on_path(&path_of(file), device)
    }

    /// Adds settings of QEMU's option `-drive`, such as `throttling.iops-total=100`.
    pub fn with_drive(mut self, settings: &str) -> GuestDisk {
        self.drive = format!(",{settings}");
        self
    }
}

/// The contents and the hardware of a guest.
#[derive(Debug)]
pub struct Plan {
    /// Tools of Debian's packages, by name.
    pub tools: Vec<&'static str>,
    /// Kernel modules that are loaded at the start, in this order.
    pub modules: Vec<&'static str>,
    /// Kernel modules that are in the guest and not loaded, in `/modules/NAME.ko`.
    pub unloaded: Vec<&'static str>,
    /// Other files: the path in the guest, and the file here.
    pub files: Vec<(String, PathBuf)>,
    /// Shell functions for all commands (2).
    pub script: String,
    /// Disks, in order.
    pub disks: Vec<GuestDisk>,
    /// More arguments of QEMU, before the disks: controllers, networks.
    pub arguments: Vec<String>,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// Processors.
    pub processors: u32,
}

impl Default for Plan {
    /// A guest with two processors and 768 MiB, without disks and with no tool but BusyBox.
    fn default() -> Plan {
        Plan {
            tools: Vec::new(),
            modules: Vec::new(),
            unloaded: Vec::new(),
            files: Vec::new(),
            script: String::new(),
            disks: Vec::new(),
            arguments: Vec::new(),
            memory_mib: 768,
            processors: 2,
        }
    }
}

/// A running guest. Dropping it ends its QEMU at once, which is a power cut.
#[derive(Debug)]
pub struct Guest {
    qemu: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    log: File,
    journal: File,
    silence: Duration,
    /// Kept open: QEMU reads it by its number in this process.
    _initramfs: File,
}

impl Guest {
    /// Boots a guest, and waits until it takes commands.
    pub fn boot(kernel: &Kernel, plan: &Plan) -> Result<Guest, String> {
        Guest::boot_with(kernel, plan, SILENCE)
    }

    /// As [`Guest::boot`], with another limit for its silence.
    pub fn boot_with(kernel: &Kernel, plan: &Plan, silence: Duration) -> Result<Guest, String> {
        let mut booted = Guest::boot_once(kernel, plan, silence);
        // 5
        for _ in 1..BOOTS {
            booted = match booted {
                Err(problem) if problem.contains(CHANGED_CODE) => Guest::boot_once(kernel, plan, silence),
                booted => return booted,
            };
        }
        booted
    }

    fn boot_once(kernel: &Kernel, plan: &Plan, silence: Duration) -> Result<Guest, String> {
        let mut initramfs = unnamed()?;
        initramfs.write_all(&kernel.initramfs(plan)?).map_err(|error| format!("the first file system: {error}"))?;
        let [log, journal] = [unnamed()?, unnamed()?];
        let setpriv = tool("setpriv").ok_or("setpriv is not installed")?;
        let mut command = Command::new(setpriv);
        // 6
        command.args(["--pdeathsig", "KILL", "--", QEMU]);
        command.args(arguments(kernel, plan, &path_of(&initramfs), &path_of(&log), &path_of(&journal)));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.try_clone().map_err(|error| error.to_string())?);
        let mut qemu = command.spawn().map_err(|error| format!("cannot run {QEMU}: {error}"))?;
        let (input, output) = (qemu.stdin.take().expect("piped"), qemu.stdout.take().expect("piped"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            // Ends with QEMU. A receiver that is gone needs no line.
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() {
                    break;
                }
            }
        });
        let mut guest = Guest { qemu, input, lines, log, journal, silence, _initramfs: initramfs };
        guest.wait_for_line("it did not boot", |line| (line == agent::READY).then_some(()))?;
        Ok(guest)
    }

    /// Runs a shell command to its end. An error is a guest that hangs or has ended, never a command that fails.
    pub fn run(&mut self, command: &str) -> Result<ProgramOutput, String> {
        self.run_within(command, Duration::MAX)
    }

    /// Runs a shell command that must end within this time.
    pub fn run_within(&mut self, command: &str, limit: Duration) -> Result<ProgramOutput, String> {
        self.start(command)?;
        let began = Instant::now();
        let mut reply = agent::Reply::default();
        let problem = format!("`{}` did not end", command.lines().next().unwrap_or_default());
        self.wait_for_line(&problem, |line| {
            let ended = reply.add(line);
            (ended || began.elapsed() > limit).then_some(())
        })?;
        reply.ended().ok_or_else(|| {
            self.end();
            self.failed(&format!("{problem} within {limit:?}"))
        })
    }

    /// Changes the longest silence that is not an error.
    pub fn endure(&mut self, silence: Duration) {
        self.silence = silence;
    }

    /// Starts a shell command, and does not wait for its end.
    pub fn start(&mut self, command: &str) -> Result<(), String> {
        let line = agent::encode(command);
        let sent = self.input.write_all(line.as_bytes()).and_then(|()| self.input.flush());
        sent.map_err(|_| self.failed("it takes no command"))
    }

    /// The lines that the guest has written to `/dev/ttyS2` so far (3).
    pub fn journal(&self) -> String {
        text(&self.journal, u64::MAX)
    }

    /// The end of the kernel's log.
    pub fn log(&self) -> String {
        text(&self.log, LOG_BYTES)
    }

    /// The process number of QEMU.
    pub fn pid(&self) -> u32 {
        self.qemu.id()
    }

    /// Ends QEMU at once: a power cut. Returns the journal.
    pub fn cut(mut self) -> String {
        self.end();
        self.journal()
    }

    /// Waits for a line with a value. A line of any kind is a sign of life (4).
    fn wait_for_line<T>(&mut self, problem: &str, mut take: impl FnMut(&str) -> Option<T>) -> Result<T, String> {
        loop {
            match self.lines.recv_timeout(self.silence) {
                Ok(line) => {
                    if let Some(value) = take(&line) {
                        return Ok(value);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.end();
                    return Err(self.failed(&format!("{problem}, and it was silent for {:?}", self.silence)));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.end();
                    return Err(self.failed(&format!("{problem}: the guest has ended")));
                }
            }
        }
    }

    fn failed(&self, problem: &str) -> String {
        format!("guest: {problem}\nthe end of its kernel log:\n{}", self.log())
    }

    fn end(&mut self) {
        // An error means that it has already ended.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.end();
    }
}

/// The arguments of QEMU.
fn arguments(kernel: &Kernel, plan: &Plan, initramfs: &Path, log: &Path, journal: &Path) -> Vec<String> {
    let processors = plan.processors.to_string();
    let memory = format!("{}M", plan.memory_mib);
    // Random numbers come from the processor, so that nothing waits for entropy. A panic ends the guest (4).
    let kernel_arguments = "console=ttyS0 loglevel=5 panic=-1 random.trust_cpu=on rdinit=/init net.ifnames=0";
    let [image, initramfs] = [kernel.image(), initramfs.to_owned()].map(|path| path.display().to_string());
    let [log, journal] = [log, journal].map(|path| path.display().to_string());
    let fixed = [
        "-machine",
        "q35",
        "-accel",
        "tcg,thread=multi",
        "-cpu",
        "max",
        "-smp",
        &processors,
        "-m",
        &memory,
        "-nodefaults",
        "-no-user-config",
        "-no-reboot",
        "-display",
        "none",
        "-kernel",
        &image,
        "-initrd",
        &initramfs,
        "-append",
        kernel_arguments,
        "-chardev",
        &format!("file,id=log,path={log}"),
        "-serial",
        "chardev:log",
        "-chardev",
        "stdio,id=agent,signal=off",
        "-serial",
        "chardev:agent",
        "-chardev",
        &format!("file,id=journal,path={journal}"),
        "-serial",
        "chardev:journal",
    ];
    let mut all: Vec<String> = fixed.map(str::to_owned).into();
    all.extend(plan.arguments.iter().cloned());
    for (number, disk) in plan.disks.iter().enumerate() {
        let file = disk.path.display();
        all.extend(["-drive".to_owned(), format!("if=none,id=disk{number},format=raw,file={file}{}", disk.drive)]);
        all.extend(["-device".to_owned(), format!("{},drive=disk{number}", disk.device)]);
    }
    all
}

/// A file without a name (6).
pub fn unnamed() -> Result<File, String> {
    tempfile::tempfile().map_err(|error| format!("no temporary file: {error}"))
}

/// The path of an open file of this process.
fn path_of(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
}

/// The last bytes of a file, as text. Control characters other than line ends are left out.
fn text(file: &File, most: u64) -> String {
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = vec![0; usize::try_from(length.min(most)).unwrap_or_default()];
    let read = file.read_at(&mut bytes, length.saturating_sub(most)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
    text.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect()
}

/// The files of the first file system, without those of the kernel: paths in the guest, and paths here. The files of
/// the plan replace those of the tools.
fn files(plan: &Plan) -> Result<BTreeMap<String, PathBuf>, String> {
    let mut all = BTreeMap::new();
    for name in &plan.tools {
        all.extend(kernels::tool_with_libraries(name)?);
    }
    all.extend(plan.files.iter().cloned());
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_have_their_files_and_settings() {
        let plan = Plan {
            disks: vec![
                GuestDisk::on_path(Path::new("/a"), "nvme,serial=one"),
                GuestDisk::on_path(Path::new("/b"), "scsi-hd").with_drive("cache=none"),
            ],
            ..Plan::default()
        };
        let kernel = Kernel::in_folder(Path::new("/k"));
        let all = arguments(&kernel, &plan, Path::new("/i"), Path::new("/l"), Path::new("/j")).join(" ");
        for words in [
            "-kernel /k/vmlinuz -initrd /i ",
            "-drive if=none,id=disk0,format=raw,file=/a -device nvme,serial=one,drive=disk0",
            "-drive if=none,id=disk1,format=raw,file=/b,cache=none -device scsi-hd,drive=disk1",
        ] {
            assert!(all.contains(words), "{words}: {all}");
        }
    }

    #[test]
    fn logs_are_shown_from_their_end_without_control_characters() {
        let mut file = unnamed().expect("a file");
        file.write_all(b"first\r\n\x1b[0mlast\r\n").expect("written");
        assert_eq!(text(&file, u64::MAX), "first\n[0mlast\n");
        assert_eq!(text(&file, 6), "last\n");
        assert!(path_of(&file).exists());
    }
}
