//! The command line as its users meet it: arguments in, output, errors and exit code out.

mod convert;
mod corpus;
mod formats;
mod hash;
mod info;
mod program;
mod show;
mod stats;
mod support;
mod usage;
mod verify;
