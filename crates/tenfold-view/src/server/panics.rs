//! Panic handling: the request fails and is reported, the server goes on.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use super::event::{Event, Observer};
use super::response::HttpError;

/// Answers a request with 500 if its handler panics.
pub(super) async fn catch_panics(
    State(observer): State<Observer>,
    request: Request,
    next: Next,
) -> Response {
    // The query may contain the token.
    let name = format!("{} {}", request.method(), request.uri().path());
    // A handler shares only the state, whose locks survive a panic.
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(payload) => report_panic(&observer, &name, payload.as_ref()).into_response(),
    }
}

/// Reports a panic, and returns the response to its request.
pub(super) fn report_panic(observer: &Observer, request: &str, payload: &dyn Any) -> HttpError {
    let message = match payload.downcast_ref::<String>() {
        Some(text) => text,
        None => payload.downcast_ref().copied().unwrap_or("unknown cause"),
    };
    observer(Event::Panicked { request, message });
    HttpError::internal()
}
