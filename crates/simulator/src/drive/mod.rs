//! Drives: the position of the arm, the rotation of the platter, and the current activity.

mod geometry;
mod rotation;
mod seek;

use units::{Moment, Nanos, Virtual};

pub use activity::Activity;
pub(crate) use activity::{Times, start_counting, stop_counting};
pub(crate) use geometry::Geometry;
use rotation::Rotation;
use seek::SeekCurve;

use crate::description;
use crate::faults::{self, Fault};
use crate::timeline::{Timeline, Track};

mod activity;

/// State of one drive.
#[derive(Debug)]
pub(crate) struct Drive {
    index: usize,
    geometry: Geometry,
    rotation: Rotation,
    seek: SeekCurve,
    /// The cylinder of the arm, or the target of its seek.
    pub(crate) cylinder: u32,
    activity: Activity,
    since: Moment<Virtual>,
    /// The activity at the moment of the last `doing`, and when the next planned one begins; [`NEVER`] if all have
    /// begun.
    asked: (Activity, Moment<Virtual>),
    /// The planned activities with their beginnings, in order. `done` of them have begun; `known` are planned.
    plan: [(Moment<Virtual>, Activity); PLANNED],
    done: usize,
    known: usize,
    /// When the next planned activity begins; [`NEVER`] if all have begun.
    coming: Moment<Virtual>,
    spent: Times,
}

/// A moment that never comes.
const NEVER: Moment<Virtual> = Moment::from_zero(Nanos(u64::MAX));

/// Maximum length of a plan: seek, rotation, transfer, lost turns.
const PLANNED: usize = 4;

impl Drive {
    /// Creates drive `index`. Its platter starts at a rotational position of `phase_ppm` millionths of a turn.
    pub(crate) fn new(description: &description::Drive, index: usize, phase_ppm: u32) -> Drive {
        Drive {
            index,
            geometry: Geometry::from_drive(description),
            rotation: Rotation::new(speed(description, index), description.sectors_per_track, phase_ppm),
            seek: SeekCurve::from_drive(description),
            cylinder: description.first_sector / description.sectors_per_cylinder(),
            activity: Activity::Idle,
            since: Moment::ZERO,
            asked: (Activity::Idle, NEVER),
            plan: [(Moment::ZERO, Activity::Idle); PLANNED],
            done: 0,
            known: 0,
            coming: NEVER,
            spent: [Nanos::ZERO; Activity::COUNT],
        }
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Moves the arm to the sector's cylinder, and returns the seek time.
    pub(crate) fn seek(&mut self, sector: u32) -> Nanos {
        let cylinder = self.geometry.cylinder(sector);
        let distance = cylinder.abs_diff(self.cylinder);
        self.cylinder = cylinder;
        self.seek.time(distance)
    }

    /// Returns the first moment, not before `from`, at which the sector is under the heads.
    pub(crate) fn reaches(&self, sector: u32, from: Moment<Virtual>) -> Moment<Virtual> {
        let sector = if faults::is_planted(Fault::RotationOffByASector) { sector + 1 } else { sector };
        self.rotation.reaches(self.geometry.angle(sector), from)
    }

    /// Like `reaches`, for the position `lead` sectors before the sector.
    pub(crate) fn reaches_before(&self, sector: u32, lead: u32, from: Moment<Virtual>) -> Moment<Virtual> {
        let turn = self.geometry.sectors_per_track;
        self.rotation.reaches((self.geometry.angle(sector) + turn - lead % turn) % turn, from)
    }

    /// The rotational position under the heads, in sectors.
    pub(crate) fn under_heads(&self, moment: Moment<Virtual>) -> u32 {
        self.rotation.under_heads(moment)
    }

    pub(crate) fn turn(&self) -> Nanos {
        self.rotation.turn()
    }

    /// Time that one sector takes to pass.
    pub(crate) fn sector(&self) -> Nanos {
        self.rotation.sector()
    }

    /// Time that `sectors` sectors beginning with this one take to pass, including track skew.
    pub(crate) fn passing(&self, sector: u32, sectors: u32) -> Nanos {
        self.rotation.passing(sectors + self.geometry.skewed(sector, sectors))
    }

    /// Changes the activity from now on, and plans the following ones with their beginnings, in order. Discards the
    /// plan before.
    #[inline(always)]
    pub(crate) fn enter_then<const COUNT: usize>(
        &mut self,
        activity: Activity,
        plan: [(Moment<Virtual>, Activity); COUNT],
        now: Moment<Virtual>,
        timeline: &mut Timeline,
    ) {
        self.account(now, timeline);
        self.plan[..COUNT].copy_from_slice(&plan);
        (self.done, self.known) = (0, COUNT);
        self.coming = plan.first().map_or(NEVER, |(from, _)| *from);
        self.asked = (activity, self.coming);
        self.change(activity, now, timeline);
    }

    /// True if the drive has this activity and no plan.
    pub(crate) fn does(&self, activity: Activity) -> bool {
        self.activity == activity && self.known == 0
    }

    /// Plans an activity from that moment on.
    pub(crate) fn then(&mut self, activity: Activity, from: Moment<Virtual>) {
        assert!(self.known < PLANNED, "no more is known beforehand");
        if self.known == self.done {
            self.coming = from;
        }
        if self.asked.1 == NEVER {
            self.asked.1 = from;
        }
        self.plan[self.known] = (from, activity);
        self.known += 1;
    }

    /// Returns the activity at a moment, and its planned end; [`NEVER`] if there is none. The moment must not be before
    /// that of the last call, nor before the plan was made.
    #[inline]
    pub(crate) fn doing(&mut self, at: Moment<Virtual>) -> (Activity, Moment<Virtual>) {
        if self.asked.1 <= at {
            let planned = &self.plan[..self.known];
            let next = planned.iter().position(|&(from, _)| from > at).unwrap_or(planned.len());
            self.asked = (planned[next - 1].1, planned.get(next).map_or(NEVER, |&(from, _)| from));
        }
        self.asked
    }

    /// Returns the time by activity until now.
    #[inline]
    pub(crate) fn spent(&mut self, now: Moment<Virtual>, timeline: &mut Timeline) -> &Times {
        self.account(now, timeline);
        &self.spent
    }

    /// Returns the time without a request until now.
    #[inline]
    pub(crate) fn idle(&mut self, now: Moment<Virtual>, timeline: &mut Timeline) -> Nanos {
        self.account(now, timeline);
        self.spent[Activity::Idle as usize]
    }

    #[inline]
    fn account(&mut self, now: Moment<Virtual>, timeline: &mut Timeline) {
        if self.coming <= now {
            self.follow_plan(now, timeline);
        }
        self.spend_until(now);
    }

    /// Outlined, so that a plan whose next activity has not begun costs nothing.
    #[inline(never)]
    fn follow_plan(&mut self, now: Moment<Virtual>, timeline: &mut Timeline) {
        while self.done < self.known {
            let (from, activity) = self.plan[self.done];
            if from > now {
                self.coming = from;
                return;
            }
            self.spend_until(from);
            self.change(activity, from, timeline);
            self.done += 1;
        }
        self.coming = NEVER;
    }

    #[inline]
    fn spend_until(&mut self, moment: Moment<Virtual>) {
        self.spent[self.activity as usize] += moment.since(self.since);
        self.since = moment;
    }

    #[inline]
    fn change(&mut self, activity: Activity, from: Moment<Virtual>, timeline: &mut Timeline) {
        if timeline.is_kept() && activity != self.activity {
            timeline.enter(Track::Drive(self.index), activity.name(), activity != Activity::Idle, from);
        }
        self.activity = activity;
    }
}

/// Two drives never turn at exactly the same speed: the first is faster, the second slower.
fn speed(description: &description::Drive, index: usize) -> u32 {
    let index = if faults::is_planted(Fault::LockedSpindles) { 0 } else { index };
    let nominal = u64::from(description.milli_rpm);
    let deviation = nominal * u64::from(description.speed_deviation_ppm) / 1_000_000;
    (if index.is_multiple_of(2) { nominal + deviation } else { nominal - deviation }) as u32
}
