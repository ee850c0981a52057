//! How patient a client is with a server that fails.

use std::sync::Arc;
use std::time::Duration;
use std::{fmt, thread};

#[cfg(doc)]
use super::ChatError;

/// How often and after what waits a server is asked again.
///
/// The wait doubles from attempt to attempt. A server that names a time to wait (`Retry-After`) gets that in its
/// place, and no wait is longer than the longest.
#[derive(Clone)]
pub struct Retry {
    pub(super) attempts: u32,
    first_wait: Duration,
    longest_wait: Duration,
    pub(super) sleep: Arc<dyn Fn(Duration) -> bool + Send + Sync>,
}

impl Default for Retry {
    /// Four attempts; half a second before the second one; a minute at most before any.
    fn default() -> Self {
        let sleep = |wait| {
            thread::sleep(wait);
            true
        };
        Self {
            attempts: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_mins(1),
            sleep: Arc::new(sleep),
        }
    }
}

impl Retry {
    /// The same with this many attempts in all; 0 counts as 1.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// The same with this wait before the second attempt.
    #[must_use]
    pub fn with_first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }

    /// The same with no wait longer than this, whatever a server asks for.
    #[must_use]
    pub fn with_longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// The same with another way to wait. `sleep` says whether to go on; if not, the request ends with
    /// [`ChatError::Interrupted`].
    #[must_use]
    pub fn with_sleep(mut self, sleep: impl Fn(Duration) -> bool + Send + Sync + 'static) -> Self {
        self.sleep = Arc::new(sleep);
        self
    }

    /// The wait after attempt number `attempt`, from 1.
    pub(super) fn wait(&self, attempt: u32, asked_for: Option<Duration>) -> Duration {
        let doubled = || self.first_wait.saturating_mul(2_u32.saturating_pow(attempt - 1));
        asked_for.unwrap_or_else(doubled).min(self.longest_wait)
    }
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("attempts", &self.attempts)
            .field("first_wait", &self.first_wait)
            .field("longest_wait", &self.longest_wait)
            .finish_non_exhaustive()
    }
}
