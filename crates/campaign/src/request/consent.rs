//! The user's consent to writing. `resume` uses it to decide which devices may be overwritten again.

use serde::{Deserialize, Serialize};

/// The user's consent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consent {
    /// Consent to write to /, /boot and network file systems.
    pub yes: bool,
    /// Consent to destroy data on devices.
    pub destroy_data: bool,
    /// The devices that may be overwritten, in words.
    pub confirm: Vec<String>,
}
