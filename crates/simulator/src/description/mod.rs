//! Descriptions of simulated computers: plain data, integers, with the unit in the type or the name. `machines/` has
//! the numbers and their sources.
//!
//! A computer is composed of parts. Each part is a file here: the processor, the operating system, the bus between
//! controller and memory, the controller, the drive, and the file systems to choose from. Parts are independent;
//! [`Description::check`] finds parts that do not fit together.

mod bus;
mod controller;
mod cpu;
mod drive;
mod driver;
mod error;
mod ext2;
mod ffs;
mod file_system;
mod ide;
mod kernel;
mod law;
mod lfs;

use alloc::string::String;
use alloc::vec::Vec;

pub use bus::{Bus, DataLate, Rival};
pub use controller::{Attention, Controller, Massbus, Microcode, Search, Uda};
pub use cpu::Cpu;
pub use drive::{Drive, SECTOR_BYTES};
pub use driver::Driver;
pub use error::Invalid;
pub use ext2::{Ext2, Metadata};
pub use ffs::{Ffs, Names};
pub use file_system::FileSystem;
pub use ide::Ide;
pub use kernel::Kernel;
pub use law::{
    Bucket, Counts, DeviceLaw, Flush, GATE_PER_LATENCY, Gate, Latency, LatencyTable, Limits, Tokens, WriteCache,
};
pub use lfs::{CleanerPolicy, Lfs};
use units::Nanos;

use crate::fs::ffs::Layout;

/// A complete computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The name: `vax780-sc780`.
    pub name: String,
    /// The processor and its memory.
    pub cpu: Cpu,
    /// The operating system.
    pub kernel: Kernel,
    /// The bus between controller and memory.
    pub bus: Bus,
    /// The controller between the bus and the drives.
    pub controller: Controller,
    /// The order in which the driver passes requests to the controller.
    pub queue: Queue,
    /// The drives, all of one kind.
    pub drive: Drive,
    /// The file systems that can be put on the drives. The first is the usual one.
    pub file_systems: Vec<FileSystem>,
}

/// The order in which the waiting requests of one drive are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Queue {
    /// In the order of arrival.
    Fifo,
    /// Upwards by cylinder, then again from the lowest. Within a cylinder in the order of arrival. As in 4.2BSD.
    Disksort,
    /// Two queues, each upwards by cylinder. Writes wait until no read is waiting.
    ReadsFirst,
}

impl Queue {
    /// All orders with their names.
    pub const NAMES: [(&str, Queue); 3] =
        [("fifo", Queue::Fifo), ("disksort", Queue::Disksort), ("reads-first", Queue::ReadsFirst)];
}

impl Description {
    /// Returns the file system with that name.
    pub fn file_system(&self, name: &str) -> Option<&FileSystem> {
        self.file_systems.iter().find(|file_system| file_system.name() == name)
    }

    /// Checks that the computer can be built and run with `drives` busy drives, each with a file of `file_bytes` bytes.
    /// Returns the first problem, with the field's name.
    pub fn check(&self, drives: u32, file_bytes: u64) -> Result<(), Invalid> {
        self.cpu.check()?;
        self.kernel.check()?;
        self.bus.check()?;
        self.drive.check()?;
        self.controller.check(&self.drive)?;
        if self.file_systems.is_empty() {
            return Err(Invalid::new("file_system", "it is missing", "put at least one on the drives"));
        }
        for file_system in &self.file_systems {
            file_system.check(&self.drive)?;
            if let FileSystem::Ffs(ffs) = file_system
                && let Some((field, what)) = Layout::refusal(&self.drive, ffs)
            {
                return Err(Invalid::new(field, what, "use another drive"));
            }
        }
        let largest = self.file_systems.iter().map(|file_system| file_system.block_bytes()).max().unwrap_or(0);
        if self.buffers(largest) < Kernel::LEAST_BUFFERS {
            let what = alloc::format!("{} bytes are too few for the buffer cache", self.cpu.memory_bytes);
            return Err(Invalid::new("cpu.memory_bytes", what, "the cache needs room for a few blocks"));
        }
        let most = self.controller.most_drives();
        if drives == 0 || drives > most {
            let what = alloc::format!("{drives} drives, but the controller takes 1 to {most}");
            return Err(Invalid::new("controller.most_drives", what, "run fewer programs at once"));
        }
        self.check_clock(drives)?;
        let room = self.file_systems.iter().map(|file_system| file_system.room(&self.drive)).min().unwrap_or(0);
        if file_bytes > room {
            let what = alloc::format!("a file of {file_bytes} bytes on a file system with room for {room}");
            return Err(Invalid::new("drive", what, "make the file smaller, or the drive larger"));
        }
        Ok(())
    }

    /// Refuses a clock whose interrupts take half of the processor or more: little time would be left for programs.
    fn check_clock(&self, drives: u32) -> Result<(), Invalid> {
        let at_once = if matches!(self.controller, Controller::Uda(_)) { drives } else { 1 };
        let longer = [self.cpu.code_permille, 1000 + self.kernel.jitter_permille];
        let longer = longer.into_iter().chain([1000 + at_once * self.bus.slow_down_permille]);
        let tick = longer.fold(self.kernel.clock_tick.0, |tick, permille| tick * u64::from(permille) / 1000);
        let second = Nanos(tick * u64::from(self.kernel.clock_hertz));
        let what = "the clock's interrupts take half of this processor or more while data move";
        match second < Nanos::from_millis(500) {
            true => Ok(()),
            false => Err(Invalid::new("kernel.clock_tick", what, "use a faster cpu.code, or fewer ticks")),
        }
    }

    /// Number of blocks of that size in the buffer cache.
    pub fn buffers(&self, block_bytes: u32) -> u32 {
        let bytes = self.cpu.memory_bytes * u64::from(self.kernel.cache_permille) / 1000;
        (bytes / u64::from(block_bytes.max(1))).min(u64::from(u32::MAX)) as u32
    }
}

#[cfg(test)]
pub(crate) mod samples;
