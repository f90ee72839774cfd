//! The releases of Linux on which the program was tried, and the features of releases.

/// A release: its first two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(pub u32, pub u32);

/// The releases on which the preset `smoke` ran: the first two in guests (`cargo xtask prove elsewhere-jobs`), on the
/// last one all tests. Nothing is promised on older ones than the first.
pub const TRIED: [Release; 3] = [Release(6, 1), Release(6, 12), Release(6, 18)];

/// The release whose system calls are enough: `tests/cli/all/calls.rs` runs the program with every later call answered
/// "no such call".
pub const OLDEST_CALLS: Release = Release(4, 4);

/// Features, each with the first release that has it.
pub const GAINS: [(Release, &str); 6] = [
    (Release(4, 20), "pressure, a sign of noise"),
    (Release(5, 5), "flushes counted by the device"),
    (Release(5, 8), "images"),
    (Release(5, 11), "queue depths above 1"),
    (Release(6, 1), "the alignment that O_DIRECT asks for"),
    (Release(6, 5), "proof of dirty pages"),
];

impl std::fmt::Display for Release {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "Linux {}.{}", self.0, self.1)
    }
}

impl Release {
    /// Parses the name of a kernel, such as `Linux 6.18.44-cloud`.
    pub fn parse(kernel: &str) -> Option<Release> {
        let (major, rest) = kernel.strip_prefix("Linux ")?.split_once('.')?;
        let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        Some(Release(major.parse().ok()?, minor.parse().ok()?))
    }

    /// The features that this release lacks.
    pub fn lacks(self) -> impl Iterator<Item = (Release, &'static str)> {
        GAINS.into_iter().filter(move |(since, _)| self < *since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_release_is_the_first_two_numbers() {
        for (kernel, release) in [
            ("Linux 6.18.44-fc-v445", Some(Release(6, 18))),
            ("Linux 4.4", Some(Release(4, 4))),
            ("Linux 5.10-rc1", Some(Release(5, 10))),
            ("Linux next", None),
            ("SunOS 5.11", None),
        ] {
            assert_eq!(Release::parse(kernel), release, "{kernel}");
        }
        assert!(Release(5, 10) > Release(5, 8) && Release(6, 1) > Release(5, 19));
    }

    #[test]
    fn the_documents_list_the_same_kernel_releases() {
        let readme = include_str!("../../../../README.md");
        assert!(readme.contains(&format!("{}+", TRIED[0])));
        let page = include_str!("../../../../docs/concepts/accuracy.md");
        let releases = GAINS.map(|(release, _)| release).into_iter().chain(TRIED);
        for release in releases.map(|release| format!("| {release} |")) {
            assert!(page.contains(&release), "{release}");
        }
        assert!(page.contains(&format!("later than {OLDEST_CALLS} ")));
    }

    #[test]
    fn missing_kernel_features_are_listed_in_order() {
        assert!(GAINS.is_sorted_by_key(|(since, _)| *since));
        assert!(GAINS.iter().all(|(since, _)| *since > OLDEST_CALLS) && TRIED.is_sorted());
        assert_eq!(Release(6, 1).lacks().map(|(since, _)| since).collect::<Vec<_>>(), [Release(6, 5)]);
        assert_eq!(Release(6, 5).lacks().count(), 0);
    }
}
