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

/// How often the bus is granted too late for a sector. A controller without buffers falls behind each time, until it
/// has nothing left to fall back on: then the sector must come round again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLate {
    /// Sectors in a million for which it is, because the processor is at work and asks too; twice as many of those
    /// taken from memory, for which the bus is taken twice.
    pub at_work_ppm: u32,
    /// Sectors in a million of those taken from memory for which it is besides: memory has to be asked before it
    /// can answer.
    pub from_memory_ppm: u32,
    /// How often within one transfer, until a sector is lost.
    pub slips: u32,
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
        for (field, ppm) in
            [("bus.data_late.at_work_ppm", late.at_work_ppm), ("bus.data_late.from_memory_ppm", late.from_memory_ppm)]
        {
            Invalid::unless_within(field, ppm.into(), 0, 300_000, hint)?;
        }
        let hint = "1 is a buffer that forgives nothing";
        Invalid::unless_within("bus.data_late.slips", late.slips.into(), 1, 1000, hint)
    }
}
