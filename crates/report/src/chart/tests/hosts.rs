//! Tests of the charts of several hosts.

use super::super::Subject;
use super::example_documents::{cell, document, host};
use super::svg_reader::attribute;
use super::{charts_of_subject, only, percent, read, tips};

#[test]
fn hosts_have_a_chart_for_each_result_with_the_slowest_first() {
    let mut cells = [cell("read", "here", &[1800, 1800]), cell("write", "here", &[900, 900])];
    cells[0].hosts = vec![host("n0", Some(600.0)), host("n1", Some(300.0))];
    cells[1].hosts = (0..10).map(|number| host(&format!("n{number}"), Some(100.0 + f64::from(number)))).collect();
    cells[1].hosts[9].per_second = None;
    let charts = charts_of_subject(&document(cells.to_vec()), Subject::Hosts);
    let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
    assert_eq!(titles, ["read, in ops/s", "write, in ops/s (the slowest 8; 2 more in the table)"]);
    let checked = read(&charts[0]);
    let widths: Vec<f64> = checked.of_class("bar").map(|bar| percent(attribute(bar, "width"))).collect();
    assert!((widths[1] / widths[0] - 2.0).abs() < 0.01, "{widths:?}");
    assert_eq!(tips(&checked, "tip")[0], "n1: 300 ops/s, 0.60 of the median; noise");
    assert!(charts[0].told.contains("n1 300 ops/s, 0.60 of the median; n0 600 ops/s"), "{}", charts[0].told);
    // A host without a rate is the slowest, and has no bar.
    let checked = read(&charts[1]);
    assert_eq!((tips(&checked, "tip")[0], checked.of_class("bar").count()), ("n9: n.m.; noise", 7));
    assert_eq!(charts_of_subject(&document(vec![cell("read", "here", &[1])]), Subject::Hosts), []);
}

#[test]
fn of_runs_of_a_command_each_host_has_the_time_of_one() {
    let mut command = cell("command", "here", &[100, 100]);
    command.rate.as_mut().expect("a rate").unit = stats::figures::rate::RUNS.to_owned();
    command.hosts = vec![host("n0", Some(100.0)), host("n1", Some(50.0))];
    let (chart, checked) = only(&document(vec![command]), Subject::Hosts);
    assert_eq!(chart.title, "command, time of a run");
    let widths: Vec<f64> = checked.of_class("bar").map(|bar| percent(attribute(bar, "width"))).collect();
    assert!((widths[0] / widths[1] - 2.0).abs() < 0.01, "{widths:?}");
    assert_eq!(tips(&checked, "tip")[0], "n1: 20 ms/run, 0.10 of the median; noise");
}
