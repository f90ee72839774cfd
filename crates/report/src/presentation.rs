//! The presentation of a preset's results. The file of the preset chooses it, so that this crate knows no preset.

/// The presentation of a preset's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presentation {
    /// The layout of its table.
    pub layout: Layout,
    /// The groups of its tests in the plain table. A test of no group has a group of its own.
    pub groups: &'static [Group],
}

/// The layout of a run's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The plain table.
    Plain,
    /// The plain table, of figures that mean nothing: a page says only that all tests work.
    Trial,
    /// The rates of whole devices, of the first round and of the steady ones.
    Device,
    /// The table of Kridle & McKusick 1983.
    Classic1983,
    /// The tables of the course lab of about 2002.
    Lfs,
    /// The tables of Kerrisk, The Linux Programming Interface, 2010.
    Tlpi,
}

/// Tests that answer the same question. They are adjacent in the plain table, under one title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The question, which gives the title.
    pub question: Question,
    /// The programs of the tests.
    pub programs: &'static [&'static str],
}

/// The question that a group of tests answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Sequential I/O on large files.
    Sequential,
    /// Random I/O on single blocks, and commits.
    SingleBlocks,
    /// Creating, reading and deleting small files.
    SmallFiles,
    /// Sequential and random I/O on one large file.
    LargeFile,
    /// Copying with buffers of several sizes.
    Copying,
    /// Writing with buffers of several sizes.
    Writing,
    /// Accesses drawn from a mix.
    Mix,
}

impl Presentation {
    /// The plain table, in which each program is a group: for tests that the user names.
    pub const PLAIN: Presentation = Presentation { layout: Layout::Plain, groups: &[] };

    /// Returns the question that a program answers; `None` if the program has a group of its own.
    pub(crate) fn question(self, program: &str) -> Option<Question> {
        self.groups.iter().find(|group| group.programs.contains(&program)).map(|group| group.question)
    }
}
