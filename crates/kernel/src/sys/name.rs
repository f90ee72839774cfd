//! File names as text and back. Applies `units::name` to paths.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A name that can be shown as text. Unlike `display` it loses nothing: different names have different texts, and
/// [`original`] reverses it.
pub trait Shown {
    /// Returns the name as text.
    fn shown(&self) -> Cow<'_, str>;
}

impl<N: AsRef<OsStr> + ?Sized> Shown for N {
    fn shown(&self) -> Cow<'_, str> {
        units::name::text(self.as_ref().as_bytes())
    }
}

/// Returns a name as a word of a command line, quoted if a shell would change it.
pub fn shell_word(name: impl AsRef<OsStr>) -> String {
    units::shell::word(name.as_ref().as_bytes())
}

/// Replaces control characters, which a terminal would obey, by `?`.
pub(crate) fn plain_text(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Returns the name that has this text.
pub fn original(text: &str) -> OsString {
    OsString::from_vec(units::name::bytes(text).into_owned())
}
