//! The callables that PyTorch allows with `weights_only`.
//!
//! The list is that of `torch/_weights_only_unpickler.py`.
#![deny(clippy::arithmetic_side_effects)]

use super::types::Type;

/// Classes and functions by their qualified names.
const ALLOWED: &[&str] = &[
    "collections.OrderedDict",
    "collections.Counter",
    "torch.nn.parameter.Parameter",
    "torch.serialization._get_layout",
    "torch.Size",
    "torch.Tensor",
    "torch.device",
    "_codecs.encode",
    "builtins.bytearray",
    "builtins.set",
    "builtins.complex",
    "torch.per_tensor_affine",
    "torch.per_tensor_symmetric",
    "torch.per_channel_affine",
    "torch.per_channel_symmetric",
    "torch.per_channel_affine_float_qparams",
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_parameter_with_state",
    "torch._utils._rebuild_qtensor",
    "torch._utils._rebuild_tensor",
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_sparse_tensor",
    "torch._utils._rebuild_meta_tensor_no_storage",
    "torch._utils._rebuild_wrapper_subclass",
    "torch._utils._rebuild_device_tensor_from_numpy",
    "torch._utils._rebuild_device_tensor_from_cpu_tensor",
    "torch._tensor._rebuild_from_type_v2",
    "torch.storage.TypedStorage",
    "torch.storage.UntypedStorage",
];

/// The tensor classes from before dtypes, in each of these modules.
const TENSOR_MODULES: &[&str] = &["torch", "torch.cuda", "torch.sparse", "torch.cuda.sparse"];
const TENSORS: &[&str] = &[
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "BFloat16Tensor",
    "LongTensor",
    "IntTensor",
    "ShortTensor",
    "CharTensor",
    "ByteTensor",
    "BoolTensor",
];

/// Whether `weights_only` allows a pickle to call or import it.
pub(super) fn is_allowed(module: &str, name: &str) -> bool {
    // The name of the module in Python 2.
    let module = if module == "__builtin__" {
        "builtins"
    } else {
        module
    };
    let is_listed = |allowed: &&str| {
        let rest = allowed.strip_prefix(module);
        rest.and_then(|rest| rest.strip_prefix('.')) == Some(name)
    };
    let is_short_integer = {
        let bits = name.strip_prefix('u').unwrap_or(name);
        let bits = bits.strip_prefix("int").filter(|_| module == "torch");
        bits.is_some_and(|bits| matches!(bits.as_bytes(), [b'1'..=b'7']))
    };
    ALLOWED.iter().any(is_listed)
        || Type::named(module, name).is_some()
        || is_short_integer
        || matches!(module, "torch" | "torch.cuda") && Type::of_storage(module, name).is_some()
        || TENSOR_MODULES.contains(&module) && TENSORS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_weights_only_loads_is_allowed_and_nothing_else() {
        for (module, name) in [
            ("torch._utils", "_rebuild_tensor_v2"),
            ("collections", "OrderedDict"),
            ("__builtin__", "set"),
            ("torch", "bfloat16"),
            ("torch", "uint4"),
            ("torch", "FloatStorage"),
            ("torch.cuda", "HalfStorage"),
            ("torch.sparse", "FloatTensor"),
        ] {
            assert!(is_allowed(module, name), "{module}.{name}");
        }
        for (module, name) in [
            ("posix", "system"),
            ("builtins", "eval"),
            ("torch", "load"),
            ("torch", "uint9"),
            ("torch.hub", "load"),
            ("os", "FloatStorage"),
            ("torch._utils._rebuild_tensor", "v2"),
            ("collections.OrderedDict", ""),
            ("numpy.core.multiarray", "_reconstruct"),
            ("__main__", "Net"),
        ] {
            assert!(!is_allowed(module, name), "{module}.{name}");
        }
    }
}
