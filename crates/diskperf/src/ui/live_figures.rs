//! The text of the live line: rate, latencies and a sparkline of the latest seconds. Pure.

use std::collections::VecDeque;

use runner::live::Between;
use stats::digits::significant;
use units::Nanos;

/// The most seconds of the sparkline. Chosen: the line then fits 80 columns.
const MOST: usize = 10;

/// The heights of the sparkline.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Seconds without a finished interval after which the line says so: an interval may end just after a second.
const PATIENCE: u32 = 2;

/// Bytes of the printed unit.
const MIB: f64 = 1024.0 * 1024.0;

/// The latest seconds of the running test.
#[derive(Clone, Debug, Default)]
pub struct LatestSeconds {
    /// The rates, the latest last.
    rates: VecDeque<f64>,
    last: Option<Between>,
    /// Seconds since the last figures.
    silent: u32,
}

impl LatestSeconds {
    /// Adds a second. `None` if no interval finished in it.
    pub fn add(&mut self, figures: Option<Between>) {
        match figures {
            Some(figures) => {
                if self.rates.len() == MOST {
                    self.rates.pop_front();
                }
                self.rates.push_back(figures.per_second);
                (self.last, self.silent) = (Some(figures), 0);
            }
            None => self.silent += 1,
        }
    }

    /// The figures and the sparkline. `None` before the first figures.
    pub fn text(&self) -> Option<(String, String)> {
        let last = self.last?;
        let figures = if self.silent >= PATIENCE {
            format!("no operation ended for {} s ", self.silent)
        } else {
            let time = |nanos: Option<u64>| nanos.map_or_else(|| "n.m.".to_owned(), |nanos| Nanos(nanos).to_string());
            format!(
                "{} ops/s, {} MiB/s, p50 {}, p99 {} ",
                significant(last.per_second, 3),
                significant(last.bytes_per_second / MIB, 3),
                time(last.p50),
                time(last.p99)
            )
        };
        Some((figures, sparkline(self.rates.iter().copied())))
    }
}

/// A character for each rate: its height is the share of the highest rate. Of two rates that differ by less than an
/// eighth of it, both may have the same height.
fn sparkline(rates: impl Iterator<Item = f64> + Clone) -> String {
    let most = rates.clone().fold(0.0, f64::max);
    let height = |rate: f64| if most > 0.0 { (rate / most * HEIGHTS.len() as f64).ceil() as usize } else { 0 };
    rates.map(|rate| HEIGHTS[height(rate).clamp(1, HEIGHTS.len()) - 1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(per_second: f64) -> Option<Between> {
        let latency = (per_second > 0.0).then_some(81_300);
        Some(Between {
            per_second,
            bytes_per_second: 4096.0 * per_second,
            p50: latency,
            p99: latency.map(|p50| 2 * p50),
        })
    }

    fn text(seconds: &LatestSeconds) -> String {
        seconds.text().map(|(figures, spark)| figures + &spark).unwrap_or_default()
    }

    #[test]
    fn the_line_has_the_figures_of_the_last_second_and_the_rates_before() {
        let mut seconds = LatestSeconds::default();
        assert_eq!(seconds.text(), None);
        [100.0, 800.0, 799.0, 0.0].into_iter().for_each(|rate| seconds.add(second(rate)));
        assert_eq!(text(&seconds), "0 ops/s, 0 MiB/s, p50 n.m., p99 n.m. ▁██▁");
        seconds.add(second(12_345.0));
        assert_eq!(text(&seconds), "12,300 ops/s, 48.2 MiB/s, p50 81.3 us, p99 163 us ▁▁▁▁█");
    }

    #[test]
    fn a_second_without_figures_keeps_the_line_and_more_of_them_are_a_stall() {
        let mut seconds = LatestSeconds::default();
        seconds.add(None);
        assert_eq!(text(&seconds), "");
        seconds.add(second(1.0));
        seconds.add(None);
        assert_eq!(text(&seconds), "1.00 ops/s, 0.00391 MiB/s, p50 81.3 us, p99 163 us █");
        seconds.add(None);
        assert_eq!(text(&seconds), "no operation ended for 2 s █");
        seconds.add(second(2.0));
        assert_eq!(text(&seconds), "2.00 ops/s, 0.00781 MiB/s, p50 81.3 us, p99 163 us ▄█");
    }

    #[test]
    fn the_sparkline_has_the_latest_rates() {
        let mut seconds = LatestSeconds::default();
        (1..=20).for_each(|rate| seconds.add(second(f64::from(rate))));
        assert_eq!(seconds.text().expect("figures").1, "▅▅▆▆▆▇▇███");
        assert_eq!(sparkline([0.0, 0.0].into_iter()), "▁▁");
    }
}
