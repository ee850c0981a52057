//! Ctrl-C, SIGTERM and SIGHUP: stop between two chunks, so that no half-written file stays behind.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted, as shells have it.
pub(crate) const EXIT_CODE: u8 = 130;

/// The run was interrupted.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

/// From now on the first signal asks to stop, the second stops.
pub(super) fn listen() {
    // Without a handler the system's own remains, which is not worth failing for.
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            process::exit(EXIT_CODE.into());
        }
    });
}

/// Sleeps unless a signal comes; says whether none did.
pub(super) fn sleep(time: Duration) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let mut left = time;
    while !left.is_zero() && check().is_ok() {
        let step = left.min(STEP);
        thread::sleep(step);
        left -= step;
    }
    check().is_ok()
}

/// An error if a signal came.
pub(super) fn check() -> Result<(), Interrupted> {
    if REQUESTED.load(Ordering::Relaxed) { Err(Interrupted) } else { Ok(()) }
}
