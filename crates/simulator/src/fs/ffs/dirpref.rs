//! The group of a new directory (`dirpref` of 4.2BSD).

/// Returns the group with the fewest directories, among those with at least the average number of free inodes. Takes
/// the number of free inodes and of directories of each group.
pub(super) fn prefer(groups: impl Iterator<Item = (u32, u32)> + Clone) -> u32 {
    let count = groups.clone().count().max(1) as u64;
    let average = groups.clone().map(|(free, _)| u64::from(free)).sum::<u64>() / count;
    let candidates = groups.zip(0..).filter(|((free, _), _)| u64::from(*free) >= average);
    candidates.min_by_key(|((_, directories), _)| *directories).map_or(0, |(_, group)| group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_goes_where_few_are_and_many_inodes_are_free() {
        assert_eq!(prefer([(10, 2), (10, 1), (10, 1)].into_iter()), 1);
        assert_eq!(prefer([(10, 2), (3, 0), (10, 1)].into_iter()), 2);
    }
}
