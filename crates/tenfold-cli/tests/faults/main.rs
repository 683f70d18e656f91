//! What happens to files when something goes wrong: the real program, with a system that fails it, kills
//! it, changes its files or holds it short, and with files made to harm it.
//!
//! Every test has a quick version, which is what runs by default, and a long one, `cargo xtask soak`,
//! which sets `TENFOLD_SOAK`. `TENFOLD_PROGRAM` names another program to test, such as a release build.

mod arena;
#[path = "../../../tenfold/tests/shared/bombs.rs"]
mod bomb_files;
mod bombs;
mod changing;
mod disk;
mod extraction;
mod full;
mod hostile;
mod injected;
mod killed;
mod limits;
mod power;
mod questions;
mod reading;
mod recorder;
mod sameness;
mod scarce;
mod scene;
mod temporary;
mod tracer;

/// The bytes of what is repeated in a bomb.
const BOMB_LEN: usize = 12 << 20;
