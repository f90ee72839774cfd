//! diskperf: the storage benchmark that explains what it measured.

use std::process::ExitCode;

fn main() -> ExitCode {
    diskperf::main(std::env::args_os().collect())
}
