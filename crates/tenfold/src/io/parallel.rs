//! Parallel work: for-each, fork-join and ordered pipelines over scoped threads.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::error::{Error, Result};

/// Number of threads that share a piece of work. Results never depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// As many as the machine has cores, if there is enough to do.
    Cores,
    /// Exactly so many, even for little work.
    Exactly(usize),
}

impl Threads {
    /// Below this many bytes a second thread costs more than it saves.
    const WORTH_IT: usize = 2 << 20;

    /// The number of threads for work on `len` bytes.
    pub(crate) fn for_len(self, len: usize) -> usize {
        match self {
            Threads::Exactly(count) => count.max(1),
            Threads::Cores if len < Threads::WORTH_IT || IS_ALONE.get() => 1,
            Threads::Cores => std::thread::available_parallelism()
                .map_or(1, usize::from)
                .min(16),
        }
    }
}

thread_local! {
    /// Whether work on this thread stays single-threaded.
    static IS_ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs work single-threaded, as the other threads have work of their own.
pub(crate) fn alone<T>(work: impl FnOnce() -> T) -> T {
    let before = IS_ALONE.replace(true);
    let done = work();
    IS_ALONE.set(before);
    done
}

/// Starts a thread; `None` where the system is out of threads or of memory for one.
pub(crate) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    // Callers then do the work with fewer threads.
    Builder::new().spawn_scoped(scope, work).ok()
}

/// The error of work that cannot proceed without another thread.
pub(crate) fn no_thread() -> Error {
    Error::from(std::io::Error::other("the system has no thread to give"))
}

/// Calls `work` with every item on `threads` threads, in no particular order; returns a failure if
/// there is one.
pub(crate) fn par_for_each<T: Send>(
    threads: usize,
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> Result<()> + Sync,
) -> Result<()> {
    if threads < 2 {
        return { items }.try_for_each(work);
    }
    let queue = Mutex::new(items.fuse());
    let run = || -> Result<()> {
        loop {
            let next = queue.lock().map_err(|_| stopped())?.next();
            let Some(item) = next else {
                return Ok(());
            };
            if let Err(error) = work(item) {
                // Drop the remaining items.
                queue.lock().map_err(|_| stopped())?.by_ref().for_each(drop);
                return Err(error);
            }
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map_while(|_| spawn(scope, run)).collect();
        let own = run();
        others.into_iter().fold(own, |all, other| {
            all.and(other.join().unwrap_or_else(|_| Err(stopped())))
        })
    })
}

/// Fork-join: runs two closures in parallel if there are several threads; of two failures it
/// returns the first closure's.
pub(crate) fn join<A, B: Send>(
    threads: usize,
    one: impl FnOnce() -> Result<A>,
    other: impl FnOnce() -> Result<B> + Send,
) -> Result<(A, B)> {
    if threads < 2 {
        return Ok((one()?, other()?));
    }
    // Kept here, so that this thread can run it if no other can be started.
    let other = Mutex::new(Some(other));
    let run_other = || {
        let other = other.lock().map_err(|_| stopped())?.take();
        other.ok_or_else(stopped)?()
    };
    std::thread::scope(|scope| {
        let thread = spawn(scope, run_other);
        let one = one();
        let other = match thread {
            Some(thread) => thread.join().unwrap_or_else(|_| Err(stopped())),
            None => run_other(),
        };
        Ok((one?, other?))
    })
}

/// Ordered pipeline: pieces are filled in order, processed by several threads, and taken in order.
///
/// `fill` produces the next piece, or reports the end; `work` runs on the worker threads; `take`
/// receives the pieces on this thread. There are never more than `threads + 2` pieces.
pub(crate) fn ordered_pipeline<P: Default + Send>(
    threads: usize,
    mut fill: impl FnMut(&mut P) -> Result<bool> + Send,
    work: impl Fn(&mut P) -> Result<()> + Sync,
    mut take: impl FnMut(&mut P) -> Result<()>,
) -> Result<()> {
    if threads < 2 {
        let mut piece = P::default();
        while fill(&mut piece)? {
            work(&mut piece)?;
            take(&mut piece)?;
        }
        return Ok(());
    }
    let (give_back, empty) = channel();
    for _ in 0..threads.saturating_add(2) {
        // The receiver is held right here.
        let _ = give_back.send(P::default());
    }
    let line = Mutex::new(Line {
        next: 0,
        is_over: false,
        empty,
        fill: &mut fill,
    });
    std::thread::scope(|scope| {
        let (done, results) = channel();
        let started = (0..threads).map_while(|_| {
            let (line, work, done) = (&line, &work, done.clone());
            spawn(scope, move || serve(line, work, &done))
        });
        if started.count() == 0 {
            return Err(no_thread());
        }
        drop(done);
        // Moved here, so that the threads find it closed when this one stops early.
        let give_back = give_back;
        let mut early: Vec<(u64, Result<P>)> = Vec::new();
        let mut due = 0_u64;
        while let Ok(result) = results.recv() {
            early.push(result);
            while let Some(place) = early.iter().position(|(number, _)| *number == due) {
                let mut piece = early.swap_remove(place).1?;
                take(&mut piece)?;
                due = due.saturating_add(1);
                // No thread waits for it any more if all have seen the end.
                let _ = give_back.send(piece);
            }
        }
        Ok(())
    })
}

/// The queue from which the threads of [`ordered_pipeline`] take the next piece.
struct Line<'a, P> {
    next: u64,
    is_over: bool,
    empty: Receiver<P>,
    fill: &'a mut (dyn FnMut(&mut P) -> Result<bool> + Send),
}

impl<P> Line<'_, P> {
    fn advance(&mut self) -> Option<(u64, Result<P>)> {
        if self.is_over {
            return None;
        }
        let mut piece = self.empty.recv().ok()?;
        let filled = (self.fill)(&mut piece);
        self.is_over = !matches!(filled, Ok(true));
        let number = self.next;
        self.next = number.saturating_add(1);
        match filled {
            Ok(true) => Some((number, Ok(piece))),
            Ok(false) => None,
            Err(error) => Some((number, Err(error))),
        }
    }
}

fn serve<P>(
    line: &Mutex<Line<P>>,
    work: &(impl Fn(&mut P) -> Result<()> + Sync),
    done: &Sender<(u64, Result<P>)>,
) {
    loop {
        let next = match line.lock() {
            Ok(mut line) => line.advance(),
            Err(_) => None,
        };
        let Some((number, piece)) = next else {
            return;
        };
        let piece = piece.and_then(|mut piece| work(&mut piece).map(|()| piece));
        if done.send((number, piece)).is_err() {
            return;
        }
    }
}

pub(crate) fn stopped() -> Error {
    Error::invalid("a thread stopped halfway")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(threads: usize, count: u64) -> Result<Vec<u64>> {
        let mut next = 0;
        let mut all = Vec::new();
        ordered_pipeline(
            threads,
            |piece| {
                *piece = next;
                next += 1;
                Ok(next <= count)
            },
            |piece: &mut u64| {
                if *piece == 77 {
                    return Err(Error::invalid("77"));
                }
                *piece *= *piece;
                Ok(())
            },
            |piece| {
                all.push(*piece);
                Ok(())
            },
        )?;
        Ok(all)
    }

    #[test]
    fn who_works_alone_has_no_help_until_it_is_done() {
        let threads = || Threads::Cores.for_len(1 << 30);
        let before = threads();
        assert_eq!(alone(|| (alone(threads), threads())), (1, 1));
        assert_eq!(threads(), before);
    }

    #[test]
    fn pieces_are_taken_in_order_whatever_the_number_of_threads() {
        for threads in [1, 2, 3, 7] {
            for count in [0, 1, 2, 70] {
                let wanted: Vec<u64> = (0..count).map(|n| n * n).collect();
                assert_eq!(squares(threads, count).unwrap(), wanted);
            }
        }
    }

    #[test]
    fn a_failure_ends_the_work_wherever_it_is() {
        for threads in [1, 2, 7] {
            assert_eq!(squares(threads, 1000).unwrap_err().to_string(), "77");
            let fails = |stage: usize| {
                let mut next = 0;
                let at = |here: usize, piece: &u64| {
                    if here == stage && *piece == 50 {
                        Err(Error::invalid("50"))
                    } else {
                        Ok(())
                    }
                };
                ordered_pipeline(
                    threads,
                    |piece| {
                        next += 1;
                        *piece = next;
                        at(0, piece).map(|()| next < 1000)
                    },
                    |piece| at(1, piece),
                    |piece| at(2, piece),
                )
            };
            for stage in 0..3 {
                assert!(fails(stage).is_err());
            }
        }
    }

    #[test]
    fn two_things_are_done_and_the_failure_of_the_first_is_told() {
        for threads in [1, 2] {
            let done = join(threads, || Ok(1), || Ok(2)).unwrap();
            assert_eq!(done, (1, 2));
            let fail = |why: &str| -> Result<()> { Err(Error::invalid(why)) };
            let told = join(threads, || fail("one"), || fail("other"));
            assert_eq!(told.unwrap_err().to_string(), "one");
            let told = join(threads, || Ok(()), || fail("other"));
            assert_eq!(told.unwrap_err().to_string(), "other");
        }
    }

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in [1, 2, 5] {
            let seen = Mutex::new(Vec::new());
            par_for_each(threads, 0..100, |item| {
                seen.lock().unwrap().push(item);
                Ok(())
            })
            .unwrap();
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert_eq!(seen, (0..100).collect::<Vec<_>>());
            let failed = par_for_each(threads, 0..100, |item| match item {
                40 => Err(Error::invalid("40")),
                _ => Ok(()),
            });
            assert!(failed.is_err());
        }
    }
}
