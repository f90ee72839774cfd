//! Brings a device into a state that does not depend on its earlier use: discarded, then written sequentially. The
//! first writes show how long the rest will take.

use std::ops::ControlFlow;
use std::time::Instant;

use kernel::RawDevice;
use stats::Conditioned;
use units::{Bytes, Nanos};

use crate::error::CampaignError;
use crate::events::Event;
use crate::fit::duration_words::about;
use crate::plan::Plan;
use crate::rounds::deadline::since;
use crate::signals::Stop;
use crate::targets::{Conditioning, Overwriting};

/// After this time of writing, the rest is estimated. Guess: by then a burst allowance and a small cache are used up.
const LOOK: Nanos = Nanos::from_secs(2);

/// A shorter rest is not reported.
const SHORT: Nanos = Nanos::from_secs(10);

/// Discards the device if it supports that, and overwrites it the given number of times. The user can stop it.
pub fn condition(
    raw: &RawDevice,
    (target, conditioning): (&str, Conditioning),
    (seed, zeros): (u64, bool),
    stop: &Stop,
    notify: &mut dyn FnMut(Event),
) -> Result<Conditioned, CampaignError> {
    let heed = || if stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let began = Instant::now();
    let discarded = raw.discard(heed);
    let purge_s = since(began).as_secs_f64();
    let of = conditioning.bytes(raw.bytes());
    let began = Instant::now();
    let mut has_said = false;
    let written = raw.precondition(of, (seed, zeros), |bytes| {
        let so_far = since(began);
        if !has_said && so_far >= LOOK {
            let rest = Nanos((so_far.0 as f64 * (of - bytes) as f64 / bytes as f64) as u64);
            if rest >= SHORT {
                notify(Event::ConditioningTakes { target, rest });
            }
            has_said = true;
        }
        notify(Event::DeviceWritten { target, bytes, of });
        heed()
    })?;
    notify(Event::DeviceWritten { target, bytes: of, of });
    let conditioned = Conditioned {
        purge: discarded.is_ok().then(|| "discard".to_owned()),
        purge_reason: discarded.err().map(|reason| reason.to_string()),
        purge_s,
        written_bytes: written,
        written_s: since(began).as_secs_f64(),
    };
    notify(Event::Conditioned { target, conditioned: &conditioned });
    Ok(conditioned)
}

/// The text printed before a device is overwritten: the bytes written before the first round, and that rounds write
/// too.
pub fn announcement(overwriting: &Overwriting) -> String {
    let device = overwriting.inspected.described();
    let holds: Vec<String> = overwriting.inspected.reasons().iter().map(ToString::to_string).collect();
    let holds = if holds.is_empty() { String::new() } else { format!(" ({})", holds.join("; ")) };
    let before = match overwriting.conditioning.map(|times| times.bytes(overwriting.inspected.bytes())) {
        None => "was conditioned before".to_owned(),
        Some(0) => "is discarded if possible".to_owned(),
        Some(bytes) => format!("is discarded if possible, then {} are written to it sequentially", Bytes(bytes)),
    };
    format!("overwrites all of {device}{holds}: it {before}, and is then written to in every round")
}

/// Least and greatest time of the rounds until a steady rate; `None` if a phase has no time limit.
pub fn rounds_in_words(plan: &Plan) -> Option<String> {
    let run = plan.alternatives.iter().filter(|alternative| alternative.row.omitted.is_none());
    let times = run.flat_map(|alternative| &alternative.row.program.phases).map(|phase| phase.within);
    let round = times.collect::<Option<Vec<Nanos>>>()?.into_iter().reduce(|sum, time| sum + time)?;
    let (least, most) = (plan.rounds.min(stats::inference::steady_state::WINDOW as u32), plan.rounds);
    let all = |rounds: u32| about(Nanos(round.0 * u64::from(rounds)));
    let (rounds, time) = match least == most {
        true => (format!("{most} rounds"), all(most)),
        false => (format!("{least} to {most} rounds"), format!("{} to {}", all(least), all(most))),
    };
    Some(format!("{rounds} of {}, until every rate is steady: about {time}", about(round)))
}
