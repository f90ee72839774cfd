//! Identifiers of runs: four random characters and the day, as in `k3fw-261121`. The random part comes first, so that
//! one or two characters are mostly enough to name a run. The day is for users.

use std::io;

use units::DateTime;

/// Digits and small letters except similar ones: 0 and o, 1, i and l. As in Crockford's base 32, u is left out so that
/// no words are formed.
const LETTERS: &[u8; 30] = b"23456789abcdefghjkmnpqrstvwxyz";

/// The number of random characters. They distinguish 30^4 = 810,000 runs of a day; a name in use is drawn again.
const DRAWN: usize = 4;

/// Draws an identifier for a run that starts now. `unix_s` is in seconds since 1970.
pub fn draw(unix_s: f64) -> io::Result<String> {
    let mut bytes = [0_u8; 8 * DRAWN];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(name(&bytes, unix_s))
}

/// Returns the identifier for these random bytes. Bytes that would favour some letters are skipped. The others of 32
/// bytes are practically always enough; if they are not, the identifier is shorter.
fn name(bytes: &[u8], unix_s: f64) -> String {
    let fair = bytes.iter().map(|&byte| usize::from(byte)).filter(|byte| *byte < 256 / LETTERS.len() * LETTERS.len());
    let drawn: String = fair.take(DRAWN).map(|byte| char::from(LETTERS[byte % LETTERS.len()])).collect();
    let DateTime { year, month, day, .. } = DateTime::from_unix(unix_s);
    format!("{drawn}-{:02}{month:02}{day:02}", year.rem_euclid(100))
}

/// The most similar names that are offered for an unknown one.
const OFFERED: usize = 3;

/// Returns the names that the user may have meant. They contain the typed text, or their first characters differ from
/// it by one or two edits. `names` has the latest last. The closest come first, and of equally close ones the latest.
pub fn near(typed: &str, names: &[String]) -> Vec<String> {
    let typed = typed.to_lowercase();
    let distance = |name: &&String| {
        let start: String = name.chars().take(typed.chars().count()).collect();
        if name.contains(&typed) { 0 } else { strsim::levenshtein(&typed, &start) }
    };
    // Every name is within two edits of a text of one or two characters.
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
    fn a_run_id_has_random_letters_and_the_day() {
        // 2026-11-21 12:00 UTC.
        let noon = 1_795_262_400.0;
        assert_eq!(name(&[0, 255, 29, 30, 31], noon), "2z23-261121");
        let drawn = draw(noon).expect("random bytes");
        assert_eq!((drawn.len(), drawn.ends_with("-261121")), (11, true), "{drawn}");
        assert_ne!(draw(noon).expect("random bytes"), drawn);
    }

    #[test]
    fn similar_run_ids_are_suggested() {
        let names = ["k3fw-261120", "k4fw-261121", "zz22-261121"].map(str::to_owned);
        assert_eq!(near("k3fv", &names), ["k3fw-261120", "k4fw-261121"]);
        assert_eq!(near("K3FW", &names), ["k3fw-261120", "k4fw-261121"]);
        assert_eq!(near("261121", &names), ["zz22-261121", "k4fw-261121"]);
        assert_eq!(near("nothing-like-it", &names), [""; 0]);
        assert_eq!(near("q", &names), [""; 0]);
    }
}
