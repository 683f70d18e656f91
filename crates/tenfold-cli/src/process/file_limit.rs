//! How many files may be open at once.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the number of files that this process may have open as far as it may itself: what is put
/// aside for very many large tensors takes a file each.
pub fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // Where that is not permitted the usual number has to do.
    let _ = setrlimit(Resource::Nofile, raised);
}
