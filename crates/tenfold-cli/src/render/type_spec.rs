//! Tensor types in Vespa's notation.

use tenfold::{Arity, DType, Dim, Number, Size, Tensor};

/// The type of a tensor, such as `tensor<float>(brand{},x[3])`; `None` if Vespa has no such type.
pub(crate) fn type_spec(tensor: &Tensor) -> Option<String> {
    let mut dims = tensor.dims().to_vec();
    dims.sort_by(|a, b| a.name.cmp(&b.name));
    type_of(tensor.dtype(), &dims)
}

/// The type of a tensor with dimensions in the order of its values; sorted by name if that makes no
/// difference.
pub(crate) fn type_of(dtype: DType, dims: &[Dim]) -> Option<String> {
    let cells = match (dtype.number, dtype.arity) {
        (Number::F64, Arity::Real) => "",
        (Number::F32, Arity::Real) => "<float>",
        (Number::Bf16, Arity::Real) => "<bfloat16>",
        (Number::I8, Arity::Real) => "<int8>",
        _ => return None,
    };
    let mut dims: Vec<(&str, Size)> = dims
        .iter()
        .map(|dim| {
            let name = dim.name.as_deref().filter(|name| is_dim_name(name))?;
            Some((name, dim.size))
        })
        .collect::<Option<_>>()?;
    let indexed = dims.iter().filter(|(_, size)| *size != Size::Mapped);
    if indexed.is_sorted_by_key(|(name, _)| *name) {
        dims.sort_by_key(|(name, _)| *name);
    }
    let dims: Vec<String> = dims
        .into_iter()
        .map(|(name, size)| match size {
            Size::Indexed(size) => format!("{name}[{size}]"),
            Size::Mapped => format!("{name}{{}}"),
        })
        .collect();
    Some(format!("tensor{cells}({})", dims.join(",")))
}

/// Whether a dimension name is valid in a type.
pub(crate) fn is_dim_name(name: &str) -> bool {
    let is_fine =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '@' | '$');
    let mut letters = name.chars();
    let is_first = |letter: char| letter != '$' && is_fine(letter) || letter == '-';
    letters.next().is_some_and(is_first) && letters.all(is_fine)
}
