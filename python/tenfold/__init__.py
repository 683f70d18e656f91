"""One tool for every tensor file.

>>> import numpy as np, tenfold
>>> data = tenfold.dumps({"w": np.eye(2)}, format="safetensors")
>>> with tenfold.open(data) as f:
...     f.format, list(f), f["w"].shape, f["w"][0]
('safetensors', ['w'], (2, 2), array([1., 0.]))

`open` gives a file as a mapping of names to lazy tensors; `load` and `read` give arrays; `save`,
`create` and `convert` write; `compress` makes tensor trains. `tenfold.numpy` and `tenfold.torch`
stand in for the modules of safetensors with the same names, and so do `safe_open`, `SafetensorError`,
`serialize`, `serialize_file`, `deserialize` and `TensorSpec` for those of the package itself.
"""

from __future__ import annotations

from . import dtypes
from ._drop_in import SafeOpen as safe_open
from ._drop_in import _safe_open_handle as _safe_open_handle
from ._errors import (
    FileError,
    FolderGiven,
    ForbiddenFile,
    InvalidRequest,
    LimitExceeded,
    Loss,
    LossRefused,
    MalformedFile,
    MissingFile,
    MissingPackage,
    Note,
    OutOfMemory,
    RankLimitReached,
    SafetensorError,
    TenfoldError,
    TensorNotFound,
    UnrecognisedFile,
    UnsupportedFeature,
)
from ._file import File, load, open, read
from ._reports import (
    Callable,
    Difference,
    FileDifference,
    Format,
    Stats,
    diff,
    formats,
    hash,
    hashes,
    stats,
    verify,
)
from ._save import convert, dumps, save
from ._serialize import TensorSpec, deserialize, serialize, serialize_file
from ._tenfold import VERSION as __version__
from ._tensor import Tensor
from ._train import TensorTrain, compress
from ._values import Labelled, Symmetric, Symmetry
from ._writer import Stream, Writer, create
from ._writing import Report

__all__ = [
    "Callable",
    "Difference",
    "File",
    "FileDifference",
    "FileError",
    "FolderGiven",
    "ForbiddenFile",
    "Format",
    "InvalidRequest",
    "Labelled",
    "LimitExceeded",
    "Loss",
    "LossRefused",
    "MalformedFile",
    "MissingFile",
    "MissingPackage",
    "Note",
    "OutOfMemory",
    "RankLimitReached",
    "Report",
    "SafetensorError",
    "Stats",
    "Stream",
    "Symmetric",
    "Symmetry",
    "TenfoldError",
    "Tensor",
    "TensorNotFound",
    "TensorSpec",
    "TensorTrain",
    "UnrecognisedFile",
    "UnsupportedFeature",
    "Writer",
    "__version__",
    "compress",
    "convert",
    "create",
    "deserialize",
    "diff",
    "dtypes",
    "dumps",
    "formats",
    "hash",
    "hashes",
    "load",
    "open",
    "read",
    "safe_open",
    "save",
    "serialize",
    "serialize_file",
    "stats",
    "verify",
]
