//! Whole numbers as text.

use alloc::string::{String, ToString};

/// A whole number with commas between thousands.
pub fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_keep_all_digits() {
        assert_eq!([0, 999, 1000, 100_000_000].map(whole), ["0", "999", "1,000", "100,000,000"]);
    }
}
