//! What a comparison came to: of each program the ratio of two targets with its interval, on an axis around 1 where the
//! margin is shaded. A verdict is told by a shape and by words.

use stats::choice::every_two;
use stats::{Choice, Comparison, Document, Verdict};

use super::figures::{self, class};
use super::frame::{AXIS, Frame, Heading, LINE, along};
use super::scale::{self, Scale};
use super::svg::{Along, Anchor, Path, Shape, Svg};
use super::words::fitted;
use super::{Chart, NARROW, Subject};
use crate::numbers::significant;

/// What an interval is drawn in.
const STRIP: f64 = 14.0;
/// From a program to the next.
const BETWEEN: f64 = 9.0;
/// The words on both sides above the ground.
const SIDES: f64 = 20.0;
/// What is further from 1 ends at the edge: an interval of few rounds may reach anywhere.
const FURTHEST: f64 = 32.0;

/// A chart for every two targets.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let Some(choice) = &document.run.choice else { return Vec::new() };
    let names: Vec<&str> = document.run.targets.iter().map(|target| target.name.as_str()).collect();
    let of_two = |(first, second): (usize, usize)| {
        let use_of = choice.purpose.iter().flat_map(|purpose| &purpose.comparisons);
        let pairs: Vec<(bool, &Comparison)> = use_of
            .map(|pair| (true, pair))
            .chain(choice.comparisons.iter().map(|pair| (false, pair)))
            .filter(|(_, pair)| pair.first == names[first] && pair.second == names[second])
            .collect();
        (!pairs.is_empty()).then(|| chart(choice, [(first, names[first]), (second, names[second])], &pairs))
    };
    every_two(names.len()).filter_map(of_two).collect()
}

fn chart(choice: &Choice, sides: [(usize, &str); 2], pairs: &[(bool, &Comparison)]) -> Chart {
    let ends = pairs.iter().flat_map(|(_, pair)| [pair.low, pair.ratio, pair.high]).flatten();
    let margin = 1.0 + choice.margin.max(0.0);
    let ends = ends.map(|end| end.clamp(1.0 / FURTHEST, FURTHEST));
    let around = [1.0 / margin, margin].into_iter().flat_map(|end| [end, end.powi(2).min(FURTHEST)]);
    let scale = Scale::log(ends.chain(around)).unwrap_or(Scale::Log(0.5, 2.0));
    let heading = |(is_use, pair): &(bool, &Comparison)| match is_use {
        true => format!("for {}, as its programs weigh", pair.program),
        false => pair.program.clone(),
    };
    let height = |pair| Heading::of(&heading(pair)).height() + LINE + STRIP + BETWEEN;
    let foot = SIDES + pairs.iter().map(height).sum::<f64>();
    let mut svg = Svg::default();
    svg.rect("band", scale.share(1.0 / margin), scale.share(margin), SIDES, foot - SIDES, "");
    along(&mut svg, labels(&scale), NARROW, SIDES, foot);
    svg.upright("one", scale.share(1.0), SIDES, foot);
    let [(_, first), (_, second)] = sides;
    let half = NARROW / 2.0 - 16.0;
    let name = |name: &str| fitted(name, half - 70.0);
    svg.text("tick", Along::Share(0.0), 12.0, Anchor::Start, &format!("◂ {} faster", name(first)));
    svg.text("tick", Along::Share(1.0), 12.0, Anchor::End, &format!("{} faster ▸", name(second)));
    let mut figures: Vec<String> = Vec::new();
    let mut y = SIDES;
    for both in pairs {
        let (name, pair) = (heading(both), both.1);
        let said = said(choice, pair);
        figures.push(format!("{name} {said}"));
        let tip = format!("{name}: {said}, {} pairs of rounds{}", pair.pairs, why(pair));
        svg.open_series(&side(sides, pair), "", &tip);
        let heading = Heading::of(&name);
        heading.draw(&mut svg, y + 2.0);
        let below = y + heading.height();
        svg.text("label", Along::Share(0.0), below + 13.0, Anchor::Start, &fitted(&said, NARROW));
        strip(&mut svg, &scale, pair, below + LINE);
        svg.close("g");
        y += height(both);
    }
    let frame = Frame {
        subject: Subject::Choice,
        title: format!("{second} beside {first}: how many times as fast"),
        series: Vec::new(),
        told: figures::told(&format!("Ratios of {second} to {first} with their intervals"), &figures),
    };
    frame.plain(svg, foot + AXIS)
}

/// The interval, and the ratio as a shape: a triangle points to who is faster, a square is the same, a circle is not
/// decided. Full where it is a reason to choose, or known to be none.
fn strip(svg: &mut Svg, scale: &Scale, pair: &Comparison, y: f64) {
    let middle = STRIP / 2.0;
    let mut line = Path::default();
    if let (Some(low), Some(high)) = (pair.low, pair.high) {
        line = line.to(scale.share(low), middle).line(scale.share(high), middle);
    }
    svg.stretched(y, STRIP, &[("interval", line)]);
    let hollow = !pair.matters;
    let shape = match pair.verdict {
        Verdict::Faster if pair.faster.as_ref() == Some(&pair.first) => Shape::Left { hollow },
        Verdict::Faster => Shape::Right { hollow },
        Verdict::Same => Shape::Square,
        Verdict::Undecided => Shape::Circle { hollow: true },
    };
    if let Some(ratio) = pair.ratio {
        svg.shape("", shape, Along::Share(scale.share(ratio)), y + middle, "");
    }
}

/// The colour of who is faster; no colour where nobody is.
fn side(sides: [(usize, &str); 2], pair: &Comparison) -> String {
    let faster = sides.iter().find(|(_, name)| pair.faster.as_deref() == Some(*name));
    faster.map_or_else(|| "neither".to_owned(), |(place, _)| class(*place))
}

/// `xfs faster: 1.17x (1.12-1.23)`
fn said(choice: &Choice, pair: &Comparison) -> String {
    let is_first = pair.faster.as_ref() == Some(&pair.first);
    let turned = |value: Option<f64>| value.map(|value| if is_first { 1.0 / value } else { value });
    let (low, high) = if is_first { (turned(pair.high), turned(pair.low)) } else { (pair.low, pair.high) };
    let ends = low.zip(high).map(|(low, high)| format!("{}-{}", figure(low), figure(high)));
    match (pair.verdict, &pair.faster) {
        (Verdict::Faster, Some(faster)) => {
            let ratio = turned(pair.ratio).map_or_else(String::new, |ratio| format!(" {}x", figure(ratio)));
            let ends = ends.map_or_else(String::new, |ends| format!(" ({ends})"));
            format!("{} faster:{ratio}{ends}", fitted(faster, 90.0))
        }
        (Verdict::Same, _) => {
            let margin = scale::number(100.0 * choice.margin);
            format!("the same within {margin} %{}", ends.map_or_else(String::new, |ends| format!(": {ends}")))
        }
        _ => format!("not decided{}", ends.map_or_else(String::new, |ends| format!(": {ends}"))),
    }
}

fn why(pair: &Comparison) -> String {
    let marks: String = pair.marks.iter().map(|code| format!("; * {}", code.name())).collect();
    pair.why.as_ref().map_or_else(String::new, |why| format!("; {why}")) + &marks
}

/// Two decimals, and three digits of what is larger.
fn figure(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}") } else { significant(ratio, 3) }
}

/// 1 first, then what lies the same ratio away from it on both sides.
fn labels(scale: &Scale) -> Vec<(f64, String)> {
    let on_axis = |value: &f64| (1e-6..1.0 - 1e-6).contains(&scale.share(*value));
    let wide = [2.0, 0.5, 4.0, 0.25, 8.0, 0.125, 16.0, 0.0625, 32.0, 0.03125];
    let near = [1.2, 0.8, 1.5, 0.67, 1.1, 0.9, 1.05, 0.95];
    let is_wide = on_axis(&2.5) || on_axis(&0.4);
    let others: &[f64] = if is_wide { &wide } else { &near };
    let all = [1.0].iter().chain(others).copied().filter(on_axis);
    all.map(|value| (scale.share(value), format!("{}x", trimmed(value)))).collect()
}

fn trimmed(value: f64) -> String {
    if value < 0.1 { significant(value, 2) } else { value.to_string() }
}
