//! The processor and its memory.

use alloc::string::String;

use super::Invalid;

/// What an address of 32 bits reaches.
const MOST_MEMORY: u64 = 1 << 32;

/// A processor. Its speed is told by how long it takes for what a VAX-11/780 does in one unit of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// `VAX-11/780`
    pub name: String,
    /// Time for the system's code, in thousandths of what a VAX-11/780 takes.
    pub code_permille: u32,
    /// Time to copy or clear memory, likewise. Where memory and not the processor limits it, this differs.
    pub copy_permille: u32,
    /// Memory of the computer.
    pub memory_bytes: u64,
}

impl Cpu {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let hint = "1000 is a VAX-11/780; more is slower";
        Invalid::unless_within("cpu.code_permille", self.code_permille.into(), 1, 100_000, hint)?;
        Invalid::unless_within("cpu.copy_permille", self.copy_permille.into(), 1, 100_000, hint)?;
        Invalid::unless_within("cpu.memory_bytes", self.memory_bytes, 0, MOST_MEMORY, "a VAX addresses no more")
    }
}
