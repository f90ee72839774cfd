//! The weight of a test in the user's question. If the time is short, the tests with the least weight are left out.

use workload::Program;

use super::Goal;
use super::matching::matching;

/// The weight of a test with a requirement. The weights of a use sum to 1, so the tests of --need stay longest.
const NEEDED: f64 = 1.0;

impl Goal {
    /// The weight of a program: that of its phases in the use, and more for each requirement. 0 for all programs if the
    /// user gave neither a use nor requirements.
    pub fn weight(&self, program: &Program) -> f64 {
        let keys: Vec<(&str, &str)> = program.keys().collect();
        let is_meant = |word: &str| !matching(word, &keys).is_empty();
        let weights = self.purpose.iter().flat_map(|purpose| &purpose.weights);
        let used: f64 = weights.filter(|(word, _)| is_meant(word)).map(|(_, weight)| weight).sum();
        let needed = self.needs.iter().filter(|need| is_meant(&need.program)).count();
        used + NEEDED * needed as f64
    }
}

#[cfg(test)]
mod tests {
    use workload::programs::classic1983::Classic;
    use workload::programs::small_io;

    use super::*;
    use crate::choose::{parse_conditions, parse_use};

    #[test]
    fn tests_of_requirements_weigh_more_than_those_of_the_use() {
        let goal = Goal {
            margin: 0.05,
            purpose: Some(parse_use("commit=3,read_8192=1").expect("a use")),
            needs: parse_conditions("randread>=3000/s").expect("needs"),
            prices: Vec::new(),
            in_stages: false,
        };
        let random = small_io::random_read(1 << 20, 4096, 10, 1);
        let weights =
            [random, small_io::commit(1, 4096), Classic::Read8192.program(8192), Classic::Write8192.program(8192)]
                .map(|program| goal.weight(&program));
        assert_eq!(weights, [1.0, 0.75, 0.25, 0.0]);
        let plain = Goal { purpose: None, needs: Vec::new(), ..goal };
        assert_eq!(plain.weight(&small_io::commit(1, 4096)), 0.0);
    }
}
