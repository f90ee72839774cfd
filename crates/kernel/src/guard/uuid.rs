//! The number by which a file system is told from all others.

use std::fmt;
use std::io;

use rustix::rand::GetRandomFlags;

/// A number of our choice for a file system, so that it is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Uuid(pub(crate) [u8; 16]);

impl Uuid {
    /// A random one: version 4 of RFC 9562.
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
    fn it_is_written_as_others_write_it() {
        let bytes = std::array::from_fn(|index| index as u8 * 17);
        assert_eq!(Uuid(bytes).to_string(), "00112233-4455-6677-8899-aabbccddeeff");
        let (one, other) = (Uuid::random().expect("one"), Uuid::random().expect("another"));
        assert_ne!(one, other);
        assert_eq!((one.0[6] >> 4, one.0[8] >> 6), (4, 2));
    }
}
