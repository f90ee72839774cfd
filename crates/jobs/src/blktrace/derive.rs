//! Computes the parameters of a mix from the requests of a trace.

use std::collections::BTreeMap;
use std::fmt;

use units::Bytes;
use workload::{FASTEST, Locality, MOST_SIZES, Mix, NEAR, WHOLE};

use super::parse::{Request, SECTOR, Stage, Trace};

/// The mix of a trace, and the counts behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The mix.
    pub mix: Mix,
    device: String,
    stage: Stage,
    requests: usize,
    flushes: u64,
    others: u64,
    elsewhere: u64,
    /// Requests of sizes that the mix leaves out.
    rare: u64,
    /// The distance from the first byte of the lowest request to the end of the highest.
    span: Bytes,
    seconds: f64,
    is_cut: bool,
}

/// The reason why a trace has no mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoMix {
    /// It has no request.
    Empty,
    /// It has flushes and discards only.
    NoAccess,
}

impl NoMix {
    /// The reason in words.
    pub(super) fn reason(self) -> &'static str {
        match self {
            NoMix::Empty => "it has no queued (Q) or issued (D) request",
            NoMix::NoAccess => "it has no reads or writes, only flushes and discards",
        }
    }
}

/// The hot part of a derived mix, in thousandths: the busiest tenth. Chosen: a smaller part would describe a few hot
/// blocks better, but more requests would be needed to tell it from chance.
const PART: u16 = 100;

/// Requests per region, on average. With fewer, the busiest tenth of the regions would have a larger share by chance
/// alone. With 32, its share by chance is 13 % and not 10 (the mean of the upper tenth of a normal distribution is 1.75
/// standard deviations above the mean, and here a standard deviation is 5.7 of 32).
const PER_REGION: usize = 32;

/// The number of regions: at least ten, so that there is a tenth; at most a thousand.
const REGIONS: std::ops::RangeInclusive<usize> = 10..=1000;

impl Derived {
    /// The stage at which requests were counted, in words.
    #[cfg(test)]
    pub(super) fn stage(&self) -> String {
        self.stage.to_string()
    }

    /// The mix of a trace:
    ///   1. sizes: the commonest ones, weighted by their number of requests;
    ///   2. reads: their share;
    ///   3. near: the share of requests that begin within [`NEAR`] of the end of the one before;
    ///   4. hot: the share of the other requests that goes to the busiest tenth of the span, beyond a tenth;
    ///   5. rate: requests over the time from the first to the last, if that is one per second or more.
    pub(super) fn new(trace: &Trace) -> Result<Derived, NoMix> {
        let requests = &trace.requests[..];
        let (Some(first), Some(last)) =
            (requests.iter().map(|one| one.at).min(), requests.iter().map(|one| one.at).max())
        else {
            return Err(if trace.flushes + trace.others > 0 { NoMix::NoAccess } else { NoMix::Empty });
        };
        // 1.
        let (sizes, rare) = sizes(requests);
        // 2.
        let reads = permille(requests.iter().filter(|request| request.reads).count(), requests.len());
        // 3.
        let is_near = |pair: &[Request]| {
            let end = pair[0].sector + u64::from(pair[0].sectors);
            end.abs_diff(pair[1].sector) <= NEAR.0 / SECTOR
        };
        let far: Vec<&Request> = requests
            .first()
            .into_iter()
            .chain(requests.windows(2).filter(|pair| !is_near(pair)).map(|pair| &pair[1]))
            .collect();
        let near = permille(requests.len() - far.len(), requests.len());
        // 4.
        let low = requests.iter().map(|request| request.sector).min().unwrap_or(0);
        let high = requests.iter().map(|request| request.sector + u64::from(request.sectors)).max().unwrap_or(0);
        let hot = hot(&far, low, high - low) * f64::from(WHOLE - near);
        let hot = (hot.round() as u16).min(WHOLE - near);
        let places = Locality { hot, part: PART, near };
        // 5.
        let seconds = (last - first) as f64 / 1e9;
        let rate = (requests.len() - 1) as f64 / seconds;
        let rate = (rate.is_finite() && rate >= 1.0).then(|| rate.round().min(f64::from(FASTEST)) as u32);
        Ok(Derived {
            mix: Mix::new(&sizes, reads, places).expect("sizes and shares that were counted").at_rate(rate),
            device: trace.device.clone(),
            stage: trace.stage,
            requests: requests.len(),
            flushes: trace.flushes,
            others: trace.others,
            elsewhere: trace.elsewhere,
            rare,
            span: Bytes((high - low).saturating_mul(SECTOR)),
            seconds,
            is_cut: trace.is_cut,
        })
    }
}

/// A share in thousandths.
fn permille(part: usize, of: usize) -> u16 {
    (part as f64 * f64::from(WHOLE) / of as f64).round() as u16
}

/// The commonest sizes with their number of requests, the smallest first, and the number of other requests.
fn sizes(requests: &[Request]) -> (Vec<(u32, u32)>, u64) {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for request in requests {
        *counts.entry(request.sectors).or_default() += 1;
    }
    let mut sizes: Vec<(u32, u32)> = counts.into_iter().collect();
    sizes.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let rare = sizes.iter().skip(MOST_SIZES).map(|&(_, count)| u64::from(count)).sum();
    sizes.truncate(MOST_SIZES);
    sizes.sort_unstable();
    (sizes.into_iter().map(|(sectors, count)| (sectors * SECTOR as u32, count)).collect(), rare)
}

/// The share of requests that go to the busiest tenth of the span deliberately, not by chance. 0 if there are too few
/// requests for ten regions, or if all are in one place.
fn hot(far: &[&Request], low: u64, span: u64) -> f64 {
    let regions = (far.len() / PER_REGION).min(*REGIONS.end());
    if regions < *REGIONS.start() || span < regions as u64 {
        return 0.0;
    }
    let mut counts = vec![0_u64; regions];
    for request in far {
        let region = u128::from(request.sector - low) * regions as u128 / u128::from(span);
        counts[(region as usize).min(regions - 1)] += 1;
    }
    counts.sort_unstable_by(|one, other| other.cmp(one));
    let busiest = regions / 10;
    let share = counts.iter().take(busiest).sum::<u64>() as f64 / far.len() as f64;
    let tenth = busiest as f64 / regions as f64;
    ((share - tenth) / (1.0 - tenth)).clamp(0.0, 1.0)
}

/// Prints the counts, and the mix as an option.
impl fmt::Display for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Derived { requests, stage, device, seconds, span, .. } = self;
        write!(f, "{requests} requests {stage} of {device} in {seconds:.1} s, over {span}")?;
        let mut before = "; not counted: ";
        for (count, what) in [
            (self.flushes, "flushes"),
            (self.others, "discards and other commands"),
            (self.elsewhere, "of other devices"),
        ] {
            if count > 0 {
                write!(f, "{before}{count} {what}")?;
                before = ", ";
            }
        }
        if self.rare > 0 {
            write!(f, "; {} have other sizes than the {MOST_SIZES} commonest", self.rare)?;
        }
        if self.is_cut {
            write!(f, "; there are more, which were not read")?;
        }
        write!(f, "; as a mix: --mix {}", self.mix)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use workload::Handle;

    use super::*;

    fn trace(requests: Vec<Request>) -> Trace {
        Trace {
            device: "8,0".to_owned(),
            stage: Stage::Queued,
            requests,
            flushes: 0,
            others: 0,
            elsewhere: 0,
            is_cut: false,
        }
    }

    /// The requests of a mix on a device, at a rate per second.
    fn requests(mix: Mix, bytes: u64, count: u64, rate: u64, seed: u64) -> Vec<Request> {
        let accesses = mix.pattern().accesses(Handle::new(0), bytes, count, seed).enumerate();
        accesses
            .map(|(index, io)| {
                let at = index as u64 * 1_000_000_000 / rate;
                Request { at, sector: io.offset / SECTOR, sectors: io.length / SECTOR as u32, reads: !io.write }
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

        /// A mix is derived from its own requests. A tenth of them is uniform: otherwise the span would be the hot part
        /// only.
        #[test]
        fn a_mix_is_recovered_from_its_trace(
            reads in 0u16..=1000,
            hot in 0u16..=1000,
            near in 0u16..=500,
            rate in 1u64..5000,
            seed: u64,
        ) {
            let places = Locality { hot: hot.min(WHOLE - near - 100), part: 100, near };
            let mix = Mix::new(&[(512, 10), (4096, 30), (8192, 60)], reads, places).expect("a mix");
            let derived = Derived::new(&trace(requests(mix, 1 << 30, 10_000, rate, seed))).expect("a mix").mix;
            prop_assert!(derived.reads().abs_diff(reads) < 20, "{derived}");
            prop_assert!(derived.places().near.abs_diff(near) < 20, "{derived}");
            prop_assert!(derived.places().hot.abs_diff(places.hot) < 60, "{derived} of {mix}");
            prop_assert_eq!(derived.rate(), Some(rate as u32));
            let share = |index: usize| f64::from(derived.sizes()[index].1) / 10_000.0;
            prop_assert!((share(0) - 0.1).abs() < 0.02 && (share(1) - 0.3).abs() < 0.02, "{derived}");
        }
    }

    #[test]
    fn a_mix_needs_at_least_one_request() {
        let one = |reads| Request { at: 7, sector: 3, sectors: 8, reads };
        let derived = |reads| Derived::new(&trace(vec![one(reads)])).map(|derived| derived.mix.to_string());
        assert_eq!(derived(false), Ok("sizes=4KiB:1,reads=0".to_owned()));
        assert_eq!(derived(true), Ok("sizes=4KiB:1,reads=100".to_owned()));
        assert_eq!(Derived::new(&trace(Vec::new())), Err(NoMix::Empty));
        assert_eq!(Derived::new(&Trace { flushes: 1, ..trace(Vec::new()) }), Err(NoMix::NoAccess));
    }

    #[test]
    fn sizes_left_out_of_the_mix_are_counted() {
        let all = (1..=20u32).flat_map(|sectors| {
            let count = if sectors == 20 { 1 } else { 2 };
            (0..count).map(move |at| Request { at, sector: 0, sectors, reads: true })
        });
        let derived = Derived::new(&trace(all.collect())).expect("a mix");
        assert_eq!((derived.mix.sizes().len(), derived.rare), (MOST_SIZES, 7));
        assert!(derived.to_string().contains("; 7 have other sizes than the 16 commonest"), "{derived}");
    }
}
