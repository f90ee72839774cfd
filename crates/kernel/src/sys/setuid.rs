//! Whether this process may do more than whoever started it: by the bits and the capabilities of its file.

/// Whether the kernel says so, or the users and groups do. diskperf overwrites, mounts and deletes what it is told to:
/// with borrowed rights, it would do that for anybody.
pub fn is_elevated() -> bool {
    use rustix::process::{getegid, geteuid, getgid, getuid};
    // SAFETY: it reads a list that the kernel wrote before the program began, and takes a number.
    let is_secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    is_secure || getuid() != geteuid() || getgid() != getegid()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_test_has_the_rights_of_who_started_it() {
        assert!(!super::is_elevated());
    }
}
