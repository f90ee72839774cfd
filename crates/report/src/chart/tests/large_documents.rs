//! Charts over many rounds, and over many runs.

use stats::Document;
use stats::compare::history::{HISTORY_SCHEMA, History, Past, Step, Time};

use super::example_documents::{cell, document};
use super::svg_reader::attribute;
use super::{Chart, Subject, charts_of_subject, read};

fn over_time(document: &Document) -> Vec<Chart> {
    charts_of_subject(document, Subject::OverTime)
}

/// Returns the positions of the labels of both axes.
fn ticks(chart: &Chart) -> Vec<(String, String)> {
    let checked = read(chart);
    let ticks = checked.of_class("tick").filter(|tick| !attribute(tick, "x").is_empty());
    ticks.map(|tick| (attribute(tick, "x").to_owned(), attribute(tick, "y").to_owned())).collect()
}

#[test]
fn many_rounds_of_several_targets_are_small_charts_with_one_axis() {
    let both = |rounds: usize| {
        over_time(&document(vec![cell("write", "ext4", &vec![1600; rounds]), cell("write", "xfs", &vec![400; rounds])]))
    };
    assert_eq!(both(8).len(), 1);
    let [first, second] = &both(9)[..] else { panic!("a chart for each target") };
    assert_eq!(ticks(first), ticks(second));
    for (chart, name, class) in [(first, "ext4", "s0"), (second, "xfs", "s1")] {
        assert!(chart.title.starts_with(&format!("write on {name}: ")), "{}", chart.title);
        assert!(chart.series.is_empty());
        let checked = read(chart);
        assert_eq!(checked.of_class("line").count(), 1);
        assert!(chart.svg.contains(&format!("<g class=\"{class}")), "{}", chart.svg);
    }
}

#[test]
fn small_charts_are_no_more_than_a_page_has_room_for() {
    let targets = ["a", "b", "c", "d", "e", "f"];
    let programs = ["one", "two", "three", "four"];
    let cells = programs.iter().flat_map(|program| targets.map(|target| cell(program, target, &[800; 10])));
    let count = over_time(&document(cells.collect())).len();
    assert_eq!(count, 12, "two programs on six targets");
}

/// A test with these rates, one per run.
fn past(name: &str, target: &str, rates: &[Option<u64>]) -> Past {
    let mut before = None;
    let time = |(place, rate): (usize, &Option<u64>)| {
        let ops = rate.unwrap_or_default();
        let step = before.zip(*rate).map(|(then, now): (u64, u64)| Step {
            ratio: Some(now as f64 / then as f64),
            low: None,
            high: None,
            confidence: 1.0,
            finding: match now.cmp(&then) {
                std::cmp::Ordering::Less => stats::Verdict::Slower,
                std::cmp::Ordering::Equal => stats::Verdict::Same,
                std::cmp::Ordering::Greater => stats::Verdict::Faster,
            },
        });
        before = rate.or(before);
        Time {
            run: format!("k{place}-261121"),
            started_unix_s: place as f64,
            interrupted: false,
            rate: rate.and_then(|_| cell(name, target, &[ops; 3]).rate),
            reason: None,
            cpu: None,
            marks: Vec::new(),
            step,
            environment: Vec::new(),
        }
    };
    Past {
        name: name.to_owned(),
        preset: "quick".to_owned(),
        program: name.to_owned(),
        phase: name.to_owned(),
        target: target.to_owned(),
        simulated: false,
        runs: rates.iter().enumerate().map(time).collect(),
    }
}

fn history(series: Vec<Past>) -> History {
    History { schema: HISTORY_SCHEMA.to_owned(), margin: 0.05, series }
}

#[test]
fn a_history_is_one_chart_with_its_steps_marked() {
    let rates = [Some(800), Some(800), None, Some(400), Some(400)];
    let [chart] = &crate::chart::history(&history(vec![past("read", "a", &rates)]))[..] else { panic!("one chart") };
    let checked = read(chart);
    assert_eq!(checked.of_class("line").count(), 1);
    let tips = checked.of_class("tip").map(|tip| attribute(tip, "data-tip"));
    assert_eq!(tips.filter(|tip| tip.contains("UTC")).count(), 4, "every run that was measured");
    assert_eq!(checked.of_class("happened").count(), 1, "the fourth run");
    assert_eq!(checked.of_class("band").count(), 1, "the margin");
    let texts = checked.texts.join(" ");
    assert!(texts.contains("read in k3: slower 0.50x") && texts.contains("within 5 % of the first run"), "{texts}");
}

#[test]
fn seven_tests_have_two_charts_and_a_test_without_rates_has_none() {
    let named = |place: usize| past(&format!("test {place}"), "a", &[Some(800), Some(800)]);
    let charts = crate::chart::history(&history((0..7).map(named).collect()));
    assert_eq!(charts.iter().map(|chart| chart.series.len()).collect::<Vec<_>>(), [6, 0]);
    charts.iter().for_each(|chart| drop(read(chart)));
    assert_eq!(crate::chart::history(&history(vec![past("read", "a", &[None, None])])), []);
}

#[test]
fn a_history_of_a_thousand_runs_stays_small() {
    let rates: Vec<Option<u64>> = (0..1000).map(|place| Some(if place < 500 { 800 } else { 400 })).collect();
    for chart in crate::chart::history(&history(vec![past("read", "a", &rates)])) {
        assert!(chart.svg.len() < 60_000, "{}", chart.svg.len());
        assert_eq!(read(&chart).of_class("happened").count(), 1);
    }
}
