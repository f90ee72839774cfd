//! The list of checks that `diskperf doctor` prints: what diskperf can measure on this computer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::name::Name;

/// The name and version of the format.
pub const CHECKUP_SCHEMA: &str = "diskperf-doctor/1";

/// The abilities that diskperf has on this computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checkup {
    /// `diskperf-doctor/1`.
    pub schema: String,
    /// The version of diskperf.
    pub version: String,
    /// The kernel's name and release.
    pub kernel: String,
    /// Directory that was checked.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub path: String,
    /// The checks.
    pub checks: Vec<Check>,
}

/// A check of one ability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Short, stable name of the check, unique in the list.
    pub check: String,
    /// Availability of the ability.
    pub state: Ability,
    /// The finding, and the purpose of the ability.
    pub why: String,
    /// Way to get the rest of the ability; null if nothing is missing, or if there is no way.
    pub how: Option<String>,
}

/// Availability of an ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ability {
    /// Available.
    Yes,
    /// Available in part, or with a reservation.
    Partly,
    /// Not available.
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
