//! Detects a process that has more rights than the user who started it, from set-user-ID bits or file capabilities.

/// Returns true if the kernel reports it (AT_SECURE), or if real and effective IDs differ. diskperf overwrites and
/// mounts devices and deletes files that its user names. With borrowed rights it would do that for any user.
pub fn is_elevated() -> bool {
    use rustix::process::{getegid, geteuid, getgid, getuid};
    // SAFETY: getauxval takes a number and reads a list that the kernel wrote before the program started.
    let is_secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    is_secure || getuid() != geteuid() || getgid() != getegid()
}

#[cfg(test)]
mod tests {
    #[test]
    fn tests_do_not_run_with_setuid_rights() {
        assert!(!super::is_elevated());
    }
}
