//! The calendar: converts seconds since 1970 into a date and a time of day, in UTC.

use core::fmt;

/// A date and a time of day in the Gregorian calendar, in UTC. Displayed as `2026-11-21 12:04:33`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DateTime {
    /// The year.
    pub year: i64,
    /// From 1 to 12.
    pub month: u8,
    /// From 1 to 31.
    pub day: u8,
    /// From 0 to 23.
    pub hour: u8,
    /// From 0 to 59.
    pub minute: u8,
    /// From 0 to 59; leap seconds are not counted, as in Unix time.
    pub second: u8,
}

impl DateTime {
    /// Converts seconds since the start of 1970 (UTC).
    pub fn from_unix(seconds: f64) -> DateTime {
        // `as` saturates a float that is out of range.
        let seconds = seconds as i64;
        let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Count years from March, so that the leap day is the last day of a year. An era is 400 years or 146,097 days;
        // the leap years repeat after it. The first of March of year 0 is 719,468 days before 1970.
        let days = days + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // Five months have 153 days, counted from March.
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        DateTime {
            year: era * 400 + year_of_era + i64::from(month <= 2),
            month: month as u8,
            day: day as u8,
            hour: (rest / 3600) as u8,
            minute: (rest / 60 % 60) as u8,
            second: (rest % 60) as u8,
        }
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DateTime { year, month, day, hour, minute, second } = self;
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn known_times_are_converted() {
        for (seconds, text) in [
            (0.0, "1970-01-01 00:00:00"),
            (951_827_696.9, "2000-02-29 12:34:56"),
            (1_795_262_673.0, "2026-11-21 12:04:33"),
            (4_107_542_400.0, "2100-03-01 00:00:00"),
            (-1.0, "1969-12-31 23:59:59"),
        ] {
            assert_eq!(DateTime::from_unix(seconds).to_string(), text);
        }
    }

    #[test]
    fn consecutive_days_have_consecutive_dates() {
        let mut before = DateTime::from_unix(0.0);
        for day in 1..200_000 {
            let next = DateTime::from_unix(f64::from(day) * 86_400.0);
            let follows = (next.year, next.month, next.day) == (before.year, before.month, before.day + 1)
                || (next.year, next.month, next.day) == (before.year, before.month + 1, 1)
                || (next.year, next.month, next.day) == (before.year + 1, 1, 1) && before.month == 12;
            assert!(follows, "{before} {next}");
            before = next;
        }
    }
}
