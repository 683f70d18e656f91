//! Which released programs open a file, as far as its version and its content say.

use super::hint;
use crate::bundle::Bundle;
use crate::format::BIG;
use crate::number::Arity;
use crate::tensor::{Storage, Tensor};

/// The readers of a file that programs refuse.
const UNKNOWN: &str = "that know its dtypes, which no released one does";

/// The programs that open a file of a version: of this content, if it is given.
pub(super) fn of(version: &str, written: Option<&Bundle>) -> Option<&'static str> {
    let any = |is_it: fn(&Tensor) -> bool| {
        let mut tensors = written.into_iter().flat_map(Bundle::entries);
        tensors.any(|(_, tensor)| is_it(tensor))
    };
    let is_refused = any(|tensor| tensor.hints.text(hint::DTYPE).is_some());
    match version {
        "0.1" if is_refused => Some(UNKNOWN),
        "0.1" => Some(match (any(is_big), any(is_not_dense)) {
            (false, false) => "0.1 to 1.2",
            (false, true) => "0.1 to 1.2, none of which reads the tensors that are not dense",
            (true, false) => "0.1, as later ones misread big-endian numbers",
            (true, true) => {
                "0.1, as later ones misread big-endian numbers and none reads the tensors that are \
                 not dense"
            }
        }),
        "1.2" if any(|tensor| tensor.hints.get(hint::COMPONENTS).is_some()) => {
            Some("1.1 and 1.2, as far as they know its dtypes and encodings")
        }
        "1.2" if any(|tensor| tensor.dtype().arity != Arity::Real) => {
            Some("1.1 and 1.2, none of which reads the complex tensors")
        }
        "1.2" => Some("1.1 and 1.2"),
        "2" => Some("2.x"),
        _ => None,
    }
}

/// Whether it has numbers of several bytes, the most significant first, which later programs take
/// for little-endian ones.
fn is_big(tensor: &Tensor) -> bool {
    tensor.hints.text(hint::ENDIANNESS) == Some(BIG)
}

/// Whether it has a layout of 0.1 that its programs know by name alone.
fn is_not_dense(tensor: &Tensor) -> bool {
    !matches!(tensor.storage(), Storage::Dense { .. })
}
