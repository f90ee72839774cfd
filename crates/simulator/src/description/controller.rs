//! The controller, and what its driver costs the processor.

use units::Nanos;

use super::{Drive, Invalid, Queue};

/// A controller of one of the kinds there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Controller {
    /// One that does what the driver says step by step: seek, search, transfer.
    Massbus(Massbus),
    /// One that takes whole commands, buffers data and orders its work.
    Uda(Uda),
}

/// What the driver of a controller costs, told for a VAX-11/780.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// To hand a request over, in the process that asks.
    pub start: Nanos,
    /// To serve one interrupt, and to start what comes next.
    pub interrupt: Nanos,
}

/// A controller on a MASSBUS, or one that behaves so: one data path for all drives, and a sector's worth of
/// buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Massbus {
    /// Drives it takes.
    pub most_drives: u32,
    /// What its driver costs.
    pub driver: Driver,
    /// How the driver keeps the data path free while a drive turns.
    pub search: Search,
    /// From a search command to the moment from which the drive looks for the sector.
    pub search_start: Nanos,
    /// From a data command to the first sector that can be caught.
    pub command: Nanos,
    /// From the last sector to the interrupt.
    pub finish: Nanos,
    /// How much longer that is of a read, until its last data are in memory.
    pub finish_of_read: Nanos,
    /// What becomes of a drive that found its sector while the data path is busy.
    pub attention: Attention,
    /// Sectors it can hold between bus and drive.
    pub buffer_sectors: u32,
}

/// How a driver waits for a sector to come round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// With the data path: a request on the drive's cylinder goes straight to it.
    Never,
    /// Without: the drive searches, and calls so many sectors before.
    Lead {
        /// Sectors before the wanted one at which the drive calls.
        lead_sectors: u32,
        /// Sectors within which no search is worth while. 4.2BSD compares them with the place of the head and
        /// not with its distance.
        window_sectors: u32,
    },
}

/// What becomes of a drive's call while the data path is busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// It is kept, and heard when the path is free.
    Held,
    /// It is looked for when the path is free: a drive whose sector has passed meanwhile calls when it comes again.
    Polled,
}

/// A UDA50: two processors, one for the host and one for the drives, and a buffer between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uda {
    /// Drives it takes.
    pub most_drives: u32,
    /// What its driver costs.
    pub driver: Driver,
    /// Commands it takes for one drive before the host has to wait.
    pub commands: u32,
    /// In which order it serves them.
    pub order: Queue,
    /// Sectors it can hold between bus and drives.
    pub buffer_sectors: u32,
    /// To take a command from the host.
    pub command: Nanos,
    /// To tell the host that one is complete.
    pub response: Nanos,
    /// Between two commands on the side of the drives.
    pub turnaround: Nanos,
    /// How much longer that is while more than half of the buffer is in use: both sides look for room in it.
    pub turnaround_shared: Nanos,
    /// By how much these times are longer or shorter by chance, at most, in thousandths.
    pub jitter_permille: u32,
    /// Writes whose data it fetches while the drive is busy with another.
    pub fetched_writes: u32,
}

impl Controller {
    /// How many drives it takes.
    pub fn most_drives(&self) -> u32 {
        match self {
            Controller::Massbus(massbus) => massbus.most_drives,
            Controller::Uda(uda) => uda.most_drives,
        }
    }

    /// What its driver costs.
    pub fn driver(&self) -> &Driver {
        match self {
            Controller::Massbus(massbus) => &massbus.driver,
            Controller::Uda(uda) => &uda.driver,
        }
    }

    /// Sixty turns of a drive: no controller, and no driver, keeps one waiting for longer in one step.
    const LONGEST: Nanos = Nanos::from_secs(1);

    /// What may take that long.
    fn times(&self) -> impl Iterator<Item = (&'static str, Nanos)> {
        let driver = self.driver();
        let driver = [("controller.driver_start", driver.start), ("controller.driver_interrupt", driver.interrupt)];
        let own = match self {
            Controller::Massbus(massbus) => [
                ("controller.search_start", massbus.search_start),
                ("controller.command", massbus.command),
                ("controller.finish", massbus.finish),
                ("controller.finish_of_read", massbus.finish_of_read),
            ]
            .to_vec(),
            Controller::Uda(uda) => [
                ("controller.command", uda.command),
                ("controller.response", uda.response),
                ("controller.turnaround", uda.turnaround),
                ("controller.turnaround_shared", uda.turnaround_shared),
            ]
            .to_vec(),
        };
        driver.into_iter().chain(own)
    }

    pub(super) fn check(&self, drive: &Drive) -> Result<(), Invalid> {
        for (field, time) in self.times() {
            Invalid::unless_at_most(field, time, Controller::LONGEST, "controllers take milliseconds")?;
        }
        let most = self.most_drives();
        Invalid::unless_within("controller.most_drives", most.into(), 1, 8, "a controller takes 1 to 8 drives")?;
        let buffer = match self {
            Controller::Massbus(massbus) => massbus.buffer_sectors,
            Controller::Uda(uda) => uda.buffer_sectors,
        };
        let hint = "one sector is the least that can be moved";
        Invalid::unless_within("controller.buffer_sectors", buffer.into(), 1, 1 << 20, hint)?;
        match self {
            Controller::Massbus(massbus) => massbus.check(drive),
            Controller::Uda(uda) => uda.check(),
        }
    }
}

impl Massbus {
    fn check(&self, drive: &Drive) -> Result<(), Invalid> {
        let Search::Lead { lead_sectors, window_sectors } = self.search else { return Ok(()) };
        let most = u64::from(drive.sectors_per_track.saturating_sub(1));
        let hint = "a lead or a window is less than a turn of the drive";
        Invalid::unless_within("controller.search.lead_sectors", lead_sectors.into(), 0, most, hint)?;
        Invalid::unless_within("controller.search.window_sectors", window_sectors.into(), 0, most, hint)
    }
}

impl Uda {
    fn check(&self) -> Result<(), Invalid> {
        Invalid::unless_within("controller.commands", self.commands.into(), 1, 1024, "a UDA50 takes eight")?;
        Invalid::unless_within("controller.jitter_permille", self.jitter_permille.into(), 0, 999, "0 is none")?;
        Invalid::unless_within("controller.fetched_writes", self.fetched_writes.into(), 1, 1024, "one is none ahead")
    }
}
