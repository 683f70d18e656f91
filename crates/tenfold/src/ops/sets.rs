//! Grouping of files into sets.

use super::open::{Member, OpenOptions};
use super::shards::ShardName;
use crate::error::{Error, Result};

/// Groups the files of each numbered set, and leaves every other file alone. If there is no such
/// set, all files belong together.
pub(super) fn grouped(members: Vec<Member>, how: &OpenOptions) -> Vec<Vec<Member>> {
    if !members.iter().any(|member| name(member, how).is_some()) {
        return vec![members];
    }
    let mut groups: Vec<(Option<ShardName>, Vec<Member>)> = Vec::new();
    for member in members {
        let own = name(&member, how);
        let is_own = |set: &Option<ShardName>| match (set, &own) {
            (Some(set), Some(own)) => set.is_beside(own),
            _ => false,
        };
        match groups.iter_mut().find(|(set, _)| is_own(set)) {
            Some((_, group)) => group.push(member),
            None => groups.push((own, vec![member])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Fails if the files of one input belong to several sets.
pub(super) fn refuse_several(members: &[Member], how: &OpenOptions) -> Result<()> {
    let (Some(first), Some(other)) = (members.first(), odd(members, how)) else {
        return Ok(());
    };
    let (first, other) = (first.path.display(), other.path.display());
    let why =
        format!("{first} and {other} are not of one set: name a file of the one that is meant");
    Err(Error::Invalid(why))
}

/// A file that does not belong to the set of the first, if there are sets.
fn odd<'a>(members: &'a [Member], how: &OpenOptions) -> Option<&'a Member> {
    let names: Vec<Option<ShardName>> = members.iter().map(|member| name(member, how)).collect();
    let first = names.iter().flatten().next()?;
    let is_odd = |own: &Option<ShardName>| own.as_ref().is_none_or(|own| !own.is_beside(first));
    let place = match names.first()? {
        // The first file belongs to no set, and another one does.
        None => names.iter().position(Option::is_some)?,
        Some(_) => names.iter().position(is_odd)?,
    };
    members.get(place)
}

/// The name of a file of a numbered set that is opened as a whole.
fn name(member: &Member, how: &OpenOptions) -> Option<ShardName> {
    let is_numbered = member.format.has_numbered_sets() && !how.alone;
    ShardName::parse(&member.path).filter(|_| is_numbered)
}
