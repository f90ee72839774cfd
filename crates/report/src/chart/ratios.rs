//! A comparison as a chart: for each program the ratio of two targets with its interval, on an axis around 1 with the
//! margin shaded. Shapes and words show the verdict.

use std::collections::BTreeMap;

use stats::compare::stages::{Step, steps};
use stats::compare::target_comparison::every_two;
use stats::digits::significant;
use stats::{Choice, Comparison, Document, Verdict};

use super::cell_text::{self, class};
use super::frame::{AXIS, Frame, Heading, LINE, x_axis};
use super::labels::Anchor;
use super::labels::{self, fitted};
use super::scale::{self, Scale};
use super::svg::{Along, Path, Shape, Svg};
use super::{Chart, NARROW, Subject};
use crate::compare::target_comparison::{is_won, of_targets};
use crate::compare::verdict::{interval, range, ratio, times};

/// The height of the strip for an interval, in pixels.
const STRIP: f64 = 14.0;
/// From a program to the next, in pixels.
const BETWEEN: f64 = 9.0;
/// The height of the two lines of words above the plot area, one for each of its sides, in pixels.
const SIDES: f64 = 36.0;
/// Ratios farther than this from 1 end at the edge: an interval of few rounds may reach anywhere.
const FURTHEST: f64 = 32.0;

/// Returns a chart for each pair of targets, pairs with the best target first. Stages have one for each step, in order,
/// and one for all steps together at the end.
pub(super) fn charts(document: &Document) -> Vec<Chart> {
    let Some(choice) = &document.run.choice else { return Vec::new() };
    let stages: Vec<&str> = choice.stages.iter().map(|stage| stage.target.as_str()).collect();
    let targets: Vec<&str> = document.run.targets.iter().map(|target| target.name.as_str()).collect();
    let place = |name: &str| targets.iter().position(|target| *target == name).unwrap_or(0);
    let of_use = of_targets(choice.purpose.iter().flat_map(|purpose| &purpose.comparisons));
    let of_programs = of_targets(&choice.comparisons);
    let of_two = |step: Option<Step>, [first, second]: [&str; 2]| {
        let both = [(true, &of_use), (false, &of_programs)];
        let pairs = both
            .into_iter()
            .flat_map(|(is_use, all)| all.get(&[first, second]).into_iter().flatten().map(move |pair| (is_use, *pair)));
        let pairs: Vec<(bool, &Comparison)> = pairs.collect();
        let sides = [(place(first), first), (place(second), second)];
        (!pairs.is_empty()).then(|| chart(choice, step, sides, &pairs))
    };
    if !stages.is_empty() {
        let steps = steps(stages.len());
        return steps.filter_map(|(step, (one, other))| of_two(Some(step), [stages[one], stages[other]])).collect();
    }
    let best = best(choice, &targets);
    let mut pairs: Vec<(usize, usize)> = every_two(targets.len()).collect();
    pairs.sort_by_key(|(first, second)| *first != best && *second != best);
    pairs.into_iter().filter_map(|(first, second)| of_two(None, [targets[first], targets[second]])).collect()
}

/// Returns the index of the target with the most comparisons won, less those lost; the first one if several are equal.
fn best(choice: &Choice, targets: &[&str]) -> usize {
    let mut won: BTreeMap<&str, i64> = BTreeMap::new();
    for pair in &choice.comparisons {
        let Some(faster) = pair.faster.as_deref() else { continue };
        for target in [pair.first.as_str(), &pair.second] {
            *won.entry(target).or_default() += if target == faster { 1 } else { -1 };
        }
    }
    let won = |target: &str| won.get(target).copied().unwrap_or(0);
    (0..targets.len()).max_by_key(|place| (won(targets[*place]), std::cmp::Reverse(*place))).unwrap_or(0)
}

/// Returns the change between two stages, as a title.
fn changed(choice: &Choice, step: Step) -> String {
    match step {
        Step::All => "All stages together: how many times as fast".to_owned(),
        Step::At(place) => {
            let changed = &choice.stages[place].changed;
            let changed = if changed.is_empty() { "nothing changed".to_owned() } else { changed.join(", ") };
            format!("Stage {}, {changed}: how many times as fast as stage {place}", place + 1)
        }
    }
}

/// Returns two names without their common first part, if it ends at a separator and both names continue after it.
fn apart([one, other]: [&str; 2]) -> [&str; 2] {
    let same = one.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b);
    let ends = same.filter(|((_, character), _)| "/,:@-_.= ".contains(*character));
    match ends.last().map(|((at, character), _)| at + character.len_utf8()) {
        Some(from) if from < one.len() && from < other.len() => [&one[from..], &other[from..]],
        _ => [one, other],
    }
}

fn chart(choice: &Choice, step: Option<Step>, sides: [(usize, &str); 2], pairs: &[(bool, &Comparison)]) -> Chart {
    let margin = 1.0 + choice.margin.max(0.0);
    let scale = scale_of(ends(pairs.iter().map(|(_, pair)| *pair)), margin);
    let heading = |(is_use, pair): &(bool, &Comparison)| match is_use {
        true => format!("for {}, weighted mean of its tests", pair.program),
        false => pair.program.clone(),
    };
    let height = |pair| Heading::from_name(&heading(pair)).height() + LINE + STRIP + BETWEEN;
    let foot = SIDES + pairs.iter().map(height).sum::<f64>();
    let mut svg = Svg::default();
    svg.rect("band", scale.share(1.0 / margin), scale.share(margin), SIDES, foot - SIDES, "");
    x_axis(&mut svg, labels(&scale), NARROW, SIDES, foot);
    svg.upright("one", scale.share(1.0), SIDES, foot);
    let [(_, first), (_, second)] = sides;
    let short = apart([first, second]);
    let heads = match step {
        Some(_) => ["slower", "faster"],
        None => short,
    };
    let [left, right] = heads.map(|head| fitted(head, NARROW - 20.0));
    svg.text("tick", Along::Share(0.0), 12.0, Anchor::Start, &format!("◂ {left}"));
    svg.text("tick", Along::Share(1.0), 12.0 + LINE, Anchor::End, &format!("{right} ▸"));
    let mut figures: Vec<String> = Vec::new();
    let mut y = SIDES;
    for both in pairs {
        let (name, pair) = (heading(both), both.1);
        let said = describe_comparison(choice, step, pair, short);
        figures.push(format!("{name} {said}"));
        let tip = format!("{name}: {said}, {} pairs of rounds{}", pair.pairs, why(pair));
        svg.open_series(&side(sides, pair), "", &tip);
        let heading = Heading::from_name(&name);
        heading.draw(&mut svg, y + 2.0);
        let below = y + heading.height();
        svg.text("label", Along::Share(0.0), below + 13.0, Anchor::Start, &fitted(&said, NARROW));
        strip(&mut svg, &scale, pair, below + LINE);
        svg.close("g");
        y += height(both);
    }
    let frame = Frame {
        subject: Subject::Choice,
        title: match step {
            Some(step) => changed(choice, step),
            None => format!("{first} or {second}: which is faster, and by what factor"),
        },
        series: Vec::new(),
        told: cell_text::describe_figures(&format!("Ratios of {second} to {first} with their intervals"), &figures),
    };
    frame.rows(svg, foot + AXIS)
}

/// Returns the values that an axis of ratios must include: the ratio and both ends of every interval.
fn ends<'a>(pairs: impl Iterator<Item = &'a Comparison>) -> impl Iterator<Item = f64> {
    let ends = pairs.flat_map(|pair| [pair.low, pair.ratio, pair.high]).flatten();
    ends.map(|end| end.clamp(1.0 / FURTHEST, FURTHEST))
}

/// Returns an axis that includes these values, with some room around the margin.
pub(super) fn scale_of(ends: impl Iterator<Item = f64>, margin: f64) -> Scale {
    let around = [1.0 / margin, margin].into_iter().flat_map(|end| [end, end.powi(2).min(FURTHEST)]);
    Scale::log(ends.chain(around)).unwrap_or(Scale::Log(0.5, 2.0))
}

/// An axis of ratios that all rows of a table share, with 1 in the middle.
pub(crate) struct Axis {
    scale: Scale,
    margin: f64,
}

impl Axis {
    /// Makes the axis for these comparisons. An interval of few rounds may reach far beyond every ratio, so it is cut
    /// off.
    pub(crate) fn from_comparisons(pairs: &[&Comparison], margin: f64) -> Axis {
        let margin = 1.0 + margin.max(0.0);
        let farthest = pairs.iter().filter_map(|pair| pair.ratio).map(|ratio| ratio.ln().abs()).fold(0.0, f64::max);
        let most = (MOST_BEYOND * farthest).max(4.0 * margin.ln()).exp();
        let ends = ends(pairs.iter().copied()).map(|end| end.clamp(1.0 / most, most));
        Axis { scale: scale_of(ends.flat_map(|end| [end, 1.0 / end]), margin), margin }
    }

    /// Returns the strip with the labels of the axis; it has no ratio.
    pub(crate) fn labels(&self) -> String {
        strip_of(LINE, |svg| {
            let share = |ratio| self.scale.share(ratio);
            let sides = [2.0, 4.0, 8.0, 16.0, 32.0, 1.5, 1.2, 1.1];
            let on_axis = |ratio: &f64| (1e-6..1.0 - 1e-6).contains(&share(*ratio));
            let of_side = |ratio: f64| [(share(1.0 / ratio), format!("{ratio}×")), (share(ratio), format!("{ratio}×"))];
            let labels = sides.into_iter().filter(on_axis).flat_map(of_side);
            for label in labels::apart([(share(1.0), "1".to_owned())].into_iter().chain(labels), NARROW_STRIP) {
                svg.label(&label, 12.0);
            }
        })
    }

    /// Returns the strip of a comparison: its interval and its ratio, in the colour of this class.
    pub(crate) fn strip(&self, pair: &Comparison, class: &str) -> String {
        const HIGH: f64 = 24.0;
        strip_of(HIGH, |svg| {
            let [from, to] = [1.0 / self.margin, self.margin].map(|end| self.scale.share(end));
            svg.rect("band", from, to, 0.0, HIGH, "");
            svg.upright("one", self.scale.share(1.0), 0.0, HIGH);
            svg.open("g", &[("class", class)]);
            strip(svg, &self.scale, pair, (HIGH - STRIP) / 2.0);
            svg.close("g");
        })
    }
}

/// The most that an interval lengthens the axis of a table, in natural logarithms. A choice.
const MOST_BEYOND: f64 = 1.5;

/// The narrowest strip of a table, in pixels.
const NARROW_STRIP: f64 = 112.0;

/// Returns a drawing for a table cell. It is hidden from screen readers, because the table has the same content in
/// words.
fn strip_of(high: f64, draw: impl FnOnce(&mut Svg)) -> String {
    let mut svg = Svg::default();
    let height = high.to_string();
    svg.open("svg", &[("class", "chart strip"), ("aria-hidden", "true"), ("width", "100%"), ("height", &height)]);
    draw(&mut svg);
    svg.close("svg");
    svg.into_text()
}

/// Draws the interval, and the ratio as a shape: a triangle points to the faster target, a square means the same, a
/// circle means undecided. The shape is filled if the difference is proven to matter, or proven not to.
fn strip(svg: &mut Svg, scale: &Scale, pair: &Comparison, y: f64) {
    let middle = STRIP / 2.0;
    let mut line = Path::default();
    if let (Some(low), Some(high)) = (pair.low, pair.high) {
        line = line.to(scale.share(low), middle).line(scale.share(high), middle);
    }
    svg.stretched(y, STRIP, &[("interval", line)]);
    let hollow = !pair.matters;
    let shape = match pair.verdict() {
        Verdict::Slower => Shape::Left { hollow },
        Verdict::Faster => Shape::Right { hollow },
        Verdict::Same => Shape::Square,
        Verdict::Undecided | Verdict::NotMeasured => Shape::Circle { hollow: true },
    };
    if let Some(ratio) = pair.ratio {
        svg.shape("", shape, Along::Share(scale.share(ratio)), y + middle, "");
    }
}

/// Returns the class of the faster target's colour; no colour if neither is faster.
fn side(sides: [(usize, &str); 2], pair: &Comparison) -> String {
    let faster = sides.iter().find(|(_, name)| is_won(pair, name));
    faster.map_or_else(|| "neither".to_owned(), |(place, _)| class(*place))
}

/// `xfs faster: 1.17x (1.12-1.23)`; for stages the ratio of the later one as it is drawn, `x0.60 (0.55-0.66)`.
fn describe_comparison(choice: &Choice, step: Option<Step>, pair: &Comparison, names: [&str; 2]) -> String {
    let (estimate, verdict) = (pair.estimate(), pair.verdict());
    let range = range(estimate).map_or_else(String::new, |range| format!(": {range}"));
    match (verdict, pair.winner()) {
        (_, Some(_)) if step.is_some() => format!("x{}{}", ratio(estimate), interval(estimate)),
        (_, Some(winner)) => {
            let name = names[usize::from(verdict == Verdict::Faster)];
            format!("{} faster: {}", fitted(name, 90.0), times(winner.estimate))
        }
        (Verdict::Same, _) => format!("the same within {} %{range}", scale::number(100.0 * choice.margin)),
        _ => format!("not decided{range}"),
    }
}

fn why(pair: &Comparison) -> String {
    let marks: String = pair.marks.iter().map(|code| format!("; * {}", code.name())).collect();
    pair.why.as_ref().map_or_else(String::new, |why| format!("; {why}")) + &marks
}

/// Returns the labels: 1 first, then pairs at the same ratio from it on both sides.
pub(super) fn labels(scale: &Scale) -> Vec<(f64, String)> {
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
