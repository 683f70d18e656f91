//! The viewer's server: read-only, local, and limited to the files it was given.

mod assets;
mod auth;
mod blocks;
mod body;
mod connections;
mod download;
mod event;
mod files;
mod images;
mod panics;
mod query;
mod response;
mod state;
mod tasks;
#[cfg(test)]
mod tests;
mod values;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use tenfold::Limits;

use auth::Auth;
use connections::Connection;
pub use connections::ConnectionLimits;
pub use event::Event;
use event::Observer;
use state::AppState;
pub use state::{File, Print, Wording};

/// The server, bound to its port and not yet running.
pub struct Server {
    listeners: Vec<TcpListener>,
    door: Arc<Auth>,
    world: AppState,
    connections: ConnectionLimits,
    observer: Observer,
}

impl Server {
    /// Binds a local port, any if none is given, to serve `files` to clients that know the token.
    ///
    /// # Errors
    /// Those of the system, such as a port in use.
    pub fn bind(
        files: Vec<File>,
        wording: Wording,
        limits: &Limits,
        port: Option<u16>,
    ) -> io::Result<Server> {
        let (port, listeners) = listen(port)?;
        Ok(Server {
            listeners,
            door: Arc::new(Auth::new(port, token()?)),
            world: AppState::new(files, wording, limits),
            connections: ConnectionLimits::default(),
            observer: Arc::new(|_| {}),
        })
    }

    /// The same server with other limits for its clients.
    #[must_use]
    pub fn with_connection_limits(mut self, limits: ConnectionLimits) -> Server {
        self.connections = limits;
        self
    }

    /// The same server, which calls `observer` for every event, from any thread.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Fn(Event<'_>) + Send + Sync + 'static) -> Server {
        self.observer = Arc::new(observer);
        self
    }

    /// The URL that grants a browser access.
    #[must_use]
    pub fn url(&self) -> String {
        self.door.url()
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// Those of the system.
    pub fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let router = router(self.world, self.door, &self.observer);
        runtime.block_on(async move {
            let listeners = self.listeners.into_iter();
            let listeners = listeners.map(tokio::net::TcpListener::from_std);
            let listeners = listeners.collect::<io::Result<Vec<_>>>()?;
            // On a thread of the runtime, so that accepting alternates with serving.
            let served = connections::serve(listeners, router, self.connections, self.observer);
            tokio::spawn(served).await.map_err(io::Error::other)
        })
    }
}

fn router(mut world: AppState, door: Arc<Auth>, observer: &Observer) -> Router {
    world.observer = Arc::clone(observer);
    Router::new()
        .route("/", get(assets::page))
        .route("/assets/{*path}", get(assets::asset))
        .route("/api/files", get(files::files))
        .route("/api/tensors", get(files::tensors))
        .route("/api/tensor", get(files::tensor))
        .route("/api/tile", get(images::tile))
        .route("/api/range", get(images::range))
        .route("/api/line", get(images::line))
        .route("/api/histogram", get(images::histogram))
        .route("/api/values", get(values::values))
        .route("/api/worst", get(values::worst))
        .route("/api/blocks", get(blocks::blocks))
        .route("/api/export", get(download::export))
        .fallback(response::nowhere)
        .with_state(Arc::new(world))
        .layer(from_fn_with_state(
            Arc::clone(observer),
            panics::catch_panics,
        ))
        .layer(from_fn_with_state(Arc::clone(observer), note_authenticated))
        .layer(from_fn_with_state(door, auth::guard))
}

/// Marks the connection of an authenticated request.
async fn note_authenticated(
    State(observer): State<Observer>,
    Extension(connection): Extension<Arc<Connection>>,
    request: Request,
    next: Next,
) -> Response {
    connection.set_authenticated();
    observer(Event::Authenticated);
    next.run(request).await
}

/// Listens on a port at both loopback addresses.
fn listen(wanted: Option<u16>) -> io::Result<(u16, Vec<TcpListener>)> {
    /// Number of ports to try if only one of the two addresses is free.
    const TRIES: usize = 16;
    /// Most connections that wait to be accepted.
    const BACKLOG: i32 = 4096;
    let mut last = None;
    for _ in 0..TRIES {
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, wanted.unwrap_or(0)))?;
        let port = first.local_addr()?.port();
        let mut listeners = vec![first];
        match TcpListener::bind((Ipv6Addr::LOCALHOST, port)) {
            Ok(second) => listeners.push(second),
            // The process that holds it could be mistaken for this server.
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                last = Some(error);
                if wanted.is_some() {
                    break;
                }
                continue;
            }
            // A machine without IPv6.
            Err(_) => {}
        }
        for listener in &listeners {
            listener.set_nonblocking(true)?;
            // The standard library's backlog is 128; a browser that is refused during a flood tries
            // again only after a second.
            rustix::net::listen(listener, BACKLOG)?;
        }
        return Ok((port, listeners));
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::AddrInUse.into()))
}

/// 128 random bits.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
