//! Reading on threads of its own, a few at a time, and only while somebody waits for it.

use std::sync::Arc;

use super::answer::Problem;
use super::world::World;
use crate::picture::Stop;

/// So many requests read at once; the others wait.
pub(super) const AT_ONCE: usize = 4;

/// Raises the flag when the one who waits goes away.
struct Waiting(Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// Does work that reads files; ends it early if the answer is not wanted any more.
pub(super) async fn work<T: Send + 'static>(
    world: Arc<World>,
    act: impl FnOnce(&World, &Stop) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let failed = || Problem::cannot("the work ended before it was done");
    let turn = Arc::clone(&world.turns).acquire_owned().await;
    let turn = turn.map_err(|_| failed())?;
    let waiting = Waiting(Stop::default());
    let stop = waiting.0.clone();
    let task = tokio::task::spawn_blocking(move || {
        // Kept until the work is done, also where nobody waits for it any more.
        let _turn = turn;
        act(&world, &stop)
    });
    let done = task.await;
    drop(waiting);
    done.map_err(|_| failed())?
}
