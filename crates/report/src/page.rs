//! The page that a text is printed on.

/// Columns of a text that does not go to a terminal: the width that fits a review, a mail and most editors.
pub const FILE_COLUMNS: usize = 100;

/// The width of the page that a text is printed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Columns of the terminal; `None` for a file or a pipe.
    pub columns: Option<usize>,
}

impl Page {
    /// A file or a pipe: lines of 100 columns, and no columns of a table are left out.
    pub const ENDLESS: Page = Page { columns: None };

    /// The longest line, in columns.
    pub fn width(self) -> usize {
        self.columns.unwrap_or(FILE_COLUMNS)
    }
}
