//! A device that must be blank is read from its first byte to its last. If that takes long, diskperf says how long, and how
//! to skip it.

use std::time::Instant;

use kernel::guard::Inspected;
use units::Nanos;

use crate::events::Event;
use crate::forecast::about;
use crate::rounds::deadline::since;
use crate::ui::shell;

/// The rest is estimated after this time. Guess: a small cache no longer matters then.
const LOOK: Nanos = Nanos::from_secs(2);

/// A shorter rest is not announced.
const SHORT: Nanos = Nanos::from_secs(10);

/// The progress.
pub struct Reading {
    device: String,
    identity: String,
    began: Instant,
    has_said: bool,
    /// In thousandths, when it was shown last.
    shown: Option<u64>,
}

impl Reading {
    /// Of this device; nothing is read yet.
    pub fn of(inspected: &Inspected) -> Reading {
        let (device, identity) = (inspected.described(), inspected.identity());
        Reading { device, identity, began: Instant::now(), has_said: false, shown: None }
    }

    /// Shows that `bytes` of `of` are read. Called hundreds of times per second.
    pub fn goes_on(&mut self, target: &str, bytes: u64, of: u64, notify: &mut dyn FnMut(Event)) {
        if !self.has_said && bytes > 0 && since(self.began) >= LOOK {
            if let Some(rest) = self.rest(since(self.began), bytes, of) {
                notify(Event::Told(&rest));
            }
            self.has_said = true;
        }
        let now = Some((1000 * u128::from(bytes) / u128::from(of.max(1))) as u64);
        if std::mem::replace(&mut self.shown, now) != now {
            notify(Event::DeviceRead { target, bytes, of });
        }
    }

    /// The remark on a long rest, as soon as it can be estimated.
    fn rest(&self, so_far: Nanos, bytes: u64, of: u64) -> Option<String> {
        let rest = Nanos((so_far.0 as f64 * (of - bytes) as f64 / bytes as f64) as u64);
        let (device, identity) = (&self.device, shell::word(&self.identity));
        let long = || {
            format!(
                "reading all of {device} to prove that it is blank takes about {} more; to skip this and erase its data, press \
                 Ctrl-C and use --destroy-data --confirm {identity}",
                about(rest)
            )
        };
        (rest >= SHORT).then(long)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading() -> Reading {
        let (device, identity) = ("/dev/sdb (EVO, 1 TiB)".to_owned(), "EVO 1 TiB".to_owned());
        Reading { device, identity, began: Instant::now(), has_said: false, shown: None }
    }

    #[test]
    fn a_long_rest_is_announced_with_the_option_that_saves_it() {
        let said = reading().rest(Nanos::from_secs(2), 1 << 30, 1 << 40).expect("it takes half an hour");
        for words in ["/dev/sdb (EVO, 1 TiB)", "about 34 min more", "--destroy-data --confirm 'EVO 1 TiB'"] {
            assert!(said.contains(words), "{said}");
        }
        assert_eq!(reading().rest(Nanos::from_secs(2), 1 << 30, 2 << 30), None);
    }

    #[test]
    fn progress_is_shown_a_thousand_times() {
        let mut reading = reading();
        let of = 1 << 40;
        let mut shown = 0;
        (0..=1 << 20).for_each(|mib| {
            reading.goes_on("a", mib << 20, of, &mut |event| {
                shown += i32::from(matches!(event, Event::DeviceRead { .. }))
            });
        });
        assert_eq!(shown, 1001);
    }
}
