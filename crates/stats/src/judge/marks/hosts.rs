//! Judges results of several hosts: a host that is slower than the others, hosts that did not start together, and the
//! warnings of single hosts.

use super::{Mark, MarkCode};
use crate::figures::summary::median;
use crate::results::round::StartSpread;

/// The share of the median rate below which a host is slow. Guess: IO500 reports differ by less between equal clients.
pub const SLOW: f64 = 0.8;

/// The share of a round by which hosts may start apart. Chosen: the rate of all hosts is wrong by at most this.
pub const APART: f64 = 0.01;

/// Returns a mark if one host was slower than this share of the median in every round: the slowest of these hosts.
/// `rates` are those of all hosts in each round.
pub fn uneven(names: &[&str], rates: &[Vec<f64>]) -> Option<Mark> {
    let of_median = |host: usize| {
        let shares = rates.iter().map(|round| Some(round.get(host)? / median(round)?));
        let shares: Vec<f64> = shares.collect::<Option<_>>()?;
        shares.into_iter().max_by(f64::total_cmp)
    };
    let best: Vec<(f64, usize)> = (0..names.len()).filter_map(|host| Some((of_median(host)?, host))).collect();
    let (share, host) = best.into_iter().min_by(|one, other| one.0.total_cmp(&other.0))?;
    (share < SLOW).then(|| Mark {
        code: MarkCode::Uneven,
        value: Some(share),
        text: format!("{} had at most {share:.2} of the median rate of all hosts", names[host]),
    })
}

/// Returns a mark if the hosts started too far apart in a round. Each round has its spread and its seconds.
pub fn apart(rounds: impl Iterator<Item = (StartSpread, f64)>) -> Option<Mark> {
    let share = |(spread, seconds): &(StartSpread, f64)| (spread.nanos + spread.uncertainty_ns) as f64 / 1e9 / seconds;
    let worst = rounds.max_by(|one, other| share(one).total_cmp(&share(other)))?;
    (share(&worst) > APART).then(|| Mark {
        code: MarkCode::Apart,
        value: Some(share(&worst)),
        text: format!(
            "the hosts started within {:.1} ms, {:.1} % of the round",
            (worst.0.nanos + worst.0.uncertainty_ns) as f64 / 1e6,
            100.0 * share(&worst)
        ),
    })
}

/// Returns one mark for each kind that a host has, with the names of the hosts unless all say the same. The value is
/// the worst one.
pub fn of_all(hosts: &[(&str, &[Mark])]) -> Vec<Mark> {
    let all = || hosts.iter().flat_map(|(name, marks)| marks.iter().map(move |mark| (*name, mark)));
    let of_code = |code: MarkCode| {
        let of_code: Vec<(&str, &Mark)> = all().filter(|(_, mark)| mark.code == code).collect();
        let (_, first) = of_code.first()?;
        let is_common = of_code.len() == hosts.len() && of_code.iter().all(|(_, mark)| mark.text == first.text);
        let names: Vec<&str> = of_code.iter().map(|(name, _)| *name).collect();
        let text = if is_common { first.text.clone() } else { format!("{}: {}", names.join(", "), first.text) };
        let values = of_code.iter().filter_map(|(_, mark)| mark.value);
        let value = values.reduce(|one, other| if code.is_worse_lower() { one.min(other) } else { one.max(other) });
        Some(Mark { code, value, text })
    };
    super::codes(all().map(|(_, mark)| mark)).into_iter().filter_map(of_code).collect()
}
