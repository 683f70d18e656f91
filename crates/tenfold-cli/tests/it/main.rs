//! The command line as its users meet it: arguments in, output, errors and exit code out.

mod convert;
mod corpus;
mod formats;
mod info;
mod program;
mod show;
mod support;
mod transform;
mod usage;
mod verify;
