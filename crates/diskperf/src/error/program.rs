//! Errors of the commands that run one program: bw, copy, smallfb, largefb and the programs of 1983.

use std::path::PathBuf;

use kernel::sys::name::Shown;
use units::Bytes;

use super::outcome::{Outcome, failed, refused, usage};
use crate::ui::shell;

/// The reason why one program was not run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error(
        "{old} and {new} are the same file; the copy would empty it before reading it",
        old = .old.shown(),
        new = .new.shown()
    )]
    SameFile { old: PathBuf, new: PathBuf },
    #[error("{path} changed during the copy; it had {} bytes at the start", .bytes.0, path = .path.shown())]
    Changed { path: PathBuf, bytes: Bytes },
    #[error("{path} has {holds}; {program} needs {needs}", path = .path.shown())]
    TooShort { path: PathBuf, program: &'static str, holds: Bytes, needs: Bytes },
    #[error("{path} has {holds} whole MiB; {needed} are needed", path = .path.shown())]
    TooSmall { path: PathBuf, holds: u64, needed: u64, most: u64 },
    #[error("--size {size}: bw -l goes up to {most}")]
    LargeRead { size: Bytes, most: Bytes },
    #[error("--size {size}: {device} is read in whole blocks of {block}", device = .device.shown())]
    UnevenRead { size: Bytes, device: PathBuf, block: Bytes },
    #[error("--size {size}: {device} holds no more than {holds}", device = .device.shown())]
    LongRead { size: Bytes, device: PathBuf, holds: Bytes },
    #[error("a file of {size}: smallfb goes up to {most}")]
    NotSmall { size: Bytes, most: Bytes },
    #[error("a file of {megabytes} MB: largefb goes up to {most}")]
    TooLarge { megabytes: u32, most: u32 },
    #[error("--stride {0} needs --random stride")]
    NoStride(String),
}

impl ProgramError {
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            ProgramError::SameFile { .. } => refused("name another file for the copy"),
            ProgramError::Changed { .. } => failed("copy it again while no program writes to it"),
            ProgramError::TooShort { path, .. } => {
                usage(format!("write it first: diskperf write_8192 {}", shell::word(path)))
            }
            ProgramError::TooSmall { most: 0, .. } => usage("name a larger file or device"),
            ProgramError::TooSmall { most, .. } => usage(format!("ask for at most {most}")),
            ProgramError::LargeRead { .. } | ProgramError::LongRead { .. } => usage("use a smaller --size"),
            ProgramError::UnevenRead { .. } => usage("use a --size that is a multiple of the block size"),
            ProgramError::NotSmall { .. } => usage("largefb writes large files"),
            ProgramError::TooLarge { .. } => usage("use a smaller file"),
            ProgramError::NoStride(_) => usage("add --random stride, or leave out --stride"),
        }
    }
}
