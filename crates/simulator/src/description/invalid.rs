//! Why a description is no computer.

use alloc::borrow::Cow;
use core::fmt;

use units::Nanos;

/// A field and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// `drive.heads`
    pub field: &'static str,
    /// What is wrong.
    pub what: Cow<'static, str>,
    /// What to try.
    pub hint: &'static str,
}

impl Invalid {
    pub(crate) fn new(field: &'static str, what: impl Into<Cow<'static, str>>, hint: &'static str) -> Invalid {
        Invalid { field, what: what.into(), hint }
    }

    /// Refuses a value that is none of `least..=most`.
    pub(crate) fn unless_within(
        field: &'static str,
        value: u64,
        least: u64,
        most: u64,
        hint: &'static str,
    ) -> Result<(), Invalid> {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        Err(Invalid::new(field, alloc::format!("{value} is not within {least} to {most}"), hint))
    }

    /// Refuses a time that is longer than that.
    pub(crate) fn unless_at_most(
        field: &'static str,
        time: Nanos,
        most: Nanos,
        hint: &'static str,
    ) -> Result<(), Invalid> {
        if time <= most {
            return Ok(());
        }
        Err(Invalid::new(field, alloc::format!("{time} is more than {most}"), hint))
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.what)
    }
}

impl core::error::Error for Invalid {}
