//! The page that a text is printed on.

/// Columns of a text that does not go to a terminal: what fits a review, a mail and most editors.
pub const FILE_COLUMNS: usize = 100;

/// The page that a text is printed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Columns of the terminal; none of a file or a pipe.
    pub columns: Option<usize>,
}

impl Page {
    /// A file or a pipe: lines of 100 columns, and nothing left out.
    pub const ENDLESS: Page = Page { columns: None };

    /// How long a line may be.
    pub fn width(self) -> usize {
        self.columns.unwrap_or(FILE_COLUMNS)
    }
}
