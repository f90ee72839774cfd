//! Chooses the charts of a document that are kept, so that its page stays small.
//!
//! Policy:
//!   1. the first chart of every subject comes before the second of any, in the order of subjects;
//!   2. a chart that no longer fits is left out, because the table has every figure. A smaller one after it may still
//!      fit;
//!   3. the number of charts left out is in the title of the last chart kept of their subject, or of the last chart of
//!      all.

use std::collections::BTreeMap;

use super::{Chart, MOST_BYTES, Subject};

/// Returns the charts that fit into [`MOST_BYTES`], in their original order.
pub(super) fn within(charts: Vec<Chart>) -> Vec<Chart> {
    let mut seen: BTreeMap<Subject, usize> = BTreeMap::new();
    let turn = |chart: &Chart| {
        let seen = seen.entry(chart.subject).or_default();
        *seen += 1;
        *seen
    };
    let turns: Vec<usize> = charts.iter().map(turn).collect();
    let mut order: Vec<usize> = (0..charts.len()).collect();
    order.sort_by_key(|place| turns[*place]);
    let mut is_kept = vec![false; charts.len()];
    let mut bytes = 0;
    // 1. and 2.
    for place in order {
        let with = bytes + size(&charts[place]);
        if with <= MOST_BYTES {
            (bytes, is_kept[place]) = (with, true);
        }
    }
    let mut left_out: BTreeMap<Subject, usize> = BTreeMap::new();
    for (chart, _) in charts.iter().zip(&is_kept).filter(|(_, is_kept)| !**is_kept) {
        *left_out.entry(chart.subject).or_default() += 1;
    }
    let mut kept: Vec<Chart> =
        charts.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(chart, _)| chart).collect();
    // 3.
    for (subject, count) in left_out {
        let of_subject = kept.iter().rposition(|chart| chart.subject == subject);
        if let Some(place) = of_subject.or(kept.len().checked_sub(1)) {
            say(&mut kept[place], count, of_subject.is_none().then_some(subject));
        }
    }
    kept
}

/// Returns the bytes of a chart in a page: its drawing, its title and the names of its series.
fn size(chart: &Chart) -> usize {
    chart.svg.len() + chart.title.len() + chart.series.iter().map(String::len).sum::<usize>()
}

fn say(chart: &mut Chart, count: usize, of_other: Option<Subject>) {
    let charts = if count == 1 { "chart" } else { "charts" };
    let what = match of_other {
        None => String::new(),
        Some(Subject::Rates) => " of rates".to_owned(),
        Some(Subject::Hosts) => " of hosts".to_owned(),
        Some(Subject::Choice) => " of comparisons".to_owned(),
        Some(Subject::OverTime) => " over time".to_owned(),
        Some(Subject::Latency) => " of latencies".to_owned(),
        Some(Subject::Together) => " of programs that ran together".to_owned(),
        Some(Subject::Time) => " of time breakdowns".to_owned(),
        Some(Subject::Sweep) => " of buffer sizes".to_owned(),
        Some(Subject::Setting) => " of settings".to_owned(),
        Some(Subject::Paper) => " of published figures".to_owned(),
    };
    let said = format!(" ({count} more {charts}{what} left out; see the table)");
    chart.svg =
        chart.svg.replacen("</title>", &format!("{said}</title>"), 1).replacen("</desc>", &format!("{said}</desc>"), 1);
    chart.title += &said;
    // The description stays a sentence with a final stop.
    chart.told = format!("{}{said}.", chart.told.trim_end_matches('.'));
}
