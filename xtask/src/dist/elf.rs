//! The header of an executable file (elf(5)), read only to find out whether the file is static.

/// The offsets of the header fields with the position, the size and the number of program headers, in 64-bit files.
const HEADERS: (usize, usize, usize) = (0x20, 0x36, 0x38);

/// The type of the program header that names an interpreter (the dynamic linker).
const INTERPRETER: u32 = 3;

/// Returns whether the bytes are a 64-bit, little-endian executable without an interpreter.
pub fn is_static(bytes: &[u8]) -> bool {
    kinds(bytes).is_some_and(|kinds| !kinds.is_empty() && !kinds.contains(&INTERPRETER))
}

/// The types of its program headers. `None` if the bytes are not such an executable.
fn kinds(bytes: &[u8]) -> Option<Vec<u32>> {
    let half = |at: usize| Some(usize::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?) as usize);
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (begin, size, count) = (long(HEADERS.0)?, half(HEADERS.1)?, half(HEADERS.2)?);
    let kind = |index: usize| {
        let at = begin.checked_add(index * size)?;
        Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
    };
    (0..count).map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf_with(kinds: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[0x20] = 64;
        bytes[0x36] = 56;
        bytes[0x38] = kinds.len() as u8;
        for kind in kinds {
            bytes.extend(kind.to_le_bytes());
            bytes.resize(bytes.len() + 52, 0);
        }
        bytes
    }

    #[test]
    fn programs_with_an_interpreter_are_not_static() {
        assert!(is_static(&elf_with(&[6, 1, 2])));
        assert!(!is_static(&elf_with(&[6, 3, 1, 2])));
        assert!(!is_static(&elf_with(&[])));
        assert!(!is_static(&elf_with(&[1, 1])[..100]), "cut off");
        assert!(!is_static(b"#!/bin/sh\n"));
    }

    /// Tests are linked dynamically.
    #[test]
    fn this_test_is_not_static() {
        let bytes = std::fs::read("/proc/self/exe").expect("this program");
        assert!(kinds(&bytes).is_some_and(|kinds| kinds.contains(&INTERPRETER)));
    }
}
