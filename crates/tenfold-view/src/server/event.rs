//! What happens in the server that its owner may want to act on or to log.

use std::io;
use std::sync::Arc;

/// Something that happened while the server runs.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A request had the token or the cookie, and is being answered.
    Authenticated,
    /// A request failed by a panic and was answered with 500, or a connection ended by one.
    Panicked {
        /// The method and the path of the request, without its query.
        request: &'a str,
        /// The message of the panic.
        message: &'a str,
    },
    /// Connections cannot be accepted at the moment; it is tried again.
    AcceptFailed(&'a io::Error),
}

/// Called for every event, from any thread.
pub(super) type Observer = Arc<dyn Fn(Event<'_>) + Send + Sync>;
