//! Progress on standard error, on a terminal only: a consumer of the run's events.

use indicatif::{ProgressBar, ProgressStyle};

use crate::events::Event;

/// The progress line. Silent where standard error is no terminal.
pub struct Display {
    bar: ProgressBar,
}

impl Display {
    /// A line that is not shown yet.
    pub fn new() -> Display {
        Display { bar: ProgressBar::hidden() }
    }

    /// Takes notice of an event.
    pub fn show(&mut self, event: &Event) {
        match event {
            Event::ImageWritten { target, bytes, of } => {
                if self.bar.length() != Some(*of) {
                    self.bar = ProgressBar::new(*of);
                    let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes}  {msg}  {eta} left");
                    self.bar.set_style(style.expect("the template is well-formed"));
                    self.bar.set_message(format!("image for {target}"));
                }
                self.bar.set_position(*bytes);
                if bytes == of {
                    self.bar.finish_and_clear();
                }
            }
            Event::Started(plan) => {
                let runs = plan.order(1).len() as u64 * u64::from(plan.rounds);
                self.bar = ProgressBar::new(runs);
                let style = ProgressStyle::with_template("{wide_bar} {pos}/{len}  {prefix}  {msg}  {eta} left");
                self.bar.set_style(style.expect("the template is well-formed"));
            }
            Event::RoundStarted { round, rounds } => self.bar.set_prefix(format!("round {round} of {rounds}")),
            Event::ProgramStarted { program, target } => self.bar.set_message(format!("{program} on {target}")),
            Event::ProgramEnded => self.bar.inc(1),
            // Above the line, so that a person sees what comes long before the table does.
            Event::FirstFigures { cells, all } => {
                for figure in cells.iter().filter_map(|cell| report::first_figure(cell, all)) {
                    self.bar.println(figure);
                }
            }
            Event::Finished => self.bar.finish_and_clear(),
        }
    }
}
