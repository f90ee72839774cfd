//! What a stream that people look at holds.

use std::os::fd::AsFd;

use rustix::termios::{isatty, tcgetwinsize};

/// How many columns of characters a line of the terminal holds; nothing where the stream is none, or where the terminal
/// does not say.
pub fn columns(stream: impl AsFd) -> Option<usize> {
    let size = isatty(&stream).then(|| tcgetwinsize(&stream).ok())??;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_file_is_no_terminal() {
        assert_eq!(columns(File::open("/dev/null").expect("it is everywhere")), None);
    }
}
