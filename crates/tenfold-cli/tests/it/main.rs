//! The command line as its users meet it: arguments in, output, errors and exit code out.

mod address;
mod carried;
mod convert;
mod convert_many;
mod corpus;
mod demo;
mod diff;
mod edit;
mod formats;
mod hash;
mod info;
mod literal;
mod program;
mod saving;
mod sets;
mod show;
mod stats;
mod support;
mod tools;
mod transform;
mod usage;
mod verify;
mod voice;
