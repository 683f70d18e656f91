//! Server events, for logging and for the owner of the server.

use std::io;
use std::sync::Arc;

/// An event of the running server.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A request was authenticated and is being answered.
    Authenticated,
    /// A request failed by a panic and was answered with 500, or a connection ended by one.
    Panicked {
        /// The method and the path of the request, without its query.
        request: &'a str,
        /// The message of the panic.
        message: &'a str,
    },
    /// Connections cannot be accepted at the moment; the server tries again.
    AcceptFailed(&'a io::Error),
}

/// Called for every event, from any thread.
pub(super) type Observer = Arc<dyn Fn(Event<'_>) + Send + Sync>;
