//! The static program on kernels and stacks that this machine does not have: in guests. `cargo xtask test` tries the
//! guard on the cheapest stacks, some on each kernel. `cargo xtask prove elsewhere` runs everything.
//!
//! The thread that boots a guest must live as long as the guest (`testkit::guest`).

mod guard;
mod jobs;
mod power;
mod situations;

/// The environment variable with which `cargo xtask prove elsewhere` asks for everything: `1`. A list of names chooses
/// stacks: `lvm,raid`.
const CHOICE: &str = "DISKPERF_ELSEWHERE";

/// The value of [`CHOICE`] that chooses everything.
const EVERYTHING: &str = "1";

/// True if something with this name is to be tried: the usual names, if nothing else was asked for.
fn is_chosen(name: &str, usual: &[&str]) -> bool {
    match std::env::var(CHOICE) {
        Ok(choice) => choice == EVERYTHING || choice.split(',').any(|one| one == name),
        Err(_) => usual.contains(&name),
    }
}
