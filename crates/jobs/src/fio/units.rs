//! Numbers in fio jobs, with their meaning in fio 3.33 (tried out). Numbers are refused if fio reads only their
//! beginning (`1.5k` is one byte, `4 k` is four).

use units::Bytes;

use crate::load_words::Size;

/// The setting `kb_base`: the number of bytes in a `k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KbBase {
    /// 1024, the default; a `kib` then has 1000.
    Binary,
    /// 1000; a `kib` then has 1024.
    Decimal,
}

/// The letters of the powers, from the first.
const POWERS: &str = "kmgtp";

/// Parses a size in bytes: `4k`, `1MiB`, `4096`, `0x1000`.
pub fn bytes(text: &str, base: KbBase) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let (number, unit) = number(&text)?;
    let unit = unit.strip_suffix('b').unwrap_or(unit);
    let Some(letter) = unit.chars().next() else { return Some(number) };
    let power = POWERS.find(letter)? as u32 + 1;
    // With the binary base, `4k` and `4ki` are 4096 bytes, and only `4kib` is 4000.
    let is_other = text.ends_with("ib");
    if !matches!(&unit[1..], "" | "i") {
        return None;
    }
    let thousand: u64 = if (base == KbBase::Binary) == is_other { 1000 } else { 1024 };
    number.checked_mul(thousand.checked_pow(power)?)
}

/// Parses a time in nanoseconds: `10s`, `500ms`, `1m`. `usual` is the unit of a number without one, in nanoseconds.
pub fn nanos(text: &str, usual: u64) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let (number, unit) = number(&text)?;
    let scale = match unit {
        "" => usual,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(scale)
}

/// Parses a whole number.
pub fn whole(text: &str) -> Option<u64> {
    number(text).filter(|(_, unit)| unit.is_empty()).map(|(number, _)| number)
}

/// Parses two sizes: `1k-4k` or `1k:4k`. Returns the smaller one first.
pub fn range(text: &str, base: KbBase) -> Option<(u64, u64)> {
    let (low, high) = text.split_once(['-', ':'])?;
    let (low, high) = (bytes(low, base)?, bytes(high, base)?);
    Some((low.min(high), low.max(high)))
}

/// Parses a block size above 0.
pub fn block(text: &str, base: KbBase) -> Option<u64> {
    bytes(text, base).filter(|size| *size > 0)
}

/// Parses `4k/60:64k/40`. Sizes without a percentage share the rest. Without them, the largest share gets the rest.
pub fn shares(text: &str, base: KbBase) -> Option<Vec<(Size, Option<u32>)>> {
    let mut all: Vec<(u64, Option<u32>)> = Vec::new();
    for part in text.split(':') {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let percent = if percent.is_empty() { None } else { Some(whole(percent)?.try_into().ok()?) };
        all.push((block(size, base)?, percent));
    }
    let known: u32 = all.iter().filter_map(|(_, percent)| *percent).fold(0, u32::saturating_add);
    let open = all.iter().filter(|(_, percent)| percent.is_none()).count() as u32;
    let mut rest = 100u32.checked_sub(known)?;
    // fio sorts the sizes by their shares, and draws the last one for the rest.
    if open == 0
        && let Some((_, Some(largest))) = all.iter_mut().max_by_key(|(_, percent)| *percent)
    {
        *largest += rest;
    }
    let mut takers = open;
    let all = all.into_iter().map(|(size, percent)| {
        let percent = percent.unwrap_or_else(|| {
            let share = rest / takers.max(1);
            (rest, takers) = (rest - share, takers - 1);
            share
        });
        (Size(Bytes(size)), Some(percent))
    });
    let all: Vec<(Size, Option<u32>)> = all.collect();
    match &all[..] {
        // A single size has no percentage.
        [(size, _)] => Some(vec![(*size, None)]),
        _ => Some(all),
    }
}

/// Splits a text into the number in front and the rest.
fn number(text: &str) -> Option<(u64, &str)> {
    if let Some(digits) = text.strip_prefix("0x") {
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        return Some((u64::from_str_radix(&digits[..end], 16).ok()?, &digits[end..]));
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that fio 3.33 prints for these texts.
    #[test]
    fn sizes_mean_the_same_as_in_fio() {
        for (text, binary, decimal) in [
            ("4096", 4096, 4096),
            ("4096B", 4096, 4096),
            ("4k", 4096, 4000),
            ("4kb", 4096, 4000),
            ("4Ki", 4096, 4000),
            ("4KiB", 4000, 4096),
            ("1M", 1 << 20, 1_000_000),
            ("2g", 2 << 30, 2_000_000_000),
            ("0x1000", 4096, 4096),
        ] {
            assert_eq!(bytes(text, KbBase::Binary), Some(binary), "{text}");
            assert_eq!(bytes(text, KbBase::Decimal), Some(decimal), "{text}");
        }
        for text in ["", "k", "1.5k", "4 k", "-1", "4kk", "4kibb", "4x", "99999999p", "0x", "50%"] {
            assert_eq!(bytes(text, KbBase::Binary), None, "{text}");
        }
        assert_eq!(range("8k-1k", KbBase::Binary), Some((1024, 8192)));
        assert_eq!(range("8k", KbBase::Binary), None);
    }

    #[test]
    fn times_without_a_unit_use_the_unit_of_their_option() {
        const SECOND: u64 = 1_000_000_000;
        assert_eq!(nanos("10", SECOND), Some(10 * SECOND));
        assert_eq!(nanos("10", 1_000), Some(10_000));
        assert_eq!(nanos("3m", SECOND), Some(180 * SECOND));
        assert_eq!(nanos("500MS", SECOND), Some(SECOND / 2));
        assert_eq!(nanos("250usec", SECOND), Some(250_000));
        for text in ["", "s", "1.5", "1 s", "1w"] {
            assert_eq!(nanos(text, SECOND), None, "{text}");
        }
        assert_eq!((whole("12"), whole("12k"), whole("-1")), (Some(12), None, None));
    }
}
