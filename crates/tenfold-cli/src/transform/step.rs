//! The steps for one tensor, in the order in which `--help` lists the flags.

use tenfold::ops::{CastRule, cast_tensor, matches};
use tenfold::{
    Allow, Arity, Aspect, Density, Error, Key, Kind, Limits, Loss, Number, Refusal, Result,
    Storage, Symmetry, Tensor, Tier, Tolerance, percent_text,
};

use super::labels::{KeyValues, Lists, Wanted};
use crate::commands::{PerTensor, Transform};
use crate::render::bytes_text;
use crate::terminal::{counted, dense_len, plain, rough};

pub(super) struct Step<'a> {
    pub(super) key: &'a Key,
    pub(super) name: &'a str,
    pub(super) transform: &'a Transform,
    pub(super) lists: &'a Lists,
    /// What `--cast` says.
    pub(super) casts: &'a [CastRule],
    pub(super) allow: &'a Allow,
    pub(super) may_drop_labels: bool,
    pub(super) may_replace: bool,
    pub(super) limits: &'a Limits,
    /// The dimensions of this tensor named by `--labels`.
    pub(super) found: Vec<String>,
    /// The lists requested by `--labels-out`.
    pub(super) wanted: &'a mut Wanted,
    /// Notes for the user.
    pub(super) said: Vec<String>,
}

impl<'a> Step<'a> {
    pub(super) fn apply(&mut self, tensor: &Tensor) -> Result<Tensor> {
        let applied = self.applied(tensor)?;
        // `--dense` reports this itself.
        let is_train = |tensor: &Tensor| matches!(tensor.storage(), Storage::Train { .. });
        let is_asked = self.is_meant(self.transform.dense.as_deref());
        if is_train(tensor) && !is_train(&applied) && !is_asked {
            let len = bytes_text(dense_len(tensor));
            self.said
                .push(format!("train: a tensor train is expanded to {len}"));
        }
        Ok(applied)
    }

    fn applied(&mut self, tensor: &Tensor) -> Result<Tensor> {
        let flags = self.transform;
        let had_labels = tensor.n_mapped() > 0;
        let mut tensor = self.in_dense(tensor.clone())?;
        if self.is_meant(flags.unpack.as_deref()) {
            tensor = tensor.unpacked(self.limits)?;
        }
        if let Some(sizes) = self.last(&flags.reshape) {
            demand_positions(&tensor, "a reshaped tensor")?;
            if flags.complex.is_some() && counts_components(&tensor, sizes) {
                let dtype = tensor.dtype();
                tensor = tensor.split_components(self.limits)?;
                let (real, count) = (tensor.dtype(), dtype.arity.count());
                let line = format!("{dtype} becomes {real} with a last dimension of {count}");
                self.said.push(line);
            }
            tensor = tensor.reshape(sizes, self.limits)?;
        }
        if let Some(order) = self.last(&flags.permute) {
            tensor = tensor.permute(&tensor.axes(order)?, self.limits)?;
        }
        if let Some(names) = self.last(&flags.dims) {
            tensor = tensor.with_dim_names(names)?;
        }
        // The label list of a labeled tensor has determined the positions.
        if !had_labels {
            tensor = self.labelled(tensor)?;
        }
        if let Some(part) = self.last(&flags.part) {
            tensor = tensor.part(*part, self.limits)?;
        }
        tensor = self.symmetrized(self.cast_first(tensor)?)?;
        if self.is_meant(flags.detect_symmetry.as_deref()) {
            tensor = self.detected(&tensor)?;
        }
        if self.is_meant(flags.sparse.as_deref()) {
            tensor = self.in_sparse(&tensor)?;
        }
        self.packed(tensor)
    }

    /// `--dense`, and other flags that turn labels into positions.
    fn in_dense(&mut self, tensor: Tensor) -> Result<Tensor> {
        let is_asked = self.is_meant(self.transform.dense.as_deref());
        let text = self.last(&self.transform.fill);
        let fill = match text {
            Some(text) => tensor.dtype().parse_element(text)?,
            None => vec![0; tensor.dtype().width()],
        };
        if text.is_some() && !is_asked {
            let is_sparse = self.is_meant(self.transform.sparse.as_deref());
            let why = match is_sparse {
                true if fill.iter().all(|byte| *byte == 0) => None,
                true => Some("no format can say that absent cells are anything but 0"),
                false => Some("--fill goes with --dense"),
            };
            if let Some(why) = why {
                return Err(Error::Invalid(why.into()));
            }
        }
        if tensor.n_mapped() > 0 {
            return self.placed(tensor, &fill, is_asked);
        }
        if !is_asked || tensor.storage().as_str() == "dense" {
            return Ok(tensor);
        }
        let stored = tensor.stored();
        let dense = tensor.to_dense(&fill, self.limits)?;
        let len = dense.storage().stored_len();
        let cells = counted(stored, "stored cell");
        self.said
            .push(format!("dense: {cells} become {}", bytes_text(len)));
        Ok(dense)
    }

    fn placed(&mut self, tensor: Tensor, fill: &[u8], is_asked: bool) -> Result<Tensor> {
        let (_, order) = self.lists_for(&tensor);
        let wanted = self.transform.labels_out.iter();
        let wanted = wanted.filter_map(|(dim, path)| Some((tensor.axis(dim)?, path)));
        let wanted: Vec<_> = wanted.collect();
        if !is_asked && order.is_empty() && wanted.is_empty() {
            return Ok(tensor);
        }
        let placed = tensor.placed_among(&order, fill, self.limits)?;
        let sizes: Vec<String> = placed.sizes.iter().map(u64::to_string).collect();
        let absent = placed.absent;
        let detail = format!(
            "labels become positions ({}), absent blocks are filled ({absent})",
            sizes.join(" × ")
        );
        if !self.may_drop_labels {
            let loss = Loss {
                key: Some(self.key.clone()),
                aspect: Aspect::Labels,
                detail,
                tier: Tier::Refused,
            };
            let format = "a dense tensor";
            let losses = vec![loss];
            return Err(Refusal { format, losses }.into());
        }
        self.said.push(format!("labels: {detail}"));
        for (axis, path) in wanted {
            let mapped = tensor.dims().iter().take(axis);
            let mapped = mapped.filter(|dim| dim.indexed_size().is_none()).count();
            if let Some(list) = placed.labels.get(mapped) {
                self.wanted.add(path, list.clone(), self.may_replace)?;
            }
        }
        Ok(placed.tensor)
    }

    /// `--labels` of indexed dimensions.
    fn labelled(&mut self, tensor: Tensor) -> Result<Tensor> {
        let (given, _) = self.lists_for(&tensor);
        if given.is_empty() {
            return Ok(tensor);
        }
        let mut tensor = tensor;
        if tensor.dims().iter().all(|dim| dim.name.is_none()) {
            let letters = ('a'..='z').map(|letter| Some(letter.to_string()));
            let letters: Vec<_> = letters.take(tensor.dims().len()).collect();
            tensor = tensor.with_dim_names(&letters)?;
        }
        tensor.with_labels(&given, self.limits)
    }

    fn lists_for(&mut self, tensor: &Tensor) -> (KeyValues<'a>, KeyValues<'a>) {
        let words = &self.transform.labels;
        let dims = words.iter().map(|(dim, _)| dim);
        let own = dims.filter(|dim| tensor.axis(dim).is_some());
        self.found.extend(own.cloned());
        let lists: &'a Lists = self.lists;
        lists.of(tensor, words)
    }

    /// `--cast`, where symmetries are asked for that may need negative numbers, or means, and only the type that is
    /// asked for has them.
    fn cast_first(&self, tensor: Tensor) -> Result<Tensor> {
        let symmetries = [&self.transform.symmetrize, &self.transform.pack];
        let mut symmetries = symmetries.into_iter().flatten();
        let is_meant = |rule: &&CastRule| self.is_meant(Some(rule.glob.as_deref().unwrap_or("*")));
        match self.casts.iter().rfind(is_meant) {
            Some(rule)
                if symmetries.any(|meant| self.is_meant_by(meant))
                    && has_more(rule.number, tensor.dtype().number) =>
            {
                let round = self.transform.round.into();
                cast_tensor(&tensor, rule.number, round, self.allow, self.limits)
            }
            _ => Ok(tensor),
        }
    }

    /// `--symmetrize`.
    fn symmetrized(&mut self, tensor: Tensor) -> Result<Tensor> {
        let symmetries = self.symmetries(&tensor, &self.transform.symmetrize)?;
        if symmetries.is_empty() {
            return Ok(tensor);
        }
        demand_positions(&tensor, "a symmetry")?;
        let (tensor, most) = tensor.symmetrized(&symmetries, self.limits)?;
        self.said.push(format!(
            "symmetrize: values change by {} at most",
            rough(most)
        ));
        Ok(tensor)
    }

    /// `--detect-symmetry`.
    fn detected(&mut self, tensor: &Tensor) -> Result<Tensor> {
        demand_positions(tensor, "a symmetry")?;
        let found = tensor.detect_symmetries(self.tolerance(), self.limits)?;
        for symmetry in &found {
            let text = tensor.symmetry_text(symmetry);
            self.said.push(format!("symmetry {} found", plain(&text)));
        }
        if found.is_empty() {
            self.said.push("no symmetry found".into());
        }
        tensor.with_declared_symmetries(&found)
    }

    /// `--symmetry-tol`.
    fn tolerance(&self) -> Tolerance {
        let share = self.transform.symmetry_tol;
        share.map_or(Tolerance::Exact, Tolerance::Within)
    }

    /// `--sparse`.
    fn in_sparse(&mut self, tensor: &Tensor) -> Result<Tensor> {
        demand_positions(tensor, "a list of cells")?;
        let density = tensor.density(self.limits)?;
        let text = match tensor.storage() {
            Storage::Sparse { .. } => {
                let zeros = tensor.stored().saturating_sub(density.nonzero);
                let cells = counted(tensor.stored(), "stored cell");
                format!("sparse: it is already, {cells}, {zeros} of them zero")
            }
            _ => density_text(&density),
        };
        self.said.push(text);
        tensor.to_sparse(self.limits)
    }

    /// `--pack`.
    fn packed(&mut self, tensor: Tensor) -> Result<Tensor> {
        let symmetries = self.symmetries(&tensor, &self.transform.pack)?;
        if symmetries.is_empty() {
            return Ok(tensor);
        }
        demand_positions(&tensor, "a symmetry")?;
        let share = self.transform.symmetry_tol;
        let tolerance = tensor.packing_tolerance(&symmetries, share);
        let packing = tensor.pack(&symmetries, tolerance, self.limits)?;
        if share.is_some() || packing.changed > 0 {
            self.said.push(format!("pack: {}", packing.changes()));
        }
        Ok(packing.tensor)
    }

    /// The symmetries given by the arguments for this tensor.
    fn symmetries(&self, tensor: &Tensor, words: &[PerTensor<String>]) -> Result<Vec<Symmetry>> {
        let words = words.iter().filter(|meant| self.is_meant_by(meant));
        words.map(|meant| tensor.symmetry(&meant.what)).collect()
    }

    /// Whether a flag that can have a glob applies to this tensor.
    fn is_meant(&self, glob: Option<&str>) -> bool {
        glob.is_some_and(|glob| matches(glob, self.name))
    }

    fn is_meant_by<T>(&self, meant: &PerTensor<T>) -> bool {
        let glob = meant.glob.as_deref();
        glob.is_none_or(|glob| matches(glob, self.name))
    }

    /// The last argument for this tensor.
    fn last<'b, T>(&self, words: &'b [PerTensor<T>]) -> Option<&'b T> {
        let meant = words.iter().rfind(|meant| self.is_meant_by(meant));
        meant.map(|meant| &meant.what)
    }
}

/// Whether a number type has negatives or fractions, and another has not.
fn has_more(number: Number, other: Number) -> bool {
    match other.kind() {
        Kind::Bool | Kind::Unsigned => matches!(number.kind(), Kind::Signed | Kind::Float),
        Kind::Signed => number.kind() == Kind::Float,
        Kind::Float => false,
    }
}

/// Fails if there are labels, which the result cannot hold.
fn demand_positions(tensor: &Tensor, what: &str) -> Result<()> {
    if tensor.n_mapped() == 0 {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "labels have no place in {what}; --dense --allow labels makes positions of them first"
    )))
}

/// Whether sizes count the components of a tensor rather than its cells.
fn counts_components(tensor: &Tensor, sizes: &[Option<u64>]) -> bool {
    let arity = tensor.dtype().arity;
    let all = sizes.iter().try_fold(1_u128, |all, size| {
        size.and_then(|size| all.checked_mul(size.into()))
    });
    let count = u128::try_from(arity.count()).unwrap_or(1);
    let components = tensor.cells().and_then(|cells| cells.checked_mul(count));
    arity != Arity::Real && all.is_some() && all == components && all != tensor.cells()
}

/// Such as `sparse: 3 of 24 cells are not zero (12.5 %), 48 B instead of 192 B`.
fn density_text(density: &Density) -> String {
    let Density {
        cells,
        nonzero,
        dense_len,
        sparse_len,
    } = *density;
    let narrow = |len: u128| bytes_text(u64::try_from(len).unwrap_or(u64::MAX));
    format!(
        "sparse: {nonzero} of {cells} cells are not zero ({}), {} instead of {}",
        percent_text(nonzero, cells, 1),
        narrow(sparse_len),
        narrow(dense_len)
    )
}
