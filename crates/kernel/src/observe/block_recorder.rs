//! Records the requests of a block device while a program runs.
//!
//! Policy:
//!   1. the recorded device is the lowest one with requests below the folder: the disk of a partition, or the device
//!      below a device mapper with one member. A stack with several devices is not recorded;
//!   2. all requests of the device are recorded, including those of other processes: a request does not show which
//!      process caused it. Kernel threads often issue the program's own writes;
//!   3. the events get the time of the monotonic clock, which is also the clock of the program;
//!   4. if events were lost because the buffers were full, there is no recording;
//!   5. dropping the recorder stops the recording and removes the instance of the tracer;
//!   6. events are enabled only during a recording, because they cost time in each request of the machine.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use units::{Bytes, Nanos};

use crate::errors::message;
use crate::observe::block_device::Device;
use crate::observe::host::Host;
use crate::observe::tracefs::{Instance, Tracefs};
use crate::sys::{clocks, read_limited};

/// The buffer of one processor. An event takes about 100 bytes, and a request has two or three events. So the buffer
/// has room for some 60,000 requests. Chosen.
const BUFFER: Bytes = Bytes::mib(16);

/// The buffers of all processors take at most this part of the memory. Chosen.
const MEMORY_SHARE: u64 = 16;

/// The smallest buffer of a processor: the kernel's default is 1.4 MB (Documentation/trace/ftrace.rst).
const SMALLEST: Bytes = Bytes::mib(1);

/// The events of requests and bios (include/trace/events/block.h). A bio of a partition has the number and the sector
/// of the disk, too (`bio_dev` in include/linux/bio.h, `blk_partition_remap` in block/blk-core.c).
const EVENTS: [&str; 3] = ["block_rq_issue", "block_rq_complete", "block_bio_queue"];

/// The bits of the minor number in the kernel's own form of a device number (include/linux/kdev_t.h, MINORBITS).
const MINOR_BITS: u32 = 20;

/// The maximum depth of a stack of devices. Guess: a stack of mappers has two or three.
const DEEPEST: u32 = 16;

/// The reason why requests are not recorded.
#[derive(Debug, thiserror::Error)]
pub enum NotRecorded {
    /// No block device is visible below the folder.
    #[error("no block device is visible below the target")]
    NoDevice,
    /// The requests go to several devices.
    #[error("{0} consists of several devices")]
    Several(String),
    /// The device number of the files is not that of a block device (btrfs, bcachefs).
    #[error("{0} may be one of several devices of the file system")]
    FileSystem(String),
    /// The device has no requests of its own.
    #[error("{top} passes its requests to {below}")]
    Passed {
        /// The device.
        top: String,
        /// The device that has the requests.
        below: String,
    },
    /// This user may not use the tracer, or the kernel has none.
    #[error("the kernel's tracer (tracefs) cannot be used: {}", message(.0))]
    NoTracer(io::Error),
    /// A setting of the tracer failed.
    #[error("cannot set {what} of the kernel's tracer: {}", message(source))]
    Setting {
        /// The file in the instance.
        what: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The buffers were too small.
    #[error("the kernel lost {0} events because its trace buffers were full")]
    Lost(u64),
    /// The trace cannot be read.
    #[error("{0}")]
    Damaged(String),
    /// The recording was not started.
    #[error("the command did not run to its end")]
    NotStarted,
}

impl NotRecorded {
    /// The hint, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            NotRecorded::NoTracer(_) => Some("run diskperf as root, on a kernel with tracefs"),
            NotRecorded::Lost(_) => Some("record a shorter command"),
            NotRecorded::Several(_) => Some("name a directory on one device"),
            _ => None,
        }
    }
}

/// A recorder of one device.
#[derive(Debug)]
pub struct BlockRecorder {
    top: Device,
    /// The recorded device below it.
    device: Device,
    instance: Instance,
    state: State,
}

/// The state of a recorder.
#[derive(Debug)]
enum State {
    Idle,
    Recording { began: Nanos },
    Stopped { span: (Nanos, Nanos) },
}

/// The events of one execution, as text of the tracer. It must be read and dropped before the recorder is used again.
#[derive(Debug)]
pub struct Recording {
    /// The name of the device, as in `vda`.
    pub device: String,
    /// The time from the start of the program until it and its writes had ended, on the clock of the events.
    pub span: (Nanos, Nanos),
    /// The text.
    pub events: File,
}

impl BlockRecorder {
    /// Prepares a recorder of the device below a device.
    pub fn new(top: &Device) -> Result<BlockRecorder, NotRecorded> {
        let device = lowest(top)?;
        let number = number(&device).ok_or(NotRecorded::NoDevice)?;
        let instance = Tracefs::open().and_then(Tracefs::instance).map_err(NotRecorded::NoTracer)?;
        let set = |what: &str, value: &str| {
            instance.set(what, value).map_err(|source| NotRecorded::Setting { what: what.to_owned(), source })
        };
        set("tracing_on", "0")?;
        set("trace_clock", "mono")?;
        set("buffer_size_kb", &(buffer(Host::this()).0 >> 10).to_string())?;
        for event in EVENTS {
            set(&format!("events/block/{event}/filter"), &format!("dev == {number}"))?;
        }
        Ok(BlockRecorder { top: top.clone(), device, instance, state: State::Idle })
    }

    /// Prepares a recorder of the device at the path, or of the device below the folder or file there. Fails if that
    /// device passes its requests on to another one, because a device mapper takes time of its own.
    pub fn of_path(path: &Path) -> Result<BlockRecorder, NotRecorded> {
        let top = top(path).ok_or(NotRecorded::NoDevice)?;
        let recorder = BlockRecorder::new(&top)?;
        let number = top.number().map(str::to_owned);
        let disk = top.disk().unwrap_or(top);
        if !is_only_device(path, number.as_deref()) {
            Err(NotRecorded::FileSystem(disk.name))
        } else if recorder.device == disk {
            Ok(recorder)
        } else {
            Err(NotRecorded::Passed { top: disk.name, below: recorder.device.name.clone() })
        }
    }

    /// True if it is the recorder of this device.
    pub(crate) fn is_of(&self, top: &Device) -> bool {
        self.top == *top
    }

    /// Empties the buffers, and records from now on.
    pub fn start(&mut self) -> Result<(), NotRecorded> {
        self.state = State::Idle;
        let set = |what: &str, value: &str| {
            let setting = |source| NotRecorded::Setting { what: what.to_owned(), source };
            self.instance.set(what, value).map_err(setting)
        };
        set("trace", "0")?;
        switches().try_for_each(|switch| set(&switch, "1"))?;
        set("tracing_on", "1")?;
        self.state = State::Recording { began: clocks::now().since_zero() };
        Ok(())
    }

    /// Stops recording. Does nothing if it is not recording.
    pub fn stop(&mut self) {
        if let State::Recording { began } = self.state {
            let ended = clocks::now().since_zero();
            // If this fails, later events are recorded, too. They come after the end of the span, and replays ignore
            // them.
            let _ = self.instance.set("tracing_on", "0");
            // 6. If this fails, they stay enabled until the instance is removed.
            switches().for_each(|switch| drop(self.instance.set(&switch, "0")));
            self.state = State::Stopped { span: (began, ended) };
        }
    }

    /// The events of the execution that was recorded last.
    pub fn take(&mut self) -> Result<Recording, NotRecorded> {
        let is_cut = matches!(self.state, State::Recording { .. });
        self.stop();
        let State::Stopped { span } = std::mem::replace(&mut self.state, State::Idle) else {
            return Err(NotRecorded::NotStarted);
        };
        if is_cut {
            return Err(NotRecorded::NotStarted);
        }
        match self.instance.lost().map_err(NotRecorded::NoTracer)? {
            0 => {}
            lost => return Err(NotRecorded::Lost(lost)),
        }
        let events = self.instance.open("trace").map_err(NotRecorded::NoTracer)?;
        Ok(Recording { device: self.device.name.clone(), span, events })
    }
}

/// The switches of the events, files in the instance.
fn switches() -> impl Iterator<Item = String> {
    EVENTS.into_iter().map(|event| format!("events/block/{event}/enable"))
}

/// The buffer of one processor.
fn buffer(host: Host) -> Bytes {
    let share = host.memory_bytes.unwrap_or(0) / MEMORY_SHARE / host.cpus.max(1) as u64;
    Bytes(share.clamp(SMALLEST.0, BUFFER.0))
}

/// The lowest device with requests of its own.
fn lowest(top: &Device) -> Result<Device, NotRecorded> {
    let mut device = top.clone();
    for _ in 0..DEEPEST {
        device = device.disk().unwrap_or(device);
        let members: Vec<_> = fs::read_dir(device.sys.join("slaves")).into_iter().flatten().flatten().collect();
        let below = match &members[..] {
            [] => return Ok(device),
            [member] => crate::observe::block_device::number_in(&member.path()),
            _ => return Err(NotRecorded::Several(device.name)),
        };
        let (major, minor) = below.ok_or(NotRecorded::NoDevice)?;
        device = Device::numbered(major, minor).ok_or(NotRecorded::NoDevice)?;
    }
    Err(NotRecorded::NoDevice)
}

/// The number of a device, in the kernel's own form.
fn number(device: &Device) -> Option<u64> {
    kernel_number(read_limited::of_the_kernel(device.sys.join("dev")).ok()?.trim())
}

/// Converts `7:1` to the kernel's own form of a device number.
fn kernel_number(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse::<u64>().ok()? << MINOR_BITS) | minor.parse::<u64>().ok()?)
}

/// True if the file system of the folder or file at the path is only on the device of this number, or if the path is a
/// device.
fn is_only_device(path: &Path, number: Option<&str>) -> bool {
    let Ok(found) = rustix::fs::stat(path) else { return false };
    let of_files = format!("{}:{}", rustix::fs::major(found.st_dev), rustix::fs::minor(found.st_dev));
    crate::observe::mount::block_number(path).is_some() || number == Some(of_files.as_str())
}

/// The device at this path, or that of the folder or file there.
fn top(path: &Path) -> Option<Device> {
    match crate::observe::mount::block_number(path) {
        Some((major, minor)) => Device::numbered(major, minor),
        None => crate::observe::mount::Place::under(path).ok()?.device,
    }
}

/// The device with requests below the folder or device at this path, for errors and for device files.
pub fn recorded_device(path: &Path) -> Option<Device> {
    lowest(&top(path)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_have_the_kernels_form() {
        assert_eq!(kernel_number("7:1"), Some((7 << 20) | 1));
        assert_eq!((kernel_number("7"), kernel_number("x:1")), (None, None));
    }

    #[test]
    fn a_device_has_a_number() {
        let sys = tempfile::tempdir().expect("a scratch folder");
        fs::write(sys.path().join("dev"), "8:16\n").expect("a file");
        let disk = Device { name: "sdb".to_owned(), sys: sys.path().to_owned() };
        assert_eq!(number(&disk), Some((8 << 20) | 16));
    }

    #[test]
    fn buffers_take_a_small_part_of_the_memory() {
        let host = |cpus, memory_bytes| Host { cpus, memory_bytes: Some(memory_bytes), ..Host::this() };
        assert_eq!(buffer(host(2, 16 << 30)), BUFFER);
        assert_eq!(buffer(host(64, 4 << 30)), Bytes::mib(4));
        assert_eq!(buffer(host(64, 1 << 29)), SMALLEST);
    }
}
