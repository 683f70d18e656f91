//! Losses of a conversion: each with its aspect and tier, and the refusal that lists them.

use std::cmp::Reverse;
use std::fmt;

use crate::key::Key;

/// One thing that a target format cannot hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The tensor; `None` for the file as a whole.
    pub key: Option<Key>,
    /// The aspect that would be lost.
    pub aspect: Aspect,
    /// The details, as text.
    pub detail: String,
    /// The tier: said, refused, or impossible.
    pub tier: Tier,
}

impl Loss {
    /// A loss of something that the target cannot express.
    pub(crate) fn impossible<'a>(
        key: impl Into<Option<&'a Key>>,
        aspect: Aspect,
        detail: impl Into<String>,
    ) -> Loss {
        Loss {
            key: key.into().cloned(),
            aspect,
            detail: detail.into(),
            tier: Tier::Impossible,
        }
    }
}

/// The severity of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The target keeps it as text that this library restores: no loss.
    Carried,
    /// All values survive: it is written, and reported.
    Said,
    /// Values or their addresses would not survive: refused unless permitted.
    Refused,
    /// The target cannot express it: refused whatever is permitted.
    Impossible,
}

/// The aspects of a bundle that a conversion can lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Aspect {
    /// The number type, where all values survive.
    Number,
    /// The values themselves, which would be rounded.
    Precision,
    /// The sizes of the dimensions.
    Shape,
    /// The names of the dimensions.
    DimNames,
    /// The order of the dimensions.
    DimOrder,
    /// The labels of mapped dimensions.
    Labels,
    /// The set of explicit cells.
    Sparsity,
    /// Declared or packed symmetries.
    Symmetry,
    /// The decomposition of a tensor train.
    Train,
    /// Names of tensors.
    Keys,
    /// Statistics that belong to a tensor.
    State,
    /// The number of tensors.
    Count,
    /// Metadata.
    Metadata,
    /// Tensors that could not be read.
    Skipped,
    /// The layout of opaque bytes, such as quantized blocks.
    Opaque,
    /// A name that the target requires and that was not given.
    Invented,
}

impl Aspect {
    /// All aspects.
    pub const ALL: &'static [Aspect] = &[
        Aspect::Number,
        Aspect::Precision,
        Aspect::Shape,
        Aspect::DimNames,
        Aspect::DimOrder,
        Aspect::Labels,
        Aspect::Sparsity,
        Aspect::Symmetry,
        Aspect::Train,
        Aspect::Keys,
        Aspect::State,
        Aspect::Count,
        Aspect::Metadata,
        Aspect::Skipped,
        Aspect::Opaque,
        Aspect::Invented,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Aspect::Number => "number",
            Aspect::Precision => "precision",
            Aspect::Shape => "shape",
            Aspect::DimNames => "dim-names",
            Aspect::DimOrder => "dim-order",
            Aspect::Labels => "labels",
            Aspect::Sparsity => "sparsity",
            Aspect::Symmetry => "symmetry",
            Aspect::Train => "train",
            Aspect::Keys => "keys",
            Aspect::State => "state",
            Aspect::Count => "count",
            Aspect::Metadata => "metadata",
            Aspect::Skipped => "skipped",
            Aspect::Opaque => "opaque",
            Aspect::Invented => "invented",
        }
    }
}

impl Aspect {
    /// The effect of permitting it, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Aspect::Number => "another number type that holds every value",
            Aspect::Precision => "values are rounded, cut off or become the nearest in range",
            Aspect::Shape => "the sizes of dimensions are not kept",
            Aspect::DimNames => "names of dimensions are dropped",
            Aspect::DimOrder => "dimensions come in another order",
            Aspect::Labels => "labels become positions 0, 1, 2, ...",
            Aspect::Sparsity => "cells that were absent are stored",
            Aspect::Symmetry => "declared symmetries are dropped, packed cells unpacked",
            Aspect::Train => "a train is expanded to all its cells",
            Aspect::Keys => "tensors get other names",
            Aspect::State => "statistics lose the tensors that they belong to",
            Aspect::Count => "another number of tensors",
            Aspect::Metadata => "metadata is dropped, or that of the first file kept",
            Aspect::Skipped => "tensors that could not be read are left out",
            Aspect::Opaque => "bytes of a type that the target cannot name",
            Aspect::Invented => "names that nobody gave are made up",
        }
    }
}

/// A refusal to write, with all losses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The format that cannot hold it, or `the type asked for` of a cast.
    pub format: &'static str,
    /// The losses; never empty.
    pub losses: Vec<Loss>,
}

impl Refusal {
    /// The text after the name of the format, if no file is named.
    pub const OF_IT: &'static str = " cannot hold all of it";
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// The whole text, of several lines; `clean` makes each safe to print.
    #[must_use]
    pub fn text(&self, clean: impl Fn(&str) -> String) -> String {
        let mut text = format!("{}{}", self.format, Refusal::OF_IT);
        let groups = group_losses(&self.losses);
        for group in &groups {
            let word = group.aspect.as_str();
            text.push_str(&format!("\n  {word:<10} {}", clean(&group.detail)));
        }
        text.push_str("\nNothing was written.");
        if self.losses.iter().all(|loss| loss.tier < Tier::Impossible) {
            let mut words: Vec<&str> = groups.iter().map(|group| group.aspect.as_str()).collect();
            words.sort_unstable();
            words.dedup();
            text.push_str(&format!(" To go ahead: --allow {}", words.join(",")));
            if words.contains(&Aspect::Train.as_str()) {
                text.push_str(", or tenfold reconstruct IN.blz OUT");
            }
        }
        text
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text(str::to_owned))
    }
}

/// Losses of one aspect for one reason, as a line that stays short for any number of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossGroup {
    /// The common aspect.
    pub aspect: Aspect,
    /// The reason, the first tensor, and the number of further ones.
    pub detail: String,
}

/// Groups losses by aspect and reason, in the order of [`Aspect::ALL`], the most severe first; of
/// an aspect with many reasons, the first few.
#[must_use]
pub fn group_losses(losses: &[Loss]) -> Vec<LossGroup> {
    /// Most reasons listed for one aspect.
    const SHOWN: usize = 3;
    let mut found = Vec::new();
    for aspect in Aspect::ALL {
        let mut same: Vec<&Loss> = losses
            .iter()
            .filter(|loss| loss.aspect == *aspect)
            .collect();
        same.sort_by_key(|loss| Reverse(loss.tier));
        let mut reasons: Vec<(&Loss, usize)> = Vec::new();
        for loss in &same {
            let is_full = reasons.len() >= SHOWN;
            let mut known = reasons.iter_mut();
            match known.find(|(first, _)| first.detail == loss.detail) {
                Some((_, count)) => *count = count.saturating_add(1),
                None if is_full => {}
                None => reasons.push((loss, 1)),
            }
        }
        let listed: usize = reasons.iter().map(|(_, count)| count).sum();
        let hidden = same.len().saturating_sub(listed);
        let last = reasons.len();
        for (number, (first, count)) in (1..).zip(reasons) {
            let mut detail = match first.key.as_ref().filter(|key| !key.is_empty()) {
                Some(key) => match key.flat_name() {
                    Some(name) => format!("{name}: {}", first.detail),
                    None => format!("{key}: {}", first.detail),
                },
                None => first.detail.clone(),
            };
            if count > 1 {
                let more = count.saturating_sub(1);
                detail.push_str(&format!(" (and {more} more)"));
            }
            if number == last && hidden > 0 {
                detail.push_str(&format!("; {hidden} more like these"));
            }
            found.push(LossGroup {
                aspect: *aspect,
                detail,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(key: &str, detail: &str, tier: Tier) -> Loss {
        Loss {
            key: Some(Key::flat(key)),
            aspect: Aspect::Shape,
            detail: detail.into(),
            tier,
        }
    }

    #[test]
    fn every_reason_has_a_line_and_the_gravest_comes_first() {
        let losses = [
            loss("a", "one", Tier::Said),
            loss("b", "one", Tier::Said),
            loss("c", "two", Tier::Refused),
        ];
        let lines: Vec<String> = { group_losses(&losses).into_iter() }
            .map(|group| group.detail)
            .collect();
        assert_eq!(lines, ["c: two", "a: one (and 1 more)"]);
    }

    #[test]
    fn of_many_reasons_a_few_are_listed() {
        let losses: Vec<Loss> = (0..9)
            .map(|n| loss("a", &format!("reason {n}"), Tier::Said))
            .collect();
        let groups = group_losses(&losses);
        assert_eq!(groups.len(), 3);
        assert_eq!(groups[2].detail, "a: reason 2; 6 more like these");
    }
}
