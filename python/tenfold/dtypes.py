"""Element types that NumPy has no word for, and what they are in arrays."""

from ._dtypes import float128, int128, name_of, numpy_type, uint128

__all__ = ["float128", "int128", "name_of", "numpy_type", "uint128"]
