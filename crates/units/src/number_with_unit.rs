//! A decimal number and a unit in one word, as users type sizes and times: `8KiB`, `1.5 h`.

/// An exact decimal number: `digits` divided by ten to the power `decimals`. The digits saturate far above 64 bits.
pub(crate) struct Decimal {
    digits: u128,
    decimals: u32,
}

impl Decimal {
    /// Multiplies the number by `scale` and truncates. Returns `None` if the product does not fit into 64 bits.
    pub(crate) fn times(&self, scale: u64) -> Option<u64> {
        let scaled = self.digits.checked_mul(u128::from(scale))? / 10u128.pow(self.decimals);
        u64::try_from(scaled).ok()
    }

    /// True if the number has no fraction: `15` and `15.0`, but not `1.5`.
    pub(crate) fn is_whole(&self) -> bool {
        self.digits.is_multiple_of(10u128.pow(self.decimals))
    }
}

/// Splits a word into its number and its unit. Returns `None` if it does not begin with a plain decimal number (no
/// sign, no exponent, at most nine decimals).
pub(crate) fn split(text: &str) -> Option<(Decimal, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.contains('.') || fraction.len() > 9 || number.ends_with('.') {
        return None;
    }
    let digit = |digits: u128, digit: u8| digits.saturating_mul(10).saturating_add(u128::from(digit - b'0'));
    let digits = whole.bytes().chain(fraction.bytes()).fold(0, digit);
    Some((Decimal { digits, decimals: fraction.len() as u32 }, unit.trim_start()))
}
