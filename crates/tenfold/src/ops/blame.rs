//! Attribution of errors in values to the file that has them.

use super::open::{Input, Member};
use crate::error::Error;
use crate::format::ReadOptions;

/// An input and the options with which its headers were read.
pub struct ReadInput {
    /// The input.
    pub input: Input,
    /// The options.
    pub how: ReadOptions,
}

/// Adds the name and the format of the file to an error that was found only when values were read.
/// Of several files, it is the one whose values fail [`Bundle::check`](crate::Bundle::check).
#[must_use]
pub fn blame(error: Error, inputs: &[ReadInput]) -> Error {
    if !matches!(error, Error::Malformed { format: None, .. }) {
        return error;
    }
    let members: Vec<(&ReadInput, &Member)> = inputs
        .iter()
        .flat_map(|read| {
            read.input
                .members()
                .iter()
                .map(move |member| (read, member))
        })
        .collect();
    let guilty = match members.as_slice() {
        [(_, only)] => Some(*only),
        many => { many.iter() }
            .find(|(read, member)| is_unsound(read, member))
            .map(|(_, member)| *member),
    };
    match guilty {
        Some(member) => error.of(member.format.info().name).in_file(&member.path),
        None => error,
    }
}

fn is_unsound(read: &ReadInput, member: &Member) -> bool {
    let part = read.input.read_member(member, &read.how);
    part.is_ok_and(|part| part.bundle.check(&read.how.limits).is_err())
}
