//! `diskperf-mpi`: started once on every host by `mpirun` or `srun`. Each rank starts `diskperf` on its host, and
//! passes messages between them. Only this program links MPI; `diskperf` can be a static program.
//!
//! ```text
//!   mpirun ──> diskperf-mpi, one per host ── pipes ──> diskperf
//!                 └── MPI ──> rank 0: meetings, clocks, messages
//! ```
//!
//! While `diskperf` measures, a rank waits for its pipe: it makes no MPI call and uses no processor. While it waits for
//! other ranks, it looks for a message every millisecond. The waiting calls of MPI would take a whole processor.

mod child;
mod clock;
mod first;
mod launcher;
mod message;
mod options;
mod other;

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use mpi::Threading;
use mpi::environment::Universe;
use mpi::traits::Communicator;
use signal_hook::low_level;

use child::Child;
use options::Options;

/// The time within which MPI must end, from the moment when all programs have ended. Chosen: longer than it takes on a
/// busy machine.
const END: Duration = Duration::from_secs(10);

/// The exit status if nothing was started, as that of `diskperf` for a wrong command line.
const NOT_STARTED: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(words) = words.strip_prefix(&[child::IN_OWN_SESSION.into()]) {
        return ExitCode::from(match child::begin_session(words) {
            Some((problem, hint)) => refused(&format!("{problem}\nhint: {hint}")),
            None => NOT_STARTED,
        });
    }
    let options = match Options::read(words) {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{}", options::HELP.trim_end());
            return ExitCode::SUCCESS;
        }
        Err(problem) => return ExitCode::from(refused(&problem)),
    };
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        return ExitCode::from(refused("MPI does not start"));
    };
    let world = universe.world();
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let launched = launcher::Launched::here();
    if let Err(problem) = launched.check(size) {
        // If the launcher belongs to another MPI, every rank finds this problem. Only the first one prints it.
        return ExitCode::from(if launched.is_first() { refused(&problem) } else { NOT_STARTED });
    }
    let exit = match Child::start(&options.words, rank, size) {
        Ok(child) if rank == 0 => first::serve(&world, child, options.patience),
        Ok(child) => other::serve(&world, child),
        Err(problem) => {
            // The other ranks wait for this one.
            refused(&problem);
            world.abort(NOT_STARTED.into());
        }
    };
    end_mpi(universe, exit, rank == 0);
    ExitCode::from(exit)
}

/// Ends MPI, together with all ranks. All programs have ended by then.
///
/// In MPICH 4.0 over UCX, the first rank sometimes waits for another one that no longer answers (fixed later by its
/// pull request 6596). Then every rank ends without MPI, and the launcher of MPICH ends with the status of the first.
fn end_mpi(universe: Universe, exit: u8, is_first: bool) {
    // If this thread does not start, MPI has no time limit.
    let _ = thread::Builder::new().spawn(move || {
        thread::sleep(END);
        if is_first {
            eprintln!("remark: MPI did not end within {} s; diskperf-mpi ends without it", END.as_secs());
        }
        low_level::exit(exit.into());
    });
    drop(universe);
}

/// Prints the problem, and returns the exit status.
fn refused(problem: &str) -> u8 {
    eprintln!("error: {problem}");
    NOT_STARTED
}
