//! The live line: a thread shows the figures of the last second while a test runs. The test does not wait for it: both
//! share numbers that the test adds to at the end of each interval (`runner::live`). The thread wakes once a second.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use campaign::fit::duration_words::about;
use runner::live::Live;

use crate::ui::live_figures::LatestSeconds;
use crate::ui::status_line::StatusLine;

/// The time between two looks.
const SECOND: Duration = Duration::from_secs(1);

/// The words around the figures.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The test and its target, as in `randread on .`
    pub test: String,
    /// The round and the rest of the time. `None` if the test runs until Ctrl-C.
    pub rest: Option<String>,
}

/// Shows the figures of a running test until it is dropped.
#[derive(Debug)]
pub struct LiveLine {
    /// Dropped to end the thread.
    ended: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LiveLine {
    /// Starts to show the figures. Without a thread for it, nothing is shown.
    pub fn start(live: &'static Live, line: Arc<StatusLine>, frame: Frame) -> LiveLine {
        let (ended, receiver) = mpsc::channel();
        let show = move || {
            let (mut seconds, mut before) = (LatestSeconds::default(), live.snapshot());
            let mut looked = Instant::now();
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(SECOND) {
                let now = live.snapshot();
                let ago = looked.elapsed();
                looked += ago;
                // A stream that began meanwhile ran for a part of this second only.
                if !now.runs() || !before.runs() {
                    before = now;
                    continue;
                }
                seconds.add(now.since(&before, ago));
                before = now;
                if let Some((figures, spark)) = seconds.text() {
                    let rest = match &frame.rest {
                        Some(rest) => format!(" ({rest})"),
                        None => format!(" ({}, Ctrl-C ends it)", about(live.measured_for())),
                    };
                    let test = format!("{}: {figures}", frame.test);
                    line.say_parts(&[(&test, false), (&spark, true), (&rest, false)]);
                }
            }
        };
        LiveLine { ended: Some(ended), thread: thread::Builder::new().spawn(show).ok() }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.ended = None;
        if let Some(thread) = self.thread.take() {
            // A panic of that thread was printed; the test still has its result.
            let _ = thread.join();
        }
    }
}
