//! Panics in handlers: one failed request, reported, and the server goes on.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use super::event::{Event, Observer};
use super::response::HttpError;

/// Answers a request whose handler panics with 500.
pub(super) async fn catch_panics(
    State(observer): State<Observer>,
    request: Request,
    next: Next,
) -> Response {
    // The query may have the token in it.
    let name = format!("{} {}", request.method(), request.uri().path());
    // A handler shares nothing but the state, whose locks outlive a panic.
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(payload) => report_panic(&observer, &name, payload.as_ref()).into_response(),
    }
}

/// Reports a panic, and gives the answer to its request.
pub(super) fn report_panic(observer: &Observer, request: &str, payload: &dyn Any) -> HttpError {
    let message = match payload.downcast_ref::<String>() {
        Some(text) => text,
        None => payload.downcast_ref().copied().unwrap_or("unknown cause"),
    };
    observer(Event::Panicked { request, message });
    HttpError::internal()
}
