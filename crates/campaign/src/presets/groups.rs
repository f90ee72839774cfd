//! Groups of tests that several presets have.

use report::{Group, Question};

/// The four programs of 1983.
pub const SEQUENTIAL: Group =
    Group { question: Question::Sequential, programs: &["read_8192", "write_4096", "write_8192", "rewrite_8192"] };

/// Random reads and commits.
pub const SINGLE_BLOCKS: Group = Group { question: Question::SingleBlocks, programs: &["randread", "commit"] };

/// Small files.
pub const SMALL_FILES: Group = Group { question: Question::SmallFiles, programs: &["smallfb"] };

/// One large file.
pub const LARGE_FILE: Group = Group { question: Question::LargeFile, programs: &["largefb"] };

/// Copies with buffers of several sizes.
pub const COPYING: Group = Group { question: Question::Copying, programs: &["copy"] };

/// Writes with buffers of several sizes.
pub const WRITING: Group = Group { question: Question::Writing, programs: &["write"] };

/// Accesses drawn from a mix.
pub const MIX: Group =
    Group { question: Question::Mix, programs: &["uniform_mix", "local_mix", "given_mix", "paced_mix"] };

/// All groups.
pub const ALL: &[Group] = &[SEQUENTIAL, SINGLE_BLOCKS, SMALL_FILES, LARGE_FILE, COPYING, WRITING, MIX];
