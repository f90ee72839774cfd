//! The questions that the paper asks in its first section, and those that it leaves open. Each is an experiment that
//! varies one factor.

mod buffers;
mod buses;
mod contention;
mod intelligence;
mod maps;
mod ordering;
mod parts;
mod rotation;

use machines::MachineFault;

use crate::uncertainty::Spread;

/// A question of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The id, such as `Q1`.
    pub id: &'static str,
    /// The question, and its section in the paper.
    pub asks: &'static str,
    /// Runs the experiment.
    experiment: fn() -> Result<Answer, MachineFault>,
}

/// The answer of an experiment.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Headings of the columns. The first column is the factor that is varied.
    pub headings: Vec<String>,
    /// One row per value of the factor.
    pub rows: Vec<Vec<String>>,
    /// The conclusion, in one sentence.
    pub sentence: String,
    /// The effect that the sentence is based on, and its uncertainty.
    pub effect: (&'static str, Spread),
}

impl Question {
    /// Runs the experiment.
    pub fn answer(&self) -> Result<Answer, MachineFault> {
        (self.experiment)()
    }
}

/// All questions.
pub const QUESTIONS: [Question; 8] = [
    parts::QUESTION,
    buses::QUESTION,
    buffers::QUESTION,
    ordering::QUESTION,
    intelligence::QUESTION,
    maps::QUESTION,
    contention::QUESTION,
    rotation::QUESTION,
];

/// Makes a row of text.
fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// Formats `560`.
fn rate(kbytes_per_sec: f64) -> String {
    stats::digits::significant(kbytes_per_sec, 3)
}

/// Formats `+12 %`.
fn gain(from: f64, to: f64) -> String {
    format!("{:+.0} %", 100.0 * (to / from - 1.0))
}
