//! Time account of a controller. If its drives do several things at once, the most important activity counts.

use units::{Moment, Nanos, Virtual};

use crate::drive::{Activity, Drive, Times, start_counting, stop_counting};

/// Precedence of activities: first the controller's own work, then waiting for a drive, then waiting for others, then
/// idle.
const ORDER: [Activity; Activity::COUNT] = [
    Activity::Transfer,
    Activity::Controller,
    Activity::LostTurn,
    Activity::Rotation,
    Activity::Seek,
    Activity::Path,
    Activity::Host,
    Activity::Idle,
];

/// Position of each activity in [`ORDER`].
const RANKS: [u8; Activity::COUNT] = {
    let mut ranks = [0; Activity::COUNT];
    let mut place = 0;
    while place < Activity::COUNT {
        ranks[ORDER[place] as usize] = place as u8;
        place += 1;
    }
    ranks
};

/// Time account of a controller. A controller with one data path is charged with the activity of the drive that has the
/// path, and is idle if none has. A controller that does several things at once is charged with the first of their
/// activities in [`ORDER`].
#[derive(Debug)]
pub(crate) struct TimeAccount {
    has_path: bool,
    /// The drive that has the path. Its times are counted into `spent`.
    holder: Option<u8>,
    since: Moment<Virtual>,
    spent: Times,
}

impl TimeAccount {
    pub(crate) fn new(has_path: bool) -> TimeAccount {
        TimeAccount { has_path, holder: None, since: Moment::ZERO, spent: [Nanos::ZERO; Activity::COUNT] }
    }

    /// Gives the path to the drive, or takes it away. `spent` is the drive's account until now.
    #[inline]
    pub(super) fn pass(&mut self, drive: u8, gets: bool, spent: &Times) {
        if self.holder.take().is_some() {
            stop_counting(&mut self.spent, spent);
        }
        if gets {
            start_counting(&mut self.spent, spent);
            self.holder = Some(drive);
        }
    }

    /// Charges the time that has passed. Call this before any drive changes its activity, because that discards the
    /// drive's plan.
    #[inline]
    pub(crate) fn account(&mut self, drives: &mut [Drive], now: Moment<Virtual>) {
        // A single drive has the same account.
        if !self.has_path && drives.len() > 1 {
            self.charge(drives, now);
        }
    }

    /// Outlined, because a controller with a path has nothing to charge here.
    #[inline(never)]
    fn charge(&mut self, drives: &mut [Drive], now: Moment<Virtual>) {
        while self.since < now {
            let (mut first, mut until) = (Activity::Idle, now);
            for drive in &mut *drives {
                let (activity, next) = drive.doing(self.since);
                if RANKS[activity as usize] < RANKS[first as usize] {
                    first = activity;
                }
                until = until.min(next);
            }
            self.spent[first as usize] += until.since(self.since);
            self.since = until;
        }
    }

    /// Returns the account until now, in the order of [`Activity::ALL`]. `accounts` are the drives' own accounts until
    /// now.
    pub(crate) fn spent(&mut self, drives: &mut [Drive], accounts: &[Times], now: Moment<Virtual>) -> Times {
        if !self.has_path
            && let [only] = accounts
        {
            return *only;
        }
        self.account(drives, now);
        let mut spent = self.spent;
        if let Some(holder) = self.holder {
            stop_counting(&mut spent, &accounts[usize::from(holder)]);
        }
        if self.has_path {
            let held: Nanos = spent.into_iter().sum();
            spent[Activity::Idle as usize] += now.since_zero() - held;
        }
        spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::samples::eagle;
    use crate::timeline::Timeline;

    #[test]
    fn the_controllers_own_work_comes_before_its_waits() {
        let at = |nanos| Moment::from_zero(Nanos(nanos));
        let mut drives = [0, 1].map(|index| Drive::new(&eagle(), index, 0));
        let (mut occupied, mut timeline) = (TimeAccount::new(false), Timeline::default());
        let mut enter = |drive: usize, activity, nanos, then: &[(Activity, u64)]| {
            occupied.account(&mut drives, at(nanos));
            drives[drive].enter_then(activity, [], at(nanos), &mut timeline);
            then.iter().for_each(|&(activity, nanos)| drives[drive].then(activity, at(nanos)));
        };
        enter(0, Activity::Seek, 10, &[(Activity::Rotation, 30), (Activity::Transfer, 60)]);
        enter(1, Activity::Controller, 20, &[(Activity::Seek, 25)]);
        enter(0, Activity::Idle, 70, &[]);
        enter(1, Activity::Idle, 90, &[]);
        let all = occupied.spent(&mut drives, &[], at(100));
        let spent = |activity: Activity| all[activity as usize].0;
        assert_eq!((spent(Activity::Idle), spent(Activity::Seek), spent(Activity::Controller)), (20, 10 + 5 + 20, 5));
        assert_eq!((spent(Activity::Rotation), spent(Activity::Transfer)), (30, 10));
        assert_eq!(all.into_iter().sum::<Nanos>(), Nanos(100));
    }

    #[test]
    fn a_data_path_is_idle_while_no_drive_uses_it() {
        let spent = |rotation, transfer| {
            let mut spent = [Nanos::ZERO; Activity::COUNT];
            (spent[Activity::Rotation as usize], spent[Activity::Transfer as usize]) =
                (Nanos(rotation), Nanos(transfer));
            spent
        };
        let mut occupied = TimeAccount::new(true);
        occupied.pass(0, true, &spent(5, 0));
        occupied.pass(0, false, &spent(12, 8));
        occupied.pass(1, true, &spent(100, 100));
        let all = occupied.spent(&mut [], &[spent(50, 50), spent(101, 103)], Moment::from_zero(Nanos(40)));
        assert_eq!(all[Activity::Rotation as usize..=Activity::Transfer as usize], [Nanos(7 + 1), Nanos(8 + 3)]);
        assert_eq!((all[Activity::Idle as usize], all.into_iter().sum()), (Nanos(40 - 19), Nanos(40)));
    }
}
