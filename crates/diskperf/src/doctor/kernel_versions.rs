//! The oldest Linux that the program works on, and the features of later releases.

/// A release: its first two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(pub u32, pub u32);

/// The oldest release. `tests/cli/all/calls.rs` runs the program with every later system call answered "no such call";
/// whole machines that old were not tried.
pub const OLDEST: Release = Release(4, 4);

/// Features, each with the first release that has it.
pub const GAINS: [(Release, &str); 6] = [
    (Release(4, 20), "pressure, a sign of noise"),
    (Release(5, 5), "flushes counted by the device"),
    (Release(5, 8), "images"),
    (Release(5, 11), "several operations at once"),
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
        assert!(readme.contains(&format!("{OLDEST}+")));
        let page = include_str!("../../../../docs/concepts/accuracy.md");
        for (release, what) in GAINS {
            assert!(page.contains(&format!("| {release} |")), "{what}");
        }
    }

    #[test]
    fn missing_kernel_features_are_listed_in_order() {
        assert!(GAINS.is_sorted_by_key(|(since, _)| *since));
        assert!(GAINS.iter().all(|(since, _)| *since > OLDEST));
        assert_eq!(Release(6, 1).lacks().map(|(since, _)| since).collect::<Vec<_>>(), [Release(6, 5)]);
        assert_eq!(Release(6, 5).lacks().count(), 0);
    }
}
