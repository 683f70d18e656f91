"""Element types that NumPy does not have, and their representation in arrays."""

from ._dtypes import float128, int128, name_of, numpy_type, uint128

__all__ = ["float128", "int128", "name_of", "numpy_type", "uint128"]
