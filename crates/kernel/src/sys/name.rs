//! Names of files as text and back. `units::name` says how; here it is applied to paths.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A name that can be shown. Unlike `display` it loses nothing: [`original`] leads back, and two names are shown
/// differently.
pub trait Shown {
    /// Its text.
    fn shown(&self) -> Cow<'_, str>;
}

impl<N: AsRef<OsStr> + ?Sized> Shown for N {
    fn shown(&self) -> Cow<'_, str> {
        units::name::text(self.as_ref().as_bytes())
    }
}

/// A name as a word of a command, quoted if a shell would change it.
pub fn shell_word(name: impl AsRef<OsStr>) -> String {
    units::shell::word(name.as_ref().as_bytes())
}

/// A name without control characters, which a terminal would obey.
pub(crate) fn plain_text(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// The name whose text this is.
pub fn original(text: &str) -> OsString {
    OsString::from_vec(units::name::bytes(text).into_owned())
}
