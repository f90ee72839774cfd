//! Runs simulations in parallel, each on its own machine, so that neither their order nor the number of threads changes
//! the results.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Runs `count` jobs on this number of threads, and returns their results in order. `ended` is called after each job. A
/// result is `None` if `stop` came before its job.
pub fn side_by_side<T: Send>(
    count: usize,
    threads: NonZeroUsize,
    stop: &(dyn Fn() -> bool + Sync),
    job: &(dyn Fn(usize) -> T + Sync),
    mut ended: impl FnMut(usize),
) -> Vec<Option<T>> {
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let next = &next;
        let work = move |sender: mpsc::Sender<(usize, T)>| {
            while !stop() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count || sender.send((index, job(index))).is_err() {
                    break;
                }
            }
        };
        for thread in 0..threads.get().min(count) {
            let own = sender.clone();
            if thread::Builder::new().spawn_scoped(scope, move || work(own)).is_err() {
                // Start as many threads as the limits of the machine allow. If none can start, this thread runs the
                // jobs.
                if thread == 0 {
                    work(sender.clone());
                }
                break;
            }
        }
        drop(sender);
        for (index, result) in receiver {
            results[index] = Some(result);
            ended(index);
        }
    });
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        for threads in [1, 2, 7] {
            let threads = NonZeroUsize::new(threads).expect("some");
            let mut heard = 0;
            let squares = side_by_side(50, threads, &|| false, &|index| index * index, |_| heard += 1);
            assert_eq!(squares, (0..50).map(|index| Some(index * index)).collect::<Vec<_>>());
            assert_eq!(heard, 50);
        }
    }

    #[test]
    fn stopped_simulations_leave_out_the_remaining_jobs() {
        let threads = NonZeroUsize::new(2).expect("some");
        assert_eq!(side_by_side(3, threads, &|| true, &|index| index, |_| ()), [None, None, None]);
    }
}
