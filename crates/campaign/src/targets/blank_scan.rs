//! Progress of reading a device that must be blank, from its first byte to its last. If that takes long, diskperf says
//! how long, and how to skip it.

use std::time::Instant;

use kernel::guard::Inspected;
use units::Nanos;

use crate::events::Event;
use crate::rounds::deadline::since;

/// After this time, the rest is estimated. Guess: a small cache no longer matters then.
const LOOK: Nanos = Nanos::from_secs(2);

/// A shorter rest is not reported.
const SHORT: Nanos = Nanos::from_secs(10);

/// The progress of reading one device.
pub struct BlankScan {
    device: String,
    identity: String,
    began: Instant,
    has_said: bool,
    /// Progress in thousandths when it was last shown.
    shown: Option<u64>,
}

impl BlankScan {
    /// Starts the progress of this device.
    pub fn new(inspected: &Inspected) -> BlankScan {
        let (device, identity) = (inspected.described(), inspected.identity());
        BlankScan { device, identity, began: Instant::now(), has_said: false, shown: None }
    }

    /// Reports that `bytes` of `of` are read, if the shown value changes. Called hundreds of times per second.
    pub fn report_progress(&mut self, target: &str, bytes: u64, of: u64, notify: &mut dyn FnMut(Event)) {
        if !self.has_said && bytes > 0 && since(self.began) >= LOOK {
            if let Some(rest) = BlankScan::rest(since(self.began), bytes, of) {
                notify(Event::DeviceReadTakes { device: &self.device, identity: &self.identity, rest });
            }
            self.has_said = true;
        }
        let now = Some((1000 * u128::from(bytes) / u128::from(of.max(1))) as u64);
        if std::mem::replace(&mut self.shown, now) != now {
            notify(Event::DeviceRead { target, bytes, of });
        }
    }

    /// Estimated rest of the time; `None` if it is short.
    fn rest(so_far: Nanos, bytes: u64, of: u64) -> Option<Nanos> {
        let rest = Nanos((so_far.0 as f64 * (of - bytes) as f64 / bytes as f64) as u64);
        (rest >= SHORT).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan() -> BlankScan {
        let (device, identity) = ("/dev/sdb (EVO, 1 TiB)".to_owned(), "EVO 1 TiB".to_owned());
        BlankScan { device, identity, began: Instant::now(), has_said: false, shown: None }
    }

    #[test]
    fn a_long_remaining_time_is_reported() {
        let half_an_hour = BlankScan::rest(Nanos::from_secs(2), 1 << 30, 1 << 40).expect("it takes half an hour");
        assert_eq!(half_an_hour, Nanos::from_secs(2 * 1023));
        assert_eq!(BlankScan::rest(Nanos::from_secs(2), 1 << 30, 2 << 30), None);
    }

    #[test]
    fn progress_is_reported_about_a_thousand_times() {
        let mut scan = scan();
        let of = 1 << 40;
        let mut shown = 0;
        (0..=1 << 20).for_each(|mib| {
            scan.report_progress("a", mib << 20, of, &mut |event| {
                shown += i32::from(matches!(event, Event::DeviceRead { .. }))
            });
        });
        assert_eq!(shown, 1001);
    }
}
