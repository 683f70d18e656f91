//! The command line as its users meet it: arguments in, output, errors and exit code out.

mod address;
mod convert;
mod corpus;
mod edit;
mod formats;
mod info;
mod program;
mod saving;
mod show;
mod support;
mod usage;
mod verify;
