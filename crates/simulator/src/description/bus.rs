//! The bus that the controller moves data over.

use alloc::string::String;

use super::Invalid;

/// A bus between memory and a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bus {
    /// `SBI`, `CMI`, `UNIBUS`
    pub name: String,
    /// Bytes a second that a controller can bring to memory.
    pub to_memory_bytes_per_second: u64,
    /// Bytes a second that a controller can take from memory.
    pub from_memory_bytes_per_second: u64,
    /// How much longer the processor takes for everything while a transfer runs, in thousandths.
    pub slow_down_permille: u32,
    /// The part of the bus that others use, in thousandths: it is missing from both rates.
    pub other_traffic_permille: u32,
    /// Whether its arbitration lets a controller without buffers wait too long.
    pub data_late: Option<DataLate>,
}

/// How often a sector comes too late over the bus, so that it must come round again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLate {
    /// Sectors in a million of those brought to memory while the processor is at work.
    pub to_memory_ppm: u32,
    /// Sectors in a million of those taken from memory while the processor is at work.
    pub from_memory_ppm: u32,
    /// The part of that while the processor is idle, in thousandths.
    pub idle_permille: u32,
}

impl Bus {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let hint = "from a floppy disk to a modern bus";
        let (least, most) = (1_000, 1_000_000_000_000);
        Invalid::unless_within("bus.to_memory_bytes_per_second", self.to_memory_bytes_per_second, least, most, hint)?;
        let from = self.from_memory_bytes_per_second;
        Invalid::unless_within("bus.from_memory_bytes_per_second", from, least, most, hint)?;
        Invalid::unless_within(
            "bus.slow_down_permille",
            self.slow_down_permille.into(),
            0,
            10_000,
            "0 is none, ten times is the most",
        )?;
        let other = self.other_traffic_permille;
        Invalid::unless_within("bus.other_traffic_permille", other.into(), 0, 990, "some of the bus must be left")?;
        let Some(late) = &self.data_late else { return Ok(()) };
        let hint = "a sector that is nearly always late never arrives";
        for (field, ppm) in [
            ("bus.data_late.to_memory_ppm", late.to_memory_ppm),
            ("bus.data_late.from_memory_ppm", late.from_memory_ppm),
        ] {
            Invalid::unless_within(field, ppm.into(), 0, 900_000, hint)?;
        }
        let idle = late.idle_permille;
        Invalid::unless_within("bus.data_late.idle_permille", idle.into(), 0, 1000, "1000 is as often as at work")
    }
}
