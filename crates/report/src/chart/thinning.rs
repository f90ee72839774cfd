//! Reduces points to fewer points that look the same.

/// Returns about `most` points, with every peak and trough: the smallest and the largest of each stretch, in their
/// original order.
pub(super) fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most.max(2) {
        return points.to_vec();
    }
    let stretch = (2 * points.len()).div_ceil(most.max(2));
    let ends = |stretch: &[(f64, f64)]| {
        let places = 0..stretch.len();
        let by = |one: &usize, other: &usize| stretch[*one].1.total_cmp(&stretch[*other].1);
        let least = places.clone().min_by(by).unwrap_or(0);
        let largest = places.max_by(by).unwrap_or(0);
        let (first, second) = (least.min(largest), least.max(largest));
        [first, second].map(|place| stretch[place])
    };
    let mut thinned: Vec<(f64, f64)> = points.chunks(stretch).flat_map(ends).collect();
    thinned.dedup();
    thinned
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_points_stay_as_they_are() {
        let points = [(0.0, 1.0), (1.0, 5.0), (2.0, 3.0)];
        assert_eq!(thinned(&points, 3), points);
    }

    proptest! {
        #[test]
        fn peaks_and_hollows_stay(values in prop::collection::vec(0.0..100.0f64, 1..400), most in 2usize..60) {
            let points: Vec<(f64, f64)> = values.iter().enumerate().map(|(at, value)| (at as f64, *value)).collect();
            let thinned = thinned(&points, most);
            prop_assert!(thinned.len() <= most + 2);
            prop_assert!(thinned.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let ends = |points: &[(f64, f64)]| {
                let values = points.iter().map(|(_, value)| *value);
                values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)))
            };
            prop_assert_eq!(ends(&thinned), ends(&points));
        }
    }
}
