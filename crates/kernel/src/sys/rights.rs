//! The rights of this process.

use rustix::thread::{CapabilitySet, capabilities};

/// Returns true if this process has CAP_SYS_ADMIN, which mounting needs.
pub fn may_administer() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}
