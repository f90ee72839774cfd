//! Progress on standard error, on a terminal only: a consumer of the run's events. The line is drawn between programs
//! and never while one runs: a clock that ticks would take CPU from what is measured.

use std::io;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use units::Bytes;

use crate::deadline::since;
use crate::events::Event;
use crate::forecast::about;
use crate::progress::Progress;

/// What a person waits for stands first.
const LINE: &str = "[{bar:20}] {msg}";

/// Columns that the message has to leave free: for the bar, and for the ^C that a terminal shows. Where that does not
/// fit, it begins a line of its own, and the progress line would stay behind.
const BESIDE: usize = 23 + 3;

/// The progress line. Silent where standard error is no terminal.
pub struct Display {
    bar: ProgressBar,
    began: Instant,
    progress: Progress,
    /// `round 2 of 5`, where there are rounds.
    round: String,
}

impl Display {
    /// A line that is not shown yet.
    pub fn new() -> Display {
        let (progress, round) = (Progress::default(), String::new());
        Display { bar: ProgressBar::hidden(), began: Instant::now(), progress, round }
    }

    /// Takes notice of an event.
    pub fn show(&mut self, event: &Event) {
        let now = since(self.began);
        match event {
            Event::ImageWritten { target, bytes, of } => {
                if self.bar.length() != Some(*of) {
                    self.bar = line(*of);
                }
                self.say(format!("writing the image for {target}, {} of {}", Bytes(*bytes), Bytes(*of)));
                self.bar.set_position(*bytes);
                if bytes == of {
                    self.bar.finish_and_clear();
                }
            }
            Event::Started(plan) => {
                (self.began, self.progress) = (Instant::now(), Progress::of(plan));
                self.bar = line(self.progress.counted().1);
            }
            Event::RoundStarted { round, rounds } => self.round = format!("round {round} of {rounds}: "),
            Event::ProgramStarted { index, program, target } => {
                self.progress.started(*index, now);
                let rest = self.progress.rest(now).map_or_else(String::new, |rest| format!("{} left; ", about(rest)));
                self.say(format!("{rest}{}{program} on {target}", self.round));
                // It stands there as long as the program runs.
                self.bar.force_draw();
            }
            Event::ProgramEnded { index } => {
                self.progress.ended(*index, now);
                self.bar.set_position(self.progress.counted().0);
                if self.round.is_empty() {
                    let rest = self.progress.rest(now).map_or_else(String::new, |rest| format!("{} left", about(rest)));
                    self.say(rest);
                }
            }
            // Above the line, so that a person sees what comes long before the table does.
            Event::FirstFigures { cells, all } => {
                for figure in cells.iter().filter_map(|cell| report::first_figure(cell, all)) {
                    self.bar.println(figure);
                }
            }
            Event::Finished => self.bar.finish_and_clear(),
        }
    }

    /// Puts a message behind the bar, cut where the terminal ends.
    fn say(&self, message: String) {
        let room = kernel::terminal::columns(io::stderr()).map_or(usize::MAX, |columns| columns.saturating_sub(BESIDE));
        self.bar.set_message(message.chars().take(room).collect::<String>());
    }
}

fn line(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(LINE).expect("the template is well-formed");
    // Letters that every terminal has.
    ProgressBar::new(length).with_style(style.progress_chars("=> "))
}
