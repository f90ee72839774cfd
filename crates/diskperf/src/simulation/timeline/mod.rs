//! The timeline of all parts of a simulated computer: as a complete trace for a browser, or as a picture of the part
//! with the longest wait.

mod svg;
mod trace;

use std::collections::BTreeMap;
use std::path::Path;

use simulator::{Activity, Mark, Track};

use crate::error::{ArgumentError, Error};
use crate::ui::output;

/// A lane of the drawing: a part, or an activity of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    Cpu,
    Bus,
    /// The requests to a drive.
    Queue(usize),
    /// Waits of a drive that are not its own.
    Controller(usize),
    /// Seeks of the arm.
    Arm(usize),
    /// Rotation of the platter to the sector.
    Platter(usize),
    /// Transfers of the data.
    Data(usize),
}

impl Lane {
    /// The lane of a mark.
    fn from_mark(mark: &Mark) -> Lane {
        let is = |activity: Activity| mark.label == activity.name();
        match mark.track {
            Track::Cpu => Lane::Cpu,
            Track::Bus => Lane::Bus,
            Track::Queue(drive) => Lane::Queue(drive),
            Track::Drive(drive) if is(Activity::Seek) => Lane::Arm(drive),
            Track::Drive(drive) if is(Activity::Rotation) || is(Activity::LostTurn) => Lane::Platter(drive),
            Track::Drive(drive) if is(Activity::Transfer) => Lane::Data(drive),
            Track::Drive(drive) => Lane::Controller(drive),
        }
    }

    /// The name in the drawing.
    fn name(self) -> String {
        let of = |drive: usize, what: &str| format!("drive {}: {what}", drive + 1);
        match self {
            Lane::Cpu => "CPU".to_owned(),
            Lane::Bus => "bus".to_owned(),
            Lane::Queue(drive) => of(drive, "queue"),
            Lane::Controller(drive) => of(drive, "controller"),
            Lane::Arm(drive) => of(drive, "arm"),
            Lane::Platter(drive) => of(drive, "platter"),
            Lane::Data(drive) => of(drive, "data"),
        }
    }
}

/// Marks by lane, in the order of the drawing: the lanes of each drive are together.
type Lanes = BTreeMap<(usize, Lane), Vec<Mark>>;

fn lanes(marks: &[Mark]) -> Lanes {
    let mut lanes = Lanes::new();
    for mark in marks {
        let lane = Lane::from_mark(mark);
        let group = match lane {
            Lane::Cpu | Lane::Bus => 0,
            Lane::Queue(drive)
            | Lane::Controller(drive)
            | Lane::Arm(drive)
            | Lane::Platter(drive)
            | Lane::Data(drive) => drive + 1,
        };
        lanes.entry((group, lane)).or_default().push(*mark);
    }
    lanes
}

/// The formats of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For chrome://tracing and similar viewers.
    Trace,
    Svg,
}

impl Format {
    /// Chooses the format by the end of the file's name.
    pub fn from_path(path: &Path) -> Result<Format, Error> {
        match path.extension().and_then(|end| end.to_str()) {
            Some("json") => Ok(Format::Trace),
            Some("svg") => Ok(Format::Svg),
            _ => Err(ArgumentError::UnknownDrawing(path.to_owned()).into()),
        }
    }
}

/// Draws the marks into a file.
pub fn write(path: &Path, title: &str, marks: &[Mark]) -> Result<(), Error> {
    let lanes = lanes(marks);
    let text = match Format::from_path(path)? {
        Format::Trace => trace::trace(title, &lanes),
        Format::Svg => svg::svg(title, &lanes),
    };
    output::deliver(&text, Some(path))
}

#[cfg(test)]
mod tests {
    use units::{Moment, Nanos};

    use super::*;

    /// A drive that seeks for 5 ms, turns for a millisecond, moves a block, and loses a turn: 100 times.
    pub fn marks() -> Vec<Mark> {
        let mut marks = Vec::new();
        let mut now = Moment::ZERO;
        for _ in 0..100 {
            for (activity, micros) in [
                (Activity::Seek, 5_000),
                (Activity::Rotation, 1_000),
                (Activity::Transfer, 5_000),
                (Activity::LostTurn, 15_000),
            ] {
                let ended = now + Nanos::from_micros(micros);
                marks.push(Mark { track: Track::Drive(0), label: activity.name(), began: now, ended });
                now = ended;
            }
            marks.push(Mark { track: Track::Cpu, label: "copy", began: now, ended: now + Nanos::from_micros(700) });
        }
        marks
    }

    #[test]
    fn a_drive_has_a_lane_for_each_activity() {
        let names: Vec<String> = lanes(&marks()).keys().map(|(_, lane)| lane.name()).collect();
        assert_eq!(names, ["CPU", "drive 1: arm", "drive 1: platter", "drive 1: data"]);
    }

    #[test]
    fn a_trace_contains_every_mark_once() {
        let text = trace::trace("a title", &lanes(&marks()));
        let trace: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let events = trace["traceEvents"].as_array().expect("events");
        let of = |kind: &str| events.iter().filter(|event| event["ph"] == kind).count();
        assert_eq!((of("X"), of("M")), (500, 5));
        let first = events.iter().find(|event| event["name"] == "seek").expect("a seek");
        assert_eq!((first["ts"].as_f64(), first["dur"].as_f64()), (Some(0.0), Some(5000.0)));
    }

    #[test]
    fn a_picture_shows_a_lost_rotation() {
        let text = svg::svg("a & b", &lanes(&marks()));
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        for words in ["a &amp; b", ">lost turn<", "drive 1: platter", "<title>lost turn, 15.0 ms</title>"] {
            assert!(text.contains(words), "{words} is not in {text}");
        }
        // Only a window of the timeline is drawn.
        assert!(text.matches("lost turn, ").count() < 20);
        assert!(svg::svg("nothing", &Lanes::new()).ends_with("</svg>\n"));
    }
}
