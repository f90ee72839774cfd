//! The processor and its memory.

use alloc::string::String;

use super::Invalid;

/// Memory addressable with 32 bits.
const MOST_MEMORY: u64 = 1 << 32;

/// A processor. Its speed is relative to a VAX-11/780.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The name: `VAX-11/780`.
    pub name: String,
    /// Time to execute kernel code, in thousandths of the time on a VAX-11/780.
    pub code_permille: u32,
    /// Time to copy or clear memory, also in thousandths. It differs if memory, not the processor, is the limit.
    pub copy_permille: u32,
    /// Main memory.
    pub memory_bytes: u64,
}

impl Cpu {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let hint = "1000 permille is a VAX-11/780; more is slower";
        Invalid::unless_within("cpu.code_permille", self.code_permille.into(), 1, 100_000, hint)?;
        Invalid::unless_within("cpu.copy_permille", self.copy_permille.into(), 1, 100_000, hint)?;
        Invalid::unless_within("cpu.memory_bytes", self.memory_bytes, 0, MOST_MEMORY, "a VAX cannot address more")
    }
}
