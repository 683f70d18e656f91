//! The command line as its users meet it: arguments in, output, errors and exit code out.

mod address;
mod convert;
mod convert_many;
mod corpus;
mod formats;
mod info;
mod program;
mod saving;
mod show;
mod support;
mod usage;
mod verify;
