//! The questions that the paper asks in its first section and those that it leaves open, each as an experiment in which
//! one thing is varied.

mod buffers;
mod buses;
mod contention;
mod intelligence;
mod maps;
mod ordering;
mod parts;
mod rotation;

use machines::MachineFault;

use crate::certainty::Spread;

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// `Q1`
    pub id: &'static str,
    /// What is asked, and where.
    pub asks: &'static str,
    /// The experiment.
    experiment: fn() -> Result<Answer, MachineFault>,
}

/// What an experiment answers.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the rows and columns are; the first is the factor that is varied.
    pub headings: Vec<String>,
    /// A row for each of its values.
    pub rows: Vec<Vec<String>>,
    /// What follows, in one sentence.
    pub sentence: String,
    /// The effect that the sentence rests on, and how sure the model is of it.
    pub effect: (&'static str, Spread),
}

impl Question {
    /// Makes the experiment.
    pub fn answer(&self) -> Result<Answer, MachineFault> {
        (self.experiment)()
    }
}

/// All of them.
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

/// A row of text.
fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// `560`
fn rate(kbytes_per_sec: f64) -> String {
    stats::digits::significant(kbytes_per_sec, 3)
}

/// `+12 %`
fn gain(from: f64, to: f64) -> String {
    format!("{:+.0} %", 100.0 * (to / from - 1.0))
}
