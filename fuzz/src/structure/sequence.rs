//! Changes of a sequence of pieces.

use super::Random;

/// Repetitions beyond this teach nothing that fewer do not.
const MOST: usize = 64;

/// Removes, repeats, moves or swaps pieces, or puts in new ones.
pub fn change<T: Clone>(pieces: &mut Vec<T>, random: &mut Random, fresh: fn(&mut Random) -> T) {
    let at = random.below(pieces.len());
    let to = random.below(pieces.len() + 1);
    match random.below(6) {
        0 if pieces.len() > 1 => {
            let end = at + 1 + random.below((pieces.len() - at).min(4));
            pieces.drain(at..end.min(pieces.len()));
        }
        1 if !pieces.is_empty() => {
            let times = 1 + random.below(MOST).min(random.below(MOST));
            let copies = vec![pieces[at].clone(); times];
            pieces.splice(to..to, copies);
        }
        2 if !pieces.is_empty() => {
            let piece = pieces.remove(at);
            pieces.insert(to.min(pieces.len()), piece);
        }
        3 if to < pieces.len() => pieces.swap(at, to),
        4 if !pieces.is_empty() => pieces[at] = fresh(random),
        _ => pieces.insert(to, fresh(random)),
    }
}
