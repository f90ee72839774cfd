//! The rights of this process.

use rustix::thread::{CapabilitySet, capabilities};

/// Whether this process may administer the system, which mounts need (CAP_SYS_ADMIN).
pub fn may_administer() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}
