//! Stable sorts that share one copy of the sorting code. Each call of `slice::sort_by` is compiled to a copy of its
//! own: 4 KB of the distributed program, as `nm --size-sort` shows. Each comparison is called through a pointer, so use
//! `slice::sort_by` in a loop that must be fast.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Sorts as `slice::sort_by` does.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order = order(items.len(), &|one, other| compare(&items[one], &items[other]));
    rearrange(items, &mut order);
}

/// Sorts as `slice::sort_by_key` does.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |one, other| key(one).cmp(&key(other)));
}

/// The sorted indices of a list. The comparison is not a type parameter, so that this is compiled once.
fn order(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|&one, &other| compare(one, other));
    order
}

/// Moves the item with the index `order[place]` to each place. Follows the cycles of the permutation, and turns it into
/// the identity.
fn rearrange<T>(items: &mut [T], order: &mut [usize]) {
    for start in 0..items.len() {
        let mut place = start;
        while order[place] != start {
            let from = core::mem::replace(&mut order[place], place);
            items.swap(place, from);
            place = from;
        }
        order[place] = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_are_sorted_as_the_standard_library_does(keys in proptest::collection::vec(0_u8..20, 0..60)) {
            let mut expected: Vec<(u8, usize)> = keys.into_iter().zip(0..).collect();
            let (mut by_key, mut by) = (expected.clone(), expected.clone());
            expected.sort_by_key(|(key, _)| *key);
            sort_by_key(&mut by_key, |(key, _)| *key);
            prop_assert_eq!(&by_key, &expected);
            expected.sort_by(|(one, _), (other, _)| other.cmp(one));
            sort_by(&mut by, |(one, _), (other, _)| other.cmp(one));
            // The first sort was stable too, so that equal keys are in the same order.
            prop_assert_eq!(by, expected);
        }
    }
}
