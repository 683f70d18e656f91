//! Blocking reads: on their own threads, limited in number, and cancelled when the client
//! disconnects.

use std::panic::resume_unwind;
use std::sync::Arc;

use tenfold::Limits;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use super::response::HttpError;
use super::state::AppState;
use crate::image::CancelToken;

/// Permits to read, and to download.
pub(super) struct Permits {
    reads: Arc<Semaphore>,
    downloads: Arc<Semaphore>,
}

impl Permits {
    /// Four requests read concurrently, the others wait. Downloads have permits of their own, as
    /// they last until the browser has received everything.
    pub(super) fn new() -> Permits {
        Permits {
            reads: Arc::new(Semaphore::new(4)),
            downloads: Arc::new(Semaphore::new(2)),
        }
    }
}

/// Cancels the operation when the waiting request is dropped.
struct Waiting(CancelToken);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// Runs a read; cancels it if the response is no longer needed.
pub(super) async fn work<T: Send + 'static>(
    world: Arc<AppState>,
    act: impl FnOnce(&AppState, &CancelToken) -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let turns = Arc::clone(&world.turns.reads);
    in_turn(turns, world, act).await
}

/// Runs an operation that lasts until a browser has received its result.
pub(super) async fn download<T: Send + 'static>(
    world: Arc<AppState>,
    act: impl FnOnce(&AppState, &CancelToken) -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let turns = Arc::clone(&world.turns.downloads);
    in_turn(turns, world, act).await
}

async fn in_turn<T: Send + 'static>(
    turns: Arc<Semaphore>,
    world: Arc<AppState>,
    act: impl FnOnce(&AppState, &CancelToken) -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let failed = || HttpError::cannot("the work ended before it was done");
    let turn = turns.acquire_owned().await;
    let turn = turn.map_err(|_| failed())?;
    let waiting = Waiting(CancelToken::default());
    let stop = waiting.0.clone();
    let task = tokio::task::spawn_blocking(move || {
        // Held until the operation ends, even if no request waits for it.
        let _turn = turn;
        Limits::begin_job();
        act(&world, &stop)
    });
    let done = task.await;
    drop(waiting);
    match done.map_err(JoinError::try_into_panic) {
        Ok(done) => done,
        // The request fails as if its own handler had panicked.
        Err(Ok(payload)) => resume_unwind(payload),
        Err(Err(_)) => Err(failed()),
    }
}
