//! The bus between controller and memory.

use alloc::string::String;

use super::Invalid;

/// A bus between memory and a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bus {
    /// The name: `SBI`, `CMI`, `UNIBUS`.
    pub name: String,
    /// Rate of a controller to memory, in bytes per second.
    pub to_memory_bytes_per_second: u64,
    /// Rate of a controller from memory, in bytes per second.
    pub from_memory_bytes_per_second: u64,
    /// Slowdown of the processor while a transfer runs, in thousandths.
    pub slow_down_permille: u32,
    /// Share of the bus used by other traffic, in thousandths. It reduces both rates.
    pub other_traffic_permille: u32,
    /// Late grants to a controller without buffers; `None` if its arbitration never grants too late.
    pub data_late: Option<DataLate>,
}

/// Frequency of late bus grants. Each late grant puts a controller without buffers farther
/// behind. At the limit `slips`, the sector is lost and must come round again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLate {
    /// Late sectors per million, because the busy processor also requests the bus. Twice as many in transfers from
    /// memory, which take the bus twice.
    pub at_work_ppm: u32,
    /// Additional late sectors per million in transfers from memory: memory must be asked before it can answer.
    pub from_memory_ppm: u32,
    /// Work of the processor that makes grants late.
    pub rival: Rival,
    /// Number of late grants within one transfer that loses a sector.
    pub slips: u32,
}

/// Work of the processor that competes with a controller for the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// Any work.
    Work,
    /// Copying and clearing memory: the cache of a VAX-11/780 writes through, so each longword that is stored takes the
    /// bus. Other code is mostly in the cache.
    Moves,
}

/// Bounds of the rate of a bus, in bytes per second.
const RATES: (u64, u64) = (1_000, 1_000_000_000_000);

impl Bus {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let hint = "use a rate between those of a floppy disk and a modern bus";
        let (least, most) = RATES;
        Invalid::unless_within("bus.to_memory_bytes_per_second", self.to_memory_bytes_per_second, least, most, hint)?;
        let from = self.from_memory_bytes_per_second;
        Invalid::unless_within("bus.from_memory_bytes_per_second", from, least, most, hint)?;
        Invalid::unless_within(
            "bus.slow_down_permille",
            self.slow_down_permille.into(),
            0,
            10_000,
            "0 means no slowdown; 10,000 makes it take ten times longer",
        )?;
        let other = self.other_traffic_permille;
        Invalid::unless_within("bus.other_traffic_permille", other.into(), 0, 990, "leave some of the bus free")?;
        let Some(late) = &self.data_late else { return Ok(()) };
        let hint = "use less: a sector that is nearly always late never arrives";
        for (field, ppm) in
            [("bus.data_late.at_work_ppm", late.at_work_ppm), ("bus.data_late.from_memory_ppm", late.from_memory_ppm)]
        {
            Invalid::unless_within(field, ppm.into(), 0, 300_000, hint)?;
        }
        let hint = "1 means that one late grant loses a sector";
        Invalid::unless_within("bus.data_late.slips", late.slips.into(), 1, 1000, hint)
    }
}
