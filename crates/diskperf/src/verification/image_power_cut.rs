//! Power cuts of a device that diskperf makes.

use std::ops::ControlFlow;

use campaign::signals::Stop;
use campaign::targets::{ImageArgument, Target};
use kernel::sys::name::Shown;
use kernel::{PrivateMounts, VolatileImage};
use powercut::{Event, cuts};
use stats::Verification;
use units::{Bytes, Exit};

use super::{conclude, document, power_cut};
use crate::error::Error;
use crate::ui::output;
use crate::ui::output_format::OutputArguments;
use crate::ui::status_line::StatusLine;

/// Size of an image, if none is given and the file system works well in it: little is written, and a small image is
/// made sooner.
const SIZE: Bytes = Bytes::mib(64);

/// File systems that need more, with a size in which they work well: mkfs.xfs refuses less than 300 MiB, mkfs.btrfs
/// less than 109 MiB.
const LARGER: [(&str, Bytes); 2] = [("xfs", Bytes::mib(320)), ("btrfs", Bytes::mib(256))];

/// Cuts the power `rounds` times, and reports the losses.
pub fn run(
    target: &Target,
    image: &ImageArgument,
    settings: (u64, u32),
    output: &OutputArguments,
) -> Result<Exit, Error> {
    let (found, ended) = test(target, image, settings);
    conclude(output, found, ended)
}

/// Cuts the power `rounds` times. Returns the findings, also those before an error.
pub fn test(target: &Target, image: &ImageArgument, (seed, rounds): (u64, u32)) -> (Verification, Result<(), Error>) {
    let mut spec = image.spec(0);
    if image.size.is_none() {
        let larger = LARGER.iter().find(|(name, _)| *name == image.file_system());
        spec.bytes = larger.map_or(SIZE, |(_, bytes)| *bytes);
    }
    let mut found = document(&target.typed, seed);
    // On the first thread, before other threads start.
    let mounts = match VolatileImage::check(&spec).and_then(|()| PrivateMounts::enter()) {
        Ok(mounts) => mounts,
        Err(fault) => return (found, Err(fault.into())),
    };
    let stop = match Stop::on_signals() {
        Ok(stop) => stop,
        Err(fault) => return (found, Err(fault.into())),
    };
    let needed = VolatileImage::middle(&spec).file_bytes();
    output::remark(&format!(
        "writes an image of {needed} in {}, with {} of {}, and cuts its power {rounds} times; nothing is left behind",
        image.directory().shown(),
        image.file_system(),
        spec.file_bytes(),
    ));
    output::remark("the kernel log will show I/O errors on loop devices: they are the power cuts");
    let line = StatusLine::new();
    let made = VolatileImage::make(&spec, &mounts, |bytes, of| {
        line.say(&format!("writing the image, {} % of {}", 100 * bytes / of.max(1), Bytes(of)));
        if stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let mut tell = |event| match event {
        Event::Begins(number) => line.say(&format!("power cut {number} of {rounds}")),
        Event::ControlBegins => line.say("control: the same without flushes"),
        Event::Cut(number, cut) => found.cuts.push(power_cut(number, cut)),
        Event::Control(number, cut) => found.control = Some(power_cut(number, cut)),
    };
    let ended = made
        .map_err(Error::from)
        .and_then(|mut image| Ok(cuts(&mut image, (seed, rounds), &target.tuning, &stop.flag(), &mut tell)?));
    line.clear();
    found.interrupted = stop.requested();
    // Any error may come from Ctrl-C, which reaches mkfs too.
    (found, if stop.requested() { Ok(()) } else { ended })
}
