//! The UUID of a file system.

use std::fmt;
use std::io;
use std::str::FromStr;

use rustix::rand::GetRandomFlags;

/// A UUID that diskperf chooses for a file system, to recognise it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uuid(pub(crate) [u8; 16]);

impl Uuid {
    /// Returns a random UUID: version 4 of RFC 9562.
    pub(crate) fn random() -> io::Result<Uuid> {
        let mut bytes = [0; 16];
        let length = rustix::rand::getrandom(&mut bytes[..], GetRandomFlags::empty())?;
        if length != bytes.len() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        bytes[6] = bytes[6] & 0x0F | 0x40;
        bytes[8] = bytes[8] & 0x3F | 0x80;
        Ok(Uuid(bytes))
    }
}

impl FromStr for Uuid {
    type Err = NoUuid;

    /// Reads the text that [`fmt::Display`] writes.
    fn from_str(text: &str) -> Result<Uuid, NoUuid> {
        let digits: String = text.chars().filter(|character| *character != '-').collect();
        let number = u128::from_str_radix(&digits, 16).map_err(|_| NoUuid)?;
        let uuid = Uuid(number.to_be_bytes());
        if uuid.to_string() == text { Ok(uuid) } else { Err(NoUuid) }
    }
}

/// The text is not a UUID in lower case with dashes.
#[derive(Debug)]
pub struct NoUuid;

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let dash = if [4, 6, 8, 10].contains(&index) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_the_usual_text_form() {
        let bytes = std::array::from_fn(|index| index as u8 * 17);
        assert_eq!(Uuid(bytes).to_string(), "00112233-4455-6677-8899-aabbccddeeff");
        let text = Uuid(bytes).to_string();
        assert_eq!(text.parse::<Uuid>().expect("a number"), Uuid(bytes));
        for bad in ["", "-", &text[1..], &text.replace('-', ""), &text.to_uppercase(), &format!("{text}0")] {
            assert!(bad.parse::<Uuid>().is_err(), "{bad:?}");
        }
        let (one, other) = (Uuid::random().expect("one"), Uuid::random().expect("another"));
        assert_ne!(one, other);
        assert_eq!((one.0[6] >> 4, one.0[8] >> 6), (4, 2));
    }
}
