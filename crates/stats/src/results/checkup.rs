//! The list of checks that `diskperf doctor` prints: what diskperf can measure on this computer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::name::Name;

/// The name and version of the format.
pub const CHECKUP_SCHEMA: &str = "diskperf-doctor/1";

/// What can be measured at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checkup {
    /// `diskperf-doctor/1`.
    pub schema: String,
    /// The version of diskperf.
    pub version: String,
    /// The kernel's name and release.
    pub kernel: String,
    /// The place.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub path: String,
    /// What was tried.
    pub checks: Vec<Check>,
}

/// One thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What: short and stable, unique in a list.
    pub check: String,
    /// Whether it can be had here.
    pub state: Ability,
    /// What was found, and what it is for.
    pub why: String,
    /// How to get the rest; null where there is none, or no way to it.
    pub how: Option<String>,
}

/// Whether something can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ability {
    /// All of it.
    Yes,
    /// Part of it, or with a reservation.
    Partly,
    /// Nothing of it.
    No,
}

impl Ability {
    /// The name that is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Ability::Yes => "yes",
            Ability::Partly => "partly",
            Ability::No => "no",
        }
    }
}
