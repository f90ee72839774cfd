//! Power cuts of a device of our own.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use kernel::name::Shown;
use kernel::tuning::{Setting, Tuned, Tuning, TuningFault};
use kernel::{ImageFault, Lasting, PrivateMounts, VolatileImage};
use stats::PowerCut;
use units::{Bytes, Exit, Prng};

use super::{conclude, document, power_cut};
use crate::error::Error;
use crate::layout::OutputArguments;
use crate::signals::Stop;
use crate::status::StatusLine;
use crate::target::{ImageArgument, Target};
use crate::verify::{Bounds, Ledger, Records, Verdict, Writers, check};

/// The power goes after at most so many acknowledged records. Guess: every kind is at work by then, and a round is over
/// in a second also where a flush takes 20 ms.
const MOST: u64 = 128;

/// And at most so much later. Guess: as long as a flush takes.
const LATER: Duration = Duration::from_millis(4);

/// How often the writers are looked after.
const PAUSE: Duration = Duration::from_micros(200);

/// An image is so large where no size is given, or as small as its file system can be at ease in: what is written is
/// little, and the smaller it is the sooner it is made.
const SIZE: Bytes = Bytes::mib(64);

/// The file systems that need more, with what they are at ease in: mkfs.xfs refuses less than 300 MiB, mkfs.btrfs less
/// than 109 MiB.
const LARGER: [(&str, Bytes); 2] = [("xfs", Bytes::mib(320)), ("btrfs", Bytes::mib(256))];

/// What a round was told.
struct Round {
    number: u32,
    lasting: Lasting,
    tuning: Vec<Setting>,
    random: Prng,
}

/// Cuts the power so often, and says what was lost.
pub fn run(
    target: &Target,
    image: &ImageArgument,
    (seed, rounds): (u64, u32),
    output: &OutputArguments,
) -> Result<Exit, Error> {
    let mut spec = image.spec(0);
    if image.size.is_none() {
        let larger = LARGER.iter().find(|(name, _)| *name == image.file_system());
        spec.bytes = larger.map_or(SIZE, |(_, bytes)| *bytes);
    }
    let mut found = document(target, seed);
    // On the first thread, before there is any other.
    let mounts = match VolatileImage::check(&spec).and_then(|()| PrivateMounts::enter()) {
        Ok(mounts) => mounts,
        Err(fault) => return conclude(output, found, Err(fault.into())),
    };
    let stop = Stop::on_signals()?;
    let needed = VolatileImage::middle(&spec).file_bytes();
    remark!(
        "writes an image of {needed} in {}, on it {} of {}, and cuts its power {rounds} times; nothing is left behind",
        image.directory().shown(),
        image.file_system(),
        spec.file_bytes(),
    );
    remark!("the kernel's log will tell of I/O errors on loop devices: they are the power cuts");
    let line = StatusLine::new();
    let made = VolatileImage::make(&spec, &mounts, |bytes, of| {
        line.say(&format!("writing the image, {} % of {}", 100 * bytes / of.max(1), Bytes(of)));
        if stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let ended = made.map_err(Error::from).and_then(|mut image| {
        let mut random = Prng::new(seed);
        for number in 1..=rounds {
            if stop.requested() {
                break;
            }
            line.say(&format!("power cut {number} of {rounds}"));
            // 3
            let lasting = if number % 2 == 1 { Lasting::Nothing } else { Lasting::Half };
            let round = Round { number, lasting, tuning: target.tuning.clone(), random: Prng::new(random.next_u64()) };
            let cut = cut(&mut image, round, &stop)?;
            found.cuts.extend(cut);
        }
        // 4
        if !stop.requested() && found.totals().1 == 0 {
            line.say("control: the same without flushes");
            let tuning = vec![no_write_cache()];
            let random = Prng::new(random.next_u64());
            let round = Round { number: rounds + 1, lasting: Lasting::Nothing, tuning, random };
            found.control = cut(&mut image, round, &stop).map_err(without_control)?;
        }
        Ok(())
    });
    line.clear();
    found.interrupted = stop.requested();
    // Whatever failed: Ctrl-C reaches mkfs too.
    let ended = if stop.requested() { Ok(()) } else { ended };
    conclude(output, found, ended)
}

/// A device that is said to have no write cache is not flushed, whatever file system is on it.
fn no_write_cache() -> Setting {
    Setting { attribute: "write_cache".to_owned(), value: "write through".to_owned() }
}

/// Where the device cannot be said to have no write cache, nothing is shown. That it cannot be said to have one again
/// is another thing.
fn without_control(error: Error) -> Error {
    match error {
        Error::Tuning(fault) if !matches!(fault, TuningFault::Restore { .. }) => Error::NoControl(fault),
        error => error,
    }
}

/// Writes on a fresh file system, cuts the power, and looks what is there; nothing where it was told to stop.
fn cut(image: &mut VolatileImage, round: Round, stop: &Stop) -> Result<Option<PowerCut>, Error> {
    let Round { number, lasting, tuning, mut random } = round;
    // 1
    image.fresh()?;
    let tuned = tune(image, &tuning)?;
    let free = kernel::place::Place::under(image.path());
    let free = free.map_err(|source| Error::Unreadable { path: image.path().to_owned(), source })?.free_bytes;
    if free < Bounds::LEAST {
        return Err(Error::SmallImage { size: Bytes(free), needed: Bytes(Bounds::LEAST) });
    }
    let (records, bounds) = (Records { seed: random.next_u64() }, Bounds::within(free));
    let (ledger, count) = (Arc::new(Mutex::new(Ledger::default())), Arc::new(AtomicU64::new(0)));
    let (notes, counted) = (Arc::clone(&ledger), Arc::clone(&count));
    let folder = image.path().to_owned();
    let failed = |source| Error::Writers { path: folder.clone(), source };
    Writers::prepare(&folder, records).map_err(failed)?;
    // So that what is lost of them is what was written later, whoever flushes.
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
        if stop.requested() {
            return Ok(None);
        }
        if writers.has_one_ended() {
            writers.stop().map_err(failed)?;
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
    thread::sleep(Duration::from_nanos(random.below(LATER.as_nanos() as u64)));
    // What is acknowledged from here on may have been too late.
    let mut promised = ledger.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let unflushed = image.cut(lasting, &mut random)?;
    // They fail now, of course.
    let _ = writers.stop();
    // What was taken back until then may be gone.
    promised.still_promised(&ledger.lock().unwrap_or_else(PoisonError::into_inner));
    tuned.map_or(Ok(()), Tuned::restore)?;
    match image.power_on() {
        Ok(()) => {
            let judged = check(&folder, records, bounds, &promised).map_err(failed)?;
            Ok(Some(power_cut(number, unflushed, &judged)))
        }
        Err(fault @ ImageFault::Mount { action: "mount", .. }) => {
            let lost: Vec<_> = promised.promises().map(|(kind, ..)| (kind, Verdict::Missing)).collect();
            let unmountable = Some(fault.to_string());
            Ok(Some(PowerCut { unmountable, ..power_cut(number, unflushed, &lost) }))
        }
        Err(fault) => Err(fault.into()),
    }
}

/// Tunes the queue of the device, where that was asked for.
fn tune(image: &VolatileImage, settings: &[Setting]) -> Result<Option<Tuned>, Error> {
    let Some(device) = image.device().filter(|_| !settings.is_empty()) else { return Ok(None) };
    Ok(Some(Tuning::plan(device, settings)?.apply()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_control_the_test_has_failed() {
        let no_rights = TuningFault::NoQueue("loop0".to_owned());
        let error = without_control(Error::Tuning(no_rights));
        assert!(matches!(error, Error::NoControl(_)), "{error}");
        assert_eq!(error.exit(), Exit::Failed);
        let other = without_control(Error::Held);
        assert!(matches!(other, Error::Held), "{other}");
    }
}
