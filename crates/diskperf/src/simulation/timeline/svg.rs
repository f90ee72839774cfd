//! A picture of the part of a timeline with the longest useless turn of a platter: the first place to look at.

use std::fmt::Write;

use simulator::{Activity, Mark};
use units::{Moment, Nanos, Virtual};

use super::{Lane, Lanes};

/// Length of the window: about seven turns of a drive of 3,600 turns a minute.
const WINDOW: Nanos = Nanos::from_millis(120);

/// Lengths of the picture, in points.
const WIDTH: u64 = 1280;
const LEFT: u64 = 130;
const RIGHT: u64 = 30;
const TOP: u64 = 56;
const LANE: u64 = 30;
const BAR: u64 = 22;

/// Heights of the time axis below the lanes, and of the legend below the axis.
const AXIS: u64 = 34;
const LEGEND: u64 = 26;

/// Width of a letter in a bar, and the free space next to a word.
const LETTER: u64 = 7;
const MARGIN: u64 = 8;

/// The colour of each activity: transfers are dark, waits are pale, losses are red.
const COLOURS: [(&str, &str); 9] = [
    ("transfer", "#2b6cb0"),
    ("copy", "#2b6cb0"),
    ("seek", "#b7791f"),
    ("rotation", "#f6c453"),
    ("lost turn", "#c53030"),
    ("interrupt", "#805ad5"),
    ("path", "#e2a3a3"),
    ("controller", "#c3dafe"),
    ("host", "#e2d6f8"),
];

/// Colours of all other work of a part, and of requests in the queue.
const OTHER: (&str, &str) = ("other work", "#9ae6b4");
const REQUESTS: (&str, &str) = ("request in the queue", "#e2e8f0");

pub fn svg(title: &str, lanes: &Lanes) -> String {
    let (from, turned) = window(lanes);
    let until = from + WINDOW;
    let foot = TOP + LANE * lanes.len() as u64 + AXIS;
    let height = foot + LEGEND;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{}</text>\n\
         <text x=\"{LEFT}\" y=\"40\" fill=\"#555\">{WINDOW} from {:.3} s on, around the longest wait for a \
         sector: {turned}\
         </text>\n",
        escaped(title),
        from.since_zero().as_secs_f64(),
    );
    axis(&mut text, from, foot);
    let mut drawn: Vec<(&str, &str)> = Vec::new();
    for (row, ((_, lane), marks)) in lanes.iter().enumerate() {
        let top = TOP + LANE * row as u64;
        let middle = top + BAR / 2 + 4;
        let _ = writeln!(text, "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{}</text>", LEFT - 8, lane.name());
        for mark in marks.iter().filter(|mark| mark.ended > from && mark.began < until) {
            let (left, right) = (x(mark.began.max(from), from), x(mark.ended.min(until), from));
            let (width, length) = ((right - left).max(1), mark.ended.since(mark.began));
            let other = if matches!(lane, Lane::Queue(_)) { REQUESTS } else { OTHER };
            let known = COLOURS.iter().find(|(label, _)| *label == mark.label);
            let (meaning, colour) = known.copied().unwrap_or(other);
            if !drawn.contains(&(meaning, colour)) {
                drawn.push((meaning, colour));
            }
            let _ = writeln!(
                text,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{BAR}\" fill=\"{colour}\"><title>{}, \
                    {length}\
                 </title></rect>",
                mark.label
            );
            if width >= MARGIN + LETTER * mark.label.len() as u64 {
                let ink = if ["#2b6cb0", "#c53030", "#805ad5"].contains(&colour) { "white" } else { "black" };
                let _ = writeln!(text, "<text x=\"{}\" y=\"{middle}\" fill=\"{ink}\">{}</text>", left + 4, mark.label);
            }
        }
    }
    legend(&mut text, &drawn, foot);
    text + "</svg>\n"
}

/// The meaning of each colour in the picture, in the order of drawing.
fn legend(text: &mut String, drawn: &[(&str, &str)], top: u64) {
    const SQUARE: u64 = 12;
    let mut left = LEFT;
    for (meaning, colour) in drawn {
        let _ = writeln!(
            text,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{SQUARE}\" height=\"{SQUARE}\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"{}\">{meaning}</text>",
            left + SQUARE + 6,
            top + SQUARE - 1
        );
        left += SQUARE + 6 + LETTER * meaning.len() as u64 + 3 * MARGIN;
    }
}

/// The beginning of the window, and the length of the wait in its middle: the longest wait of any platter for a sector.
/// Waits in the first tenth of the timeline are skipped, and so are waits longer than half of the window.
fn window(lanes: &Lanes) -> (Moment<Virtual>, Nanos) {
    let waits = lanes.iter().filter(|((_, lane), _)| matches!(lane, Lane::Platter(_))).flat_map(|(_, marks)| marks);
    let end = lanes.values().flatten().map(|mark| mark.ended).max().unwrap_or(Moment::ZERO);
    let settled = Moment::ZERO + Nanos(end.since_zero().0 / 10);
    let length = |mark: &Mark| mark.ended.since(mark.began);
    let fits = |mark: &&Mark| mark.began >= settled && length(mark).0 <= WINDOW.0 / 2;
    let longest = waits.filter(fits).max_by_key(|mark| {
        // A lost turn is certain, a rotation may be short. Of equal waits, take the first.
        (mark.label == Activity::LostTurn.name(), length(mark), std::cmp::Reverse(mark.began))
    });
    let Some(longest) = longest else { return (settled, Nanos::ZERO) };
    let before = Nanos((WINDOW.0 - length(longest).0) / 2);
    (Moment::ZERO + longest.began.since_zero().saturating_sub(before), length(longest))
}

/// A line for every ten milliseconds.
fn axis(text: &mut String, from: Moment<Virtual>, height: u64) {
    for tick in 0..=WINDOW.0 / 10_000_000 {
        let left = x(from + Nanos::from_millis(10 * tick), from);
        let bottom = height - 24;
        let _ = writeln!(
            text,
            "<line x1=\"{left}\" x2=\"{left}\" y1=\"{TOP}\" y2=\"{bottom}\" stroke=\"#ddd\"/><text x=\"{left}\" \
                y=\"{}\" \
             text-anchor=\"middle\" fill=\"#555\">{} ms</text>",
            bottom + 16,
            10 * tick
        );
    }
}

fn x(moment: Moment<Virtual>, from: Moment<Virtual>) -> u64 {
    LEFT + moment.since(from).0 * (WIDTH - LEFT - RIGHT) / WINDOW.0
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
