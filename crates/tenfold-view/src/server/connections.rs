//! Connections: a bounded number, each with deadlines.
//!
//! Any program of this machine can connect, so a flood must not keep the browser out. A connection
//! without an authenticated request is untrusted, and the oldest of these is closed when there are
//! too many. The browser authenticates with its first request; only if all connections are
//! authenticated are they asked to end, the idle ones at once, the others after their response.

use std::collections::HashMap;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use super::event::{Event, Observer};
use super::panics::report_panic;

/// Limits for many, idle or slow clients.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Connections open at once; never more than a quarter of the files that the process may open.
    pub max: usize,
    /// Time for a request to arrive with all its headers, from the start of the connection or the
    /// end of the previous response: a connection that is idle for longer is closed.
    pub header_timeout: Duration,
    /// Time that a client may take to accept any part of its response.
    pub write_timeout: Duration,
}

impl Default for ConnectionLimits {
    /// 1024 connections, 10 seconds for a request, a minute for a part of a response.
    fn default() -> ConnectionLimits {
        ConnectionLimits {
            max: 1024,
            header_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(60),
        }
    }
}

/// Time given to an untrusted connection, per permitted connection, before it is closed for
/// another: enough to send a request. More than 10 000 connections a second have to wait.
const GRACE: Duration = Duration::from_micros(100);

/// Largest size of request headers. Browsers send the cookies of all servers on this machine.
const MAX_HEADERS: usize = 64 << 10;

/// Delay after a connection could not be accepted; each failure in a row doubles it.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// Failures to accept are reported at most once per this time.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// A connection, as seen by its requests.
#[derive(Default)]
pub(super) struct Connection {
    is_authenticated: AtomicBool,
}

impl Connection {
    /// Marks the connection as authenticated.
    pub(super) fn set_authenticated(&self) {
        self.is_authenticated.store(true, Ordering::Relaxed);
    }

    fn is_authenticated(&self) -> bool {
        self.is_authenticated.load(Ordering::Relaxed)
    }
}

/// Accepts and serves connections, for as long as the runtime lives.
pub(super) async fn serve(
    mut listeners: Vec<TcpListener>,
    router: Router,
    limits: ConnectionLimits,
    observer: Observer,
) {
    let mut connections = Connections::new(router, limits, Arc::clone(&observer));
    let mut delay = BACK_OFF.0;
    let mut reported: Option<Instant> = None;
    loop {
        match accept(&listeners).await {
            Ok(stream) => {
                delay = BACK_OFF.0;
                connections.make_room().await;
                connections.spawn(stream);
            }
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                if reported.is_none_or(|at| at.elapsed() >= REPORT_INTERVAL) {
                    reported = Some(Instant::now());
                    observer(Event::AcceptFailed(&error));
                }
                // The system may lack a file descriptor, which closing an untrusted connection
                // returns.
                if connections.close_one() {
                    connections.wait_for_one().await;
                } else {
                    sleep(delay).await;
                    delay = (delay * 2).min(BACK_OFF.1);
                }
            }
        }
        // A flood on one address must not starve the other.
        listeners.rotate_left(1);
    }
}

/// The next connection of any listener.
async fn accept(listeners: &[TcpListener]) -> io::Result<TcpStream> {
    poll_fn(|context| {
        for listener in listeners {
            if let Poll::Ready(accepted) = listener.poll_accept(context) {
                return Poll::Ready(accepted.map(|(stream, _)| stream));
            }
        }
        Poll::Pending
    })
    .await
}

/// Whether a connection failed before it was accepted, which does not affect the next one.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// The open connections.
struct Connections {
    router: Router,
    limits: ConnectionLimits,
    observer: Observer,
    tasks: JoinSet<()>,
    open: HashMap<Id, Open>,
    /// Asks all of them to end after their current response.
    shutdown: GracefulShutdown,
}

/// A connection that has neither ended nor been closed.
struct Open {
    connection: Arc<Connection>,
    since: Instant,
    task: AbortHandle,
}

impl Connections {
    fn new(router: Router, mut limits: ConnectionLimits, observer: Observer) -> Connections {
        limits.max = limits.max.min(share_of_files()).max(1);
        Connections {
            router,
            limits,
            observer,
            tasks: JoinSet::new(),
            open: HashMap::new(),
            shutdown: GracefulShutdown::new(),
        }
    }

    /// Waits until there is room for another connection, closing some if necessary.
    async fn make_room(&mut self) {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            self.remove(ended);
        }
        let max = u32::try_from(self.limits.max).unwrap_or(u32::MAX);
        let grace = GRACE.saturating_mul(max);
        while self.tasks.len() >= self.limits.max {
            let age = self.oldest_stranger().map(|oldest| oldest.since.elapsed());
            let left = grace.saturating_sub(age.unwrap_or(grace));
            if left.is_zero() {
                self.close_one();
                self.wait_for_one().await;
            } else {
                // One may end by itself in the meantime.
                let _ = timeout(left, self.wait_for_one()).await;
            }
        }
    }

    /// Waits until a connection has ended.
    async fn wait_for_one(&mut self) {
        if let Some(ended) = self.tasks.join_next_with_id().await {
            self.remove(ended);
        }
    }

    fn oldest_stranger(&self) -> Option<&Open> {
        let strangers = { self.open.values() }.filter(|open| !open.connection.is_authenticated());
        strangers.min_by_key(|open| open.since)
    }

    /// Closes the oldest untrusted connection; if there is none, makes all others end as soon as
    /// they are idle. Returns whether there was one.
    fn close_one(&mut self) -> bool {
        if let Some(oldest) = self.oldest_stranger() {
            let id = oldest.task.id();
            oldest.task.abort();
            self.open.remove(&id);
            true
        } else {
            tokio::spawn(std::mem::take(&mut self.shutdown).shutdown());
            false
        }
    }

    /// Serves the requests of a connection.
    fn spawn(&mut self, stream: TcpStream) {
        let connection = Arc::new(Connection::default());
        let routes = TowerToHyperService::new(self.router.clone());
        let requests = Arc::clone(&connection);
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(Arc::clone(&requests));
            routes.call(request)
        });
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(self.limits.write_timeout));
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_timeout)
            .max_buf_size(MAX_HEADERS)
            .serve_connection(TokioIo::new(Box::pin(stream)), service);
        let served = self.shutdown.watch(served);
        let task = self.tasks.spawn(async {
            // An error concerns this client alone: it disconnected, was too slow, or did not speak
            // HTTP.
            let _ = served.await;
        });
        let open = Open {
            connection,
            since: Instant::now(),
            task,
        };
        self.open.insert(open.task.id(), open);
    }

    /// Removes a finished connection, and reports it if it ended by a panic.
    fn remove(&mut self, ended: Result<(Id, ()), JoinError>) {
        let id = match &ended {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        };
        self.open.remove(&id);
        if let Err(Ok(payload)) = ended.map_err(JoinError::try_into_panic) {
            report_panic(&self.observer, "a connection", payload.as_ref());
        }
    }
}

/// A quarter of the files that this process may open: tensors need the others.
fn share_of_files() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    let share = limit.map_or(u64::MAX, |limit| limit / 4);
    usize::try_from(share).unwrap_or(usize::MAX)
}
