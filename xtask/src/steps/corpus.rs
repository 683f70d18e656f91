//! Whether the corpus is reproduced by its generators.

use crate::command::{program, run};

pub(super) fn check() -> Result<(), String> {
    run(program("python3", &["corpus/make/all.py", "--check"]))
}
