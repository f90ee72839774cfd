//! The test of an image whose power diskperf cuts.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use kernel::observe::mount::Place;
use kernel::provision::queue_tuning::{Setting, Tuned, Tuning, TuningFault};
use kernel::{ImageFault, PathFault, Surviving, VolatileImage};
use units::{Bytes, Prng};

use crate::check::check;
use crate::error::{PowerCutError, VerifyFault};
use crate::ledger::Ledger;
use crate::record::{Kind, Records, Verdict};
use crate::record_paths::Bounds;
use crate::writers::Writers;

/// The power is cut after at most this many acknowledged records. A guess: by then records of every kind are written,
/// and a round ends within a second even if a flush takes 20 ms.
const MOST: u64 = 128;

/// The longest delay after that. A guess: the time of a flush.
const LATER: Duration = Duration::from_millis(4);

/// The interval at which the writers are checked.
const PAUSE: Duration = Duration::from_micros(200);

/// A round of the test.
struct Round {
    surviving: Surviving,
    tuning: Vec<Setting>,
    random: Prng,
}

/// The result of one power cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Bytes in the write cache of the device that were not flushed; `None` if they cannot be seen.
    pub unflushed_bytes: Option<u64>,
    /// The reason why the file system could not be mounted afterwards; `None` if it could.
    pub unmountable: Option<String>,
    /// The verdict on each promised record.
    pub judged: Vec<(Kind, Verdict)>,
}

impl Cut {
    fn has_lost(&self) -> bool {
        self.judged.iter().any(|(_, verdict)| *verdict != Verdict::Intact)
    }
}

/// The progress and the results of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A round begins. Its number counts from 1.
    Begins(u32),
    /// The control begins: one more round, without flushes.
    ControlBegins,
    /// The power was cut in this round.
    Cut(u32, Cut),
    /// The power was cut in the control.
    Control(u32, Cut),
}

/// Cuts the power of an image `rounds` times:
///   1. each power cut has a fresh file system, and records with unique contents;
///   2. the power is cut after a random number of records and a random delay, so that it does not depend on the
///      writers' calls;
///   3. in odd rounds no unflushed data survive, in even rounds a random part of them;
///   4. if no records were lost, one more round forces losses: the image tells the kernel that the device has no write
///      cache, so that the kernel never flushes the device. If that round finds no losses, the test has proved nothing.
pub fn cuts(
    image: &mut VolatileImage,
    (seed, rounds): (u64, u32),
    tuning: &[Setting],
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Event),
) -> Result<(), PowerCutError> {
    let is_told_to_stop = || stop.load(Ordering::Relaxed);
    let mut random = Prng::new(seed);
    let mut has_lost = false;
    for number in 1..=rounds {
        if is_told_to_stop() {
            break;
        }
        tell(Event::Begins(number));
        // 3
        let surviving = if number % 2 == 1 { Surviving::Nothing } else { Surviving::Half };
        let round = Round { surviving, tuning: tuning.to_vec(), random: Prng::new(random.next_u64()) };
        if let Some(cut) = cut(image, round, stop)? {
            has_lost |= cut.has_lost();
            tell(Event::Cut(number, cut));
        }
    }
    // 4
    if !is_told_to_stop() && !has_lost {
        tell(Event::ControlBegins);
        let tuning = vec![no_write_cache()];
        let round = Round { surviving: Surviving::Nothing, tuning, random: Prng::new(random.next_u64()) };
        if let Some(cut) = cut(image, round, stop).map_err(without_control)? {
            tell(Event::Control(rounds + 1, cut));
        }
    }
    Ok(())
}

/// Returns the setting that declares a device without write cache. The kernel then never flushes it, with any file
/// system.
fn no_write_cache() -> Setting {
    Setting { attribute: "write_cache".to_owned(), value: "write through".to_owned() }
}

/// Converts an error of the control. If the write cache cannot be declared off, a clean result proves nothing. A
/// failure to restore the setting stays an error of its own.
fn without_control(error: PowerCutError) -> PowerCutError {
    match error {
        PowerCutError::Tuning(fault) if !matches!(fault, TuningFault::Restore { .. }) => {
            VerifyFault::NoControl(fault).into()
        }
        error => error,
    }
}

/// Writes on a fresh file system, cuts the power, and checks the records. `None` if the test was stopped.
fn cut(image: &mut VolatileImage, round: Round, stop: &AtomicBool) -> Result<Option<Cut>, PowerCutError> {
    let Round { surviving, tuning, mut random } = round;
    // 1
    image.fresh()?;
    let tuned = tune(image, &tuning)?;
    let free = Place::under(image.path());
    let free = free.map_err(|source| PathFault::Unreadable { path: image.path().to_owned(), source })?.free_bytes;
    let free = free.unwrap_or(u64::MAX);
    if free < Bounds::LEAST {
        return Err(VerifyFault::SmallImage { size: Bytes(free), needed: Bytes(Bounds::LEAST) }.into());
    }
    let (records, bounds) = (Records { seed: random.next_u64() }, Bounds::within(free));
    let (ledger, count) = (Arc::new(Mutex::new(Ledger::default())), Arc::new(AtomicU64::new(0)));
    let (notes, counted) = (Arc::clone(&ledger), Arc::clone(&count));
    let folder = image.path().to_owned();
    let failed = |source| VerifyFault::Writers { path: folder.clone(), source };
    Writers::prepare(&folder, records).map_err(failed)?;
    // The prepared records become durable, so that only records written later can be lost.
    image.settle()?;
    let writers = Writers::start(&folder, records, bounds, move |note| {
        notes.lock().unwrap_or_else(PoisonError::into_inner).note(note);
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    })
    .map_err(failed)?;
    // 2
    let enough = count.load(Ordering::Relaxed) + 1 + random.below(MOST);
    while count.load(Ordering::Relaxed) < enough {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if writers.has_one_ended() {
            writers.stop().map_err(failed)?;
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
    thread::sleep(Duration::from_nanos(random.below(LATER.as_nanos() as u64)));
    // Records acknowledged from here on may have come after the power cut.
    let mut promised = ledger.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let unflushed_bytes = image.cut(surviving, &mut random)?;
    // The writers fail now, as expected.
    let _ = writers.stop();
    // Records retired until now may have been removed.
    promised.still_promised(&ledger.lock().unwrap_or_else(PoisonError::into_inner));
    tuned.map_or(Ok(()), Tuned::restore)?;
    match image.power_on() {
        Ok(()) => {
            let judged = check(&folder, records, bounds, &promised).map_err(failed)?;
            Ok(Some(Cut { unflushed_bytes, unmountable: None, judged }))
        }
        Err(fault @ ImageFault::Mount { action: "mount", .. }) => {
            let judged = promised.promises().map(|(kind, ..)| (kind, Verdict::Missing)).collect();
            Ok(Some(Cut { unflushed_bytes, unmountable: Some(fault.to_string()), judged }))
        }
        Err(fault) => Err(fault.into()),
    }
}

/// Tunes the queue of the device, if that was requested.
fn tune(image: &VolatileImage, settings: &[Setting]) -> Result<Option<Tuned>, PowerCutError> {
    let Some(device) = image.device().filter(|_| !settings.is_empty()) else { return Ok(None) };
    Ok(Some(Tuning::plan(device, settings)?.apply()?))
}

#[cfg(test)]
mod tests {
    use units::Exit;

    use super::*;

    #[test]
    fn the_test_fails_without_a_control() {
        let no_rights = TuningFault::NoQueue("loop0".to_owned());
        let error = without_control(PowerCutError::Tuning(no_rights));
        let PowerCutError::Verify(fault @ VerifyFault::NoControl(_)) = error else { panic!("{error}") };
        assert_eq!(fault.exit(), Exit::Failed);
        let other = VerifyFault::StillWriting { path: "/mnt".into(), pid: 7 };
        let other = without_control(other.into());
        assert!(matches!(other, PowerCutError::Verify(VerifyFault::StillWriting { .. })), "{other}");
    }
}
