//! The limit on open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit on open files to its hard limit: each large tensor that is spooled takes a
/// file.
pub fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // If that is not permitted, the default limit applies.
    let _ = setrlimit(Resource::Nofile, raised);
}
