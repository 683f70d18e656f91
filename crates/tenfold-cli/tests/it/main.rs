//! The command line as its users meet it: arguments in, output, errors and exit code out.

mod address;
mod convert;
mod corpus;
mod formats;
mod hash;
mod info;
mod program;
mod saving;
mod show;
mod stats;
mod support;
mod usage;
mod verify;
