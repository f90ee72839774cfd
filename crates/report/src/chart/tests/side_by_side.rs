//! Several runs in one chart.

use super::*;

#[test]
fn runs_are_drawn_against_the_first_and_other_settings_are_said() {
    let mut larger = cell("write", "second", &[1600]);
    larger.parameters.insert("file_bytes".to_owned(), ParameterValue::Number(1 << 30));
    let of_runs =
        vec![cell("read", "first", &[800]), cell("read", "second", &[1600]), cell("write", "first", &[800]), larger];
    let chart = crate::chart::runs(&document(of_runs)).expect("a chart");
    let checked = read(&chart);
    assert_eq!(chart.series, ["first", "second"]);
    let at: Vec<f64> = checked.of_class("mark").map(|dot| percent(attribute(dot, "cx"))).collect();
    assert!(at.len() == 4 && at[1] > at[0] && (at[0] - at[2]).abs() < 1e-9, "{at:?}");
    let has = |text: &str| checked.texts.iter().any(|other| other == text);
    assert!(has("read") && has("write (settings differ)"), "{:?}", checked.texts);
    assert_eq!(crate::chart::runs(&document(vec![cell("read", "first", &[800])])), None);
}

#[test]
fn the_strips_of_a_table_share_an_axis_with_1_in_its_middle() {
    let (faster, slower) = (pair(Verdict::Faster, [1.9, 2.0, 2.1]), pair(Verdict::Slower, [0.4, 0.5, 900.0]));
    let axis = super::super::Axis::from_comparisons(&[&faster, &slower], 0.05);
    let at = |pair| {
        let drawn = checked(&axis.strip(pair, "s1")).expect("well-formed");
        let (_, shape) = drawn.elements.iter().rfind(|(name, _)| name == "svg").expect("a shape");
        percent(attribute(shape, "x"))
    };
    assert!((at(&faster) + at(&slower) - 100.0).abs() < 0.1, "{} {}", at(&faster), at(&slower));
    let labels = checked(&axis.labels()).expect("well-formed").texts;
    assert!(labels.contains(&"1".to_owned()) && labels.contains(&"2×".to_owned()), "{labels:?}");
}
