//! Streaming response bodies.

use std::io;
use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use futures_core::Stream;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Most chunks that wait to be sent.
const WAITING: usize = 4;

/// Smallest size of a chunk, except for the last.
const PIECE: usize = 64 << 10;

/// The writing end of a body, used by a worker thread.
pub(super) struct BodyWriter {
    to: Sender<io::Result<Bytes>>,
    held: Vec<u8>,
}

/// The reading end, for the response.
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
    /// Another sender for the same body, to report the result at the end.
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
        // Data written before a panic is not part of a response.
        if !self.held.is_empty() && !std::thread::panicking() {
            // If the client has gone, the rest is dropped.
            let _ = self.pass_on();
        }
    }
}

impl BodyStream {
    /// Waits for the first chunk; returns the error if that comes first.
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
