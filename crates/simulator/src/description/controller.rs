//! The controller, and the processor time of its driver.

use units::Nanos;

use super::{Drive, Driver, Ide, Invalid, Queue};

/// A controller of one of the supported kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Controller {
    /// A controller that the driver operates step by step: seek, search, transfer.
    Massbus(Massbus),
    /// A controller that takes whole commands, buffers data and orders its work.
    Uda(Uda),
    /// The electronics of an IDE drive: whole commands, one at a time.
    Ide(Ide),
}

/// A controller on a MASSBUS, or one that behaves like it: one data path for all drives, and usually a buffer of one
/// sector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Massbus {
    /// Maximum number of drives.
    pub most_drives: u32,
    /// Processor time of its driver.
    pub driver: Driver,
    /// Number of drives that the system knows, used or not. If more are used, it knows those.
    pub configured_drives: u32,
    /// Method of the driver to keep the data path free while a drive turns.
    pub search: Search,
    /// From a search command until the drive begins to look for the sector.
    pub search_start: Nanos,
    /// From a data command to the first sector that can be transferred.
    pub command: Nanos,
    /// From the last sector to the interrupt.
    pub finish: Nanos,
    /// Additional time after a read, until its last data are in memory.
    pub finish_of_read: Nanos,
    /// Fate of an attention that a drive raises while the data path is busy.
    pub attention: Attention,
    /// Maximum delay of a polled attention that is still accepted, from the moment when the drive passed the position
    /// at which it raises the attention.
    pub attention_kept: Nanos,
    /// Commands that it works on at once.
    pub microcode: Microcode,
    /// Sectors that it can buffer between bus and drive.
    pub buffer_sectors: u32,
}

/// Number of commands that the microcode of a controller works on at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Microcode {
    /// It begins a search at once, whatever the other drives do.
    Parallel,
    /// One command at a time: a search begins after the data command in progress, and a data command after the search.
    Serial,
}

/// Method of a driver to wait for the rotational position of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// It holds the data path: a request on the drive's cylinder takes the path at once.
    Never,
    /// It does not hold the data path: the drive searches, and raises an attention some sectors earlier. With a single
    /// configured drive, nothing else wants the path, and the driver never searches (4.2BSD hp.c: `mh_ndrive == 1`).
    Lead {
        /// Sectors before the wanted one at which the drive raises its attention.
        lead_sectors: u32,
        /// Window, in sectors, within which a search is not worth while. 4.2BSD compares it with the position of the
        /// head instead of the distance to the sector.
        window_sectors: u32,
    },
}

/// Fate of a drive's attention while the data path is busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// It stays pending, and is handled when the path is free.
    Held,
    /// The controller looks for attentions when the path is free. If the drive's sector has passed meanwhile, and the
    /// attention is late by more than `attention_kept`, the drive raises it again when the sector comes round again.
    Polled,
}

/// A UDA50: one processor for the host, one for the drives, and a buffer between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uda {
    /// Maximum number of drives.
    pub most_drives: u32,
    /// Processor time of its driver.
    pub driver: Driver,
    /// Commands that it queues for one drive before the host must wait.
    pub commands: u32,
    /// The order in which it serves them.
    pub order: Queue,
    /// Sectors that it can buffer between bus and drives.
    pub buffer_sectors: u32,
    /// Maximum rate at which it moves data to memory, in bytes per second. The bus may be slower.
    pub to_memory_bytes_per_second: u64,
    /// Maximum rate at which it moves data from memory, in bytes per second. The bus may be slower.
    pub from_memory_bytes_per_second: u64,
    /// Time to take a command from the host.
    pub command: Nanos,
    /// Time to report a completed command to the host.
    pub response: Nanos,
    /// Time between two commands on the side of the drives.
    pub turnaround: Nanos,
    /// Additional turnaround while more than half of the buffer is in use: both sides look for room in it.
    pub turnaround_shared: Nanos,
    /// Maximum random deviation of these times, up or down, in thousandths.
    pub jitter_permille: u32,
    /// Writes whose data it fetches while the drive is busy with another request.
    pub fetched_writes: u32,
}

impl Controller {
    /// Maximum number of drives.
    pub fn most_drives(&self) -> u32 {
        match self {
            Controller::Massbus(massbus) => massbus.most_drives,
            Controller::Uda(uda) => uda.most_drives,
            Controller::Ide(ide) => ide.most_drives,
        }
    }

    /// Processor time of its driver.
    pub fn driver(&self) -> &Driver {
        match self {
            Controller::Massbus(massbus) => &massbus.driver,
            Controller::Uda(uda) => &uda.driver,
            Controller::Ide(ide) => &ide.driver,
        }
    }

    /// Maximum of any single step: sixty turns of a drive. Neither controllers nor drivers are slower.
    const LONGEST: Nanos = Nanos::from_secs(1);

    /// The times that this maximum limits, with their field names.
    fn times(&self) -> impl Iterator<Item = (&'static str, Nanos)> {
        let driver = self.driver();
        let driver = [("controller.driver_start", driver.start), ("controller.driver_interrupt", driver.interrupt)];
        let own = match self {
            Controller::Massbus(massbus) => [
                ("controller.search_start", massbus.search_start),
                ("controller.command", massbus.command),
                ("controller.finish", massbus.finish),
                ("controller.finish_of_read", massbus.finish_of_read),
                ("controller.attention_kept", massbus.attention_kept),
            ]
            .to_vec(),
            Controller::Uda(uda) => [
                ("controller.command", uda.command),
                ("controller.response", uda.response),
                ("controller.turnaround", uda.turnaround),
                ("controller.turnaround_shared", uda.turnaround_shared),
            ]
            .to_vec(),
            Controller::Ide(ide) => [("controller.command", ide.command)].to_vec(),
        };
        driver.into_iter().chain(own)
    }

    pub(super) fn check(&self, drive: &Drive) -> Result<(), Invalid> {
        for (field, time) in self.times() {
            Invalid::unless_at_most(
                field,
                time,
                Controller::LONGEST,
                "use a few milliseconds, as in real controllers",
            )?;
        }
        let most = self.most_drives();
        Invalid::unless_within("controller.most_drives", most.into(), 1, 8, "a controller takes 1 to 8 drives")?;
        let buffer = match self {
            Controller::Massbus(massbus) => massbus.buffer_sectors,
            Controller::Uda(uda) => uda.buffer_sectors,
            Controller::Ide(ide) => ide.most_sectors,
        };
        let hint = "use at least one sector";
        Invalid::unless_within("controller.buffer_sectors", buffer.into(), 1, 1 << 20, hint)?;
        match self {
            Controller::Massbus(massbus) => massbus.check(drive),
            Controller::Uda(uda) => uda.check(),
            Controller::Ide(ide) => ide.check(),
        }
    }
}

impl Massbus {
    fn check(&self, drive: &Drive) -> Result<(), Invalid> {
        let (configured, most) = (self.configured_drives.into(), self.most_drives.into());
        let hint = "use at least 1, and at most controller.most_drives";
        Invalid::unless_within("controller.configured_drives", configured, 1, most, hint)?;
        let Search::Lead { lead_sectors, window_sectors } = self.search else { return Ok(()) };
        let most = u64::from(drive.sectors_per_track.saturating_sub(1));
        let hint = "use less than a turn of the drive";
        Invalid::unless_within("controller.search.lead_sectors", lead_sectors.into(), 0, most, hint)?;
        Invalid::unless_within("controller.search.window_sectors", window_sectors.into(), 0, most, hint)
    }
}

/// Largest rate of such a controller, in bytes per second: far more than a bus of its time.
const MOST_RATE: u64 = 1_000_000_000;

impl Uda {
    fn check(&self) -> Result<(), Invalid> {
        for (field, rate) in [
            ("controller.to_memory_bytes_per_second", self.to_memory_bytes_per_second),
            ("controller.from_memory_bytes_per_second", self.from_memory_bytes_per_second),
        ] {
            let hint = "a UDA50 moves half a megabyte per second";
            Invalid::unless_within(field, rate, 1_000, MOST_RATE, hint)?;
        }
        Invalid::unless_within("controller.commands", self.commands.into(), 1, 1024, "a UDA50 takes eight commands")?;
        Invalid::unless_within("controller.jitter_permille", self.jitter_permille.into(), 0, 999, "0 means no jitter")?;
        Invalid::unless_within("controller.fetched_writes", self.fetched_writes.into(), 1, 1024, "1 means none ahead")
    }
}
