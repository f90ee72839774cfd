//! Any rank but the first: passes the requests of its `diskperf` to the first rank, and the answers back.

use mpi::topology::SimpleCommunicator;

use crate::child::{Child, ERROR, how_it_ended};
use crate::clock;
use crate::message::{FromFirst, ToFirst, send_clock, send_to_first, wait_for_first};

/// Serves the program until the run is over. Returns the exit status: only that of the first rank counts.
pub fn serve(world: &SimpleCommunicator, mut child: Child) -> u8 {
    let name = rustix::system::uname().nodename().to_bytes().to_vec();
    send_to_first(world, ToFirst::Name(name));
    while let Some(request) = child.request() {
        if request.kind == ERROR {
            // It has no answer: the program ends.
            send_to_first(world, ToFirst::Error(request.bytes));
            continue;
        }
        send_to_first(world, ToFirst::Request(request.kind, request.bytes));
        match answer(world) {
            Some(bytes) => child.answer(&bytes),
            None => {
                let _ = child.end();
                leave(world);
                return 0;
            }
        }
    }
    let how = how_it_ended(&child.end());
    send_to_first(world, ToFirst::Gone(how.into_bytes()));
    while answer(world).is_some() {}
    leave(world);
    0
}

/// Reports to the first rank that the program has ended, and waits until all programs have ended.
fn leave(world: &SimpleCommunicator) {
    send_to_first(world, ToFirst::Bye);
    while answer(world).is_some() {}
}

/// Waits for the answer of the first rank, and answers its questions for the time meanwhile. `None` if the run is over.
fn answer(world: &SimpleCommunicator) -> Option<Vec<u8>> {
    let mut is_expected = false;
    loop {
        match wait_for_first(world, is_expected) {
            FromFirst::Answer(bytes) => return Some(bytes),
            FromFirst::End => return None,
            FromFirst::Clock => send_clock(world, clock::now()),
        }
        is_expected = true;
    }
}
