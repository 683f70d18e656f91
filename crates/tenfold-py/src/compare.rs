//! Comparison of files, statistics, hashes and verification.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tenfold::{
    DiffOptions, DiffTolerance, Error, Finding, Mode, NoteKind, Place, QUANTILES, Samples,
    SparseHashing, Tensor, Verdict, file_hash, tensor_hashes,
};

use crate::errors;
use crate::file::{FileCore, NoteFields, note_fields};
use crate::origin::blame_one;
use crate::run::interruptible;
use crate::tensor::TensorCore;

/// Indices of matching tensors, and of those of either file without a counterpart.
type Paired = (Vec<(usize, usize)>, Vec<usize>, Vec<usize>);

/// The matching tensors of two files, and those without a counterpart.
#[pyfunction]
pub(crate) fn pair(a: &Bound<'_, FileCore>, b: &Bound<'_, FileCore>) -> PyResult<Paired> {
    let found = tenfold::pair(a.get().bundle(), b.get().bundle(), &[]);
    let found = found.map_err(|error| errors::of(a.py(), error))?;
    Ok((found.pairs, found.only_a, found.only_b))
}

/// The differences of two tensors.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    a: &Bound<'py, TensorCore>,
    b: &Bound<'py, TensorCore>,
    tolerance: (f64, f64, Option<u64>, bool),
    ignore_dtype: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let (relative, absolute, ulp, equal_nan) = tolerance;
    let (a, b) = (a.get(), b.get());
    let how = DiffOptions {
        tolerance: DiffTolerance {
            relative,
            absolute,
            ulp,
            equal_nan,
        },
        ignore_dtype,
        limits: a.home().limits.clone(),
    };
    let progress = &a.home().progress;
    progress.restart(0);
    let len = |core: &TensorCore| {
        core.tensor()
            .map_or(0, |t: &Tensor| t.storage().stored_len())
    };
    let work = || tenfold::compare(a.tensor()?, b.tensor()?, &how);
    let found = interruptible(py, len(a).saturating_add(len(b)), &[progress], None, work)?
        .map_err(|error| errors::of(py, blame_one([a, b], error)))?;
    let verdict = match found.verdict {
        Verdict::Identical => "identical",
        Verdict::Equal => "equal",
        Verdict::Near => "near",
        Verdict::Changed => "changed",
    };
    let fields = PyDict::new(py);
    fields.set_item("verdict", verdict)?;
    fields.set_item("dtype_differs", found.dtype_differs)?;
    fields.set_item("shape_differs", found.shape_differs)?;
    if let Some(measures) = &found.measures {
        fields.set_item("cells", measures.cells)?;
        fields.set_item("unequal", measures.unequal)?;
        fields.set_item("changed", measures.changed)?;
        fields.set_item("largest", measures.largest)?;
        fields.set_item("relative_norm", measures.relative_norm)?;
        fields.set_item("cosine", measures.cosine)?;
        let worst = measures.worst.as_ref();
        fields.set_item(
            "worst",
            worst.map(|worst| (worst.labels.clone(), worst.index.clone())),
        )?;
    }
    if let Some(blocks) = &found.blocks {
        fields.set_item("blocks", (blocks.shared, blocks.only_a, blocks.only_b))?;
    }
    Ok(fields)
}

/// Statistics of all values of a tensor, and a histogram with `n_bins` intervals.
#[pyfunction]
pub(crate) fn stats<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorCore>,
    n_bins: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let core = tensor.get();
    let progress = &core.home().progress;
    let work = || -> Result<_, Error> {
        let samples = Samples::of(core.tensor()?, &core.home().limits)?;
        let stats = samples.stats()?;
        let bins = match (&stats.finite, n_bins) {
            (Some(finite), 1..) => samples.histogram(finite, n_bins)?,
            _ => Vec::new(),
        };
        let first = stats.first_not_finite(core.tensor()?, &core.home().limits)?;
        Ok((stats, bins, first))
    };
    let len = core
        .tensor()
        .map_or(0, |tensor| tensor.storage().stored_len());
    progress.restart(len);
    let (stats, bins, first) =
        interruptible(py, len, &[progress], None, work)?.map_err(|error| core.fail(py, error))?;
    let fields = PyDict::new(py);
    fields.set_item("cells", stats.cells)?;
    fields.set_item("explicit", stats.explicit)?;
    fields.set_item("nan", stats.nan)?;
    fields.set_item("positive_infinite", stats.positive_infinite)?;
    fields.set_item("negative_infinite", stats.negative_infinite)?;
    fields.set_item("zeros", stats.zeros)?;
    fields.set_item("negative", stats.negative)?;
    fields.set_item("of_moduli", stats.of_moduli)?;
    let (faults, remarks): (Vec<Finding>, Vec<Finding>) =
        { stats.findings().into_iter() }.partition(|finding| finding.is_fault());
    let words = |all: Vec<Finding>| all.into_iter().map(Finding::as_str).collect::<Vec<_>>();
    fields.set_item("faults", words(faults))?;
    fields.set_item("remarks", words(remarks))?;
    let place = |place: Option<Place>| place.map(|place| (place.labels, place.index));
    fields.set_item("first_nan", place(first.nan))?;
    fields.set_item("first_inf", place(first.inf))?;
    if let Some(finite) = &stats.finite {
        let scalar =
            |scalar: &tenfold::Scalar| (scalar.number.as_str(), PyBytes::new(py, &scalar.bytes));
        fields.set_item("min", scalar(&finite.min))?;
        fields.set_item("max", scalar(&finite.max))?;
        fields.set_item("mean", finite.mean)?;
        fields.set_item("std", finite.std)?;
        fields.set_item("norm", finite.norm)?;
        let quantiles = PyDict::new(py);
        for (percent, quantile) in QUANTILES.iter().zip(finite.quantiles) {
            quantiles.set_item(percent, quantile)?;
        }
        fields.set_item("quantiles", quantiles)?;
        fields.set_item("histogram", bins)?;
    }
    Ok(fields)
}

/// The hash of the content of a file, and of each of its tensors.
#[pyfunction]
pub(crate) fn hashes(
    py: Python<'_>,
    file: &Bound<'_, FileCore>,
    sparse_as_dense: bool,
) -> PyResult<(String, Vec<String>)> {
    let file = file.get();
    let sparse = if sparse_as_dense {
        SparseHashing::Dense
    } else {
        SparseHashing::Cells
    };
    let (bundle, home, info) = (file.bundle(), file.home(), file.info());
    let len = bundle.stored_len();
    home.progress.restart(len);
    let work = || tensor_hashes(bundle, sparse, &home.limits);
    let hashes = interruptible(py, len, &[&home.progress], None, work)?
        .map_err(|error| errors::of(py, home.blame(error)))?;
    let names = bundle.entries().iter().map(|(key, _)| info.name_of(key));
    let named: Vec<_> = names.zip(hashes.iter().copied()).collect();
    let each = hashes.iter().map(ToString::to_string).collect();
    let of_file = file_hash(&named).map_err(|error| errors::of(py, error))?;
    Ok((of_file.to_string(), each))
}

/// Reads and verifies every value of a file; returns its notes. An irregularity that only lenient
/// reading tolerates is an error in strict reading.
#[pyfunction]
pub(crate) fn verify(
    py: Python<'_>,
    file: &Bound<'_, FileCore>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<NoteFields>> {
    let file = file.get();
    let (bundle, home, info) = (file.bundle(), file.home(), file.info());
    let len = bundle.stored_len();
    home.progress.restart(len);
    let work = || bundle.check(&home.limits);
    let notes = interruptible(py, len, &[&home.progress], progress, work)?
        .map_err(|error| errors::of(py, home.blame(error)))?;
    let fault = { notes.iter() }.find(|note| note.kind == NoteKind::Lenient);
    if let (Some(note), Mode::Strict) = (fault, file.mode()) {
        let (_, name, at, text, ..) = note_fields(py, info, note);
        let why = match name.filter(|name| !name.is_empty()) {
            Some(name) => format!("{name}: {text}"),
            None => text,
        };
        let fault = Error::Malformed {
            format: Some(info.name),
            at,
            why,
            hint: None,
        };
        return Err(errors::of(py, home.blame(fault)));
    }
    let all = bundle.notes().iter().chain(&notes);
    Ok(all.map(|note| note_fields(py, info, note)).collect())
}
