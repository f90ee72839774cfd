//! Block traces: derives a mix of accesses from a trace of `blktrace`, in the text that `blkparse` prints.

mod derive;
pub(crate) mod parse;

use std::io::{self, BufRead};

pub use derive::Derived;

use crate::error::JobError;

/// Derives the mix of a trace, which is read to its end. `name` is its name in errors.
pub fn derive(name: &str, trace: impl BufRead) -> io::Result<Result<Derived, JobError>> {
    let bad = |line, why| JobError::BadTrace { name: name.to_owned(), line, why };
    let trace = parse::read(trace)?;
    Ok(trace
        .map_err(|parse::BadLine { number, why }| bad(Some(number), why))
        .and_then(|trace| Derived::new(&trace).map_err(|empty| bad(None, empty.reason()))))
}

#[cfg(test)]
mod tests {
    use testkit::fuzz::{Subject, fuzz};

    use super::*;

    fn derived(text: &[u8]) -> Result<Derived, JobError> {
        derive("x", text).expect("memory can be read")
    }

    #[test]
    fn an_error_names_the_line() {
        let error = derived(b"\nhello\n").expect_err("not a trace").to_string();
        assert!(error.starts_with("x is not blkparse output, line 2: "), "{error}");
        let error = derived(b"").expect_err("not a trace").to_string();
        assert!(error.starts_with("x is not blkparse output: "), "{error}");
    }

    #[test]
    fn fuzz_block_traces() {
        let read = |input: &[u8]| match derived(input) {
            // The printed mix can be typed.
            Ok(derived) => {
                assert_eq!(derived.mix.to_string().parse(), Ok(derived.mix));
                assert!(derived.to_string().len() < 1000);
                format!("{} reads {}", derived.stage(), derived.mix.reads() / 250)
            }
            Err(JobError::BadTrace { line, why, .. }) => {
                let lines = 1 + input.iter().filter(|byte| **byte == b'\n').count() as u64;
                assert!(line.is_none_or(|line| line <= lines));
                why.to_owned()
            }
            Err(other) => panic!("{other}"),
        };
        let words = &["8,0", " Q ", " D ", " R ", " FWS ", " WS ", " + ", "CPU0 (8,0):", "\n", "0.000000001", "[x y]"];
        let one = "8,0 1 1 0.000000000 697 Q R 223490 + 8 [kjournald]\n";
        fuzz(&Subject::new("block traces", [parse::EXAMPLE, one, ""], read).fast().with_words(words));
    }
}
