//! How a run is called: four characters drawn by lot and the day, as in `k3fw-261121`. The lot comes first, so
//! that one or two characters are mostly enough to name a run; the day is for people.

use std::io;

use units::Civil;

/// Digits and small letters without those that look alike: 0 and o, 1, i and l. u is left out to keep words out,
/// as in Crockford's base 32.
const LETTERS: &[u8; 30] = b"23456789abcdefghjkmnpqrstvwxyz";

/// So many characters are drawn: 30^4 = 810,000 runs of a day can be told apart, and one that is taken is drawn
/// again.
const DRAWN: usize = 4;

/// A new name for a run of this moment, in seconds since 1970.
pub fn draw(unix_s: f64) -> io::Result<String> {
    let mut bytes = [0_u8; 8 * DRAWN];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(name(&bytes, unix_s))
}

/// The name that these bytes draw. A byte that would favour some letters is passed over; the rest of 32 bytes
/// are as good as always enough, and where they are not, the name is shorter.
fn name(bytes: &[u8], unix_s: f64) -> String {
    let fair = bytes.iter().map(|&byte| usize::from(byte)).filter(|byte| *byte < 256 / LETTERS.len() * LETTERS.len());
    let drawn: String = fair.take(DRAWN).map(|byte| char::from(LETTERS[byte % LETTERS.len()])).collect();
    let Civil { year, month, day, .. } = Civil::from_unix(unix_s);
    format!("{drawn}-{:02}{month:02}{day:02}", year.rem_euclid(100))
}

/// So many names are offered for one that is unknown.
const OFFERED: usize = 3;

/// Of these names, the latest last, those that may have been meant: that hold what was typed, or differ from it by
/// a character or two in the part that was typed. The closest first, of equals the latest.
pub fn near(typed: &str, names: &[String]) -> Vec<String> {
    let typed = typed.to_lowercase();
    let distance = |name: &&String| {
        let start: String = name.chars().take(typed.chars().count()).collect();
        if name.contains(&typed) { 0 } else { strsim::levenshtein(&typed, &start) }
    };
    // A name of one or two characters is two edits away from everything.
    let most = (typed.chars().count() / 2).min(2);
    let mut close: Vec<(usize, &String)> =
        names.iter().rev().map(|name| (distance(&name), name)).filter(|(distance, _)| *distance <= most).collect();
    close.sort_by_key(|(distance, _)| *distance);
    close.into_iter().take(OFFERED).map(|(_, name)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_lot_and_the_day() {
        // 2026-11-21 12:00 UTC.
        let noon = 1_795_262_400.0;
        assert_eq!(name(&[0, 255, 29, 30, 31], noon), "2z23-261121");
        let drawn = draw(noon).expect("random bytes");
        assert_eq!((drawn.len(), drawn.ends_with("-261121")), (11, true), "{drawn}");
        assert_ne!(draw(noon).expect("random bytes"), drawn);
    }

    #[test]
    fn what_was_nearly_typed_is_offered() {
        let names = ["k3fw-261120", "k4fw-261121", "zz22-261121"].map(str::to_owned);
        assert_eq!(near("k3fv", &names), ["k3fw-261120", "k4fw-261121"]);
        assert_eq!(near("K3FW", &names), ["k3fw-261120", "k4fw-261121"]);
        assert_eq!(near("261121", &names), ["zz22-261121", "k4fw-261121"]);
        assert_eq!(near("nothing-like-it", &names), [""; 0]);
        assert_eq!(near("q", &names), [""; 0]);
    }
}
