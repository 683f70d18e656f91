//! A body that is sent while it is written.

use std::io;
use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use futures_core::Stream;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// So many pieces may wait to be sent.
const WAITING: usize = 4;

/// Pieces are at least this long, but for the last.
const PIECE: usize = 64 << 10;

/// Where a thread writes what a browser reads.
pub(super) struct BodyWriter {
    to: Sender<io::Result<Bytes>>,
    held: Vec<u8>,
}

/// What was written, for a body.
pub(super) struct BodyStream {
    first: Option<io::Result<Bytes>>,
    from: Receiver<io::Result<Bytes>>,
}

/// Both ends.
pub(super) fn body_channel() -> (BodyWriter, BodyStream) {
    let (to, from) = channel(WAITING);
    let held = Vec::new();
    (BodyWriter { to, held }, BodyStream { first: None, from })
}

impl BodyWriter {
    /// Another pen for the same paper, to say at the end how it went.
    pub(super) fn sender(&self) -> Sender<io::Result<Bytes>> {
        self.to.clone()
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let piece = Bytes::from(std::mem::take(&mut self.held));
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.to.blocking_send(Ok(piece)).map_err(gone)
    }
}

impl Write for BodyWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= PIECE {
            self.pass_on()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for BodyWriter {
    fn drop(&mut self) {
        // What is written until a panic is no part of an answer.
        if !self.held.is_empty() && !std::thread::panicking() {
            // Whoever does not read any more has no use for the rest.
            let _ = self.pass_on();
        }
    }
}

impl BodyStream {
    /// Waits until something is written; gives what went wrong if that comes first.
    pub(super) async fn begun(mut self) -> io::Result<BodyStream> {
        match self.from.recv().await {
            Some(Err(error)) => Err(error),
            first => {
                self.first = first;
                Ok(self)
            }
        }
    }
}

impl Stream for BodyStream {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<Self::Item>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => self.from.poll_recv(context),
        }
    }
}
