//! The width of a terminal.

use std::os::fd::AsFd;

use rustix::termios::{isatty, tcgetwinsize};

/// Number of columns of the terminal. Returns `None` if the stream is not a terminal, or the terminal does not report
/// its size.
pub fn columns(stream: impl AsFd) -> Option<usize> {
    let size = isatty(&stream).then(|| tcgetwinsize(&stream).ok())??;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_file_is_not_a_terminal() {
        assert_eq!(columns(File::open("/dev/null").expect("it is everywhere")), None);
    }
}
