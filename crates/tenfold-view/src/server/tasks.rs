//! Reading on threads of its own, a few at a time, and only while somebody waits for it.

use std::panic::resume_unwind;
use std::sync::Arc;

use tenfold::Limits;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use super::response::HttpError;
use super::state::AppState;
use crate::image::CancelToken;

/// Who may read now, and who may be sent a file.
pub(super) struct Permits {
    reads: Arc<Semaphore>,
    downloads: Arc<Semaphore>,
}

impl Permits {
    /// Four requests read at once, the others wait. Downloads have turns of their own, as they last
    /// until the browser has taken everything.
    pub(super) fn new() -> Permits {
        Permits {
            reads: Arc::new(Semaphore::new(4)),
            downloads: Arc::new(Semaphore::new(2)),
        }
    }
}

/// Raises the flag when the one who waits goes away.
struct Waiting(CancelToken);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// Does work that reads files; ends it early if the answer is not wanted any more.
pub(super) async fn work<T: Send + 'static>(
    world: Arc<AppState>,
    act: impl FnOnce(&AppState, &CancelToken) -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let turns = Arc::clone(&world.turns.reads);
    in_turn(turns, world, act).await
}

/// Does work that lasts until a browser has taken what it gives.
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
        // Kept until the work is done, also where nobody waits for it any more.
        let _turn = turn;
        Limits::begin_job();
        act(&world, &stop)
    });
    let done = task.await;
    drop(waiting);
    match done.map_err(JoinError::try_into_panic) {
        Ok(done) => done,
        // The request fails as if its handler itself had panicked.
        Err(Ok(payload)) => resume_unwind(payload),
        Err(Err(_)) => Err(failed()),
    }
}
