//! Named tensors and the metadata of a file. The last step of the ladder.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use crate::audit::Audit;
use crate::bytes::{Bytes, Identity, to_u64};
use crate::error::{Error, Result};
use crate::io::{Threads, alone, ordered_pipeline};
use crate::key::Key;
use crate::limits::Limits;
use crate::memory;
use crate::meta::Meta;
use crate::note::{Note, NoteKind};
use crate::tensor::{Storage, Tensor};

/// A class or a function that a pickle makes Python call or import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callable {
    /// Its name, qualified by its module.
    pub name: String,
    /// The offset of its first call, if it is known.
    pub at: Option<u64>,
    /// The number of calls.
    pub count: u64,
    /// Whether PyTorch accepts it with `weights_only`.
    pub is_allowed: bool,
}

/// The content of a tensor file.
#[derive(Debug, Clone, Default)]
pub struct Bundle {
    entries: Vec<(Key, Tensor)>,
    notes: Vec<Note>,
    /// The index of each name among the entries, set on the first lookup.
    places: OnceLock<HashMap<String, usize>>,
    /// The callables that loading the file in Python would call.
    callables: Vec<Callable>,
    /// The parts of the file outside its tensors, for checks.
    audit: Box<Audit>,
    /// The metadata of the file.
    pub meta: Meta,
    /// Hints for rewriting it in the same format to the same bytes; no part of its meaning.
    pub hints: Meta,
}

impl Bundle {
    /// An empty bundle.
    #[must_use]
    pub fn new() -> Bundle {
        Bundle::default()
    }

    /// The bundle of a single unnamed tensor.
    #[must_use]
    pub fn of(tensor: Tensor) -> Bundle {
        let mut bundle = Bundle::new();
        bundle.push(Key::root(), tensor);
        bundle
    }

    /// A fallible `clone`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], where `clone` would abort the process.
    pub fn try_clone(&self) -> Result<Bundle> {
        Ok(Bundle {
            entries: memory::copied(&self.entries)?,
            notes: memory::copied(&self.notes)?,
            places: OnceLock::new(),
            callables: memory::copied(&self.callables)?,
            audit: self.audit.clone(),
            meta: self.meta.clone(),
            hints: self.hints.clone(),
        })
    }

    /// Reserves room for more tensors, whose number must not be a mere claim.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn reserve(&mut self, count: usize) -> Result<()> {
        memory::reserve(&mut self.entries, count)
    }

    /// Adds a tensor; callers that add many [`reserve`](Bundle::reserve) first.
    pub fn push(&mut self, key: Key, tensor: Tensor) {
        self.entries.push((key, tensor));
        self.places.take();
    }

    /// Adds a tensor described by a file, and counts its memory; that of its metadata was counted
    /// on reading.
    pub(crate) fn add(&mut self, key: Key, tensor: Tensor, limits: &Limits) -> Result<()> {
        let names = key.path().iter().chain(&key.state);
        let names =
            names.map(|name| Limits::cost_of_items::<String>(1) + Limits::cost_of_text(name.len()));
        let entry = Limits::cost_of_items::<(Key, Tensor)>(1);
        limits.charge(
            entry
                .saturating_add(names.sum())
                .saturating_add(to_u64(tensor.weight())),
        )?;
        memory::reserve(&mut self.entries, 1)?;
        self.push(key, tensor);
        Ok(())
    }

    /// Keeps the tensors whose keys satisfy `keep`, and the notes about them and about the file.
    pub fn retain(&mut self, mut keep: impl FnMut(&Key) -> bool) {
        self.notes
            .retain(|note| note.key.as_ref().is_none_or(&mut keep));
        let before = self.entries.len();
        self.entries.retain(|(key, _)| keep(key));
        self.places.take();
        if self.entries.len() < before {
            self.drop_proofs("it may be of another tensor");
        }
    }

    /// Keeps the tensor at one index, and the notes about it and the file.
    pub fn keep(&mut self, place: usize) {
        if self.entries.len() > 1 {
            self.drop_proofs("it may be of another tensor");
        }
        self.entries = self.entries.drain(..).skip(place).take(1).collect();
        self.places.take();
        *self.audit = Audit::default();
        let kept = self.entries.first().map(|(key, _)| key);
        self.notes
            .retain(|note| note.key.is_none() || note.key.as_ref() == kept);
    }

    /// Keeps the tensor at one index, its statistics, and the notes about them and the file.
    pub fn keep_with_statistics(&mut self, place: usize) {
        let Some(key) = self.entries.get(place).map(|(key, _)| key.clone()) else {
            return;
        };
        if key.state.is_some() {
            return self.keep(place);
        }
        *self.audit = Audit::default();
        self.retain(|other| *other == key || other.state.is_some() && other.owner() == key);
    }

    /// Drops the proofs about a train if they may not apply to the tensor here, with a note of the
    /// reason `why`, whose text is returned.
    pub fn drop_proofs(&mut self, why: &str) -> Option<String> {
        let proofs = self.meta.proofs();
        if proofs.is_empty() {
            return None;
        }
        for name in &proofs {
            self.meta.remove(name);
        }
        let names = proofs.join(", ");
        let text = format!("what was proven of a train is dropped, as {why}: {names}");
        self.notes.push(Note::new(NoteKind::LeftOut, &text));
        Some(text)
    }

    /// Renames every tensor, and the notes about it, by `name`.
    pub fn rename(&mut self, mut name: impl FnMut(&Key) -> Key) {
        let keys = self.entries.iter_mut().map(|(key, _)| key);
        let noted = self.notes.iter_mut().filter_map(|note| note.key.as_mut());
        keys.chain(noted).for_each(|key| *key = name(key));
        self.places.take();
    }

    /// Adds the tensors of another bundle, and the notes about it, without its metadata.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn append(&mut self, other: Bundle) -> Result<()> {
        memory::reserve(&mut self.entries, other.entries.len())?;
        self.entries.extend(other.entries);
        memory::reserve(&mut self.notes, other.notes.len())?;
        self.notes.extend(other.notes);
        self.callables.extend(other.callables);
        self.audit.append(*other.audit);
        self.places.take();
        Ok(())
    }

    /// Adds callables that loading the file in Python would call.
    pub(crate) fn push_callables(&mut self, callables: Vec<Callable>) {
        self.callables.extend(callables);
    }

    /// The callables that loading the file in Python would call, for files that are pickles. They
    /// are never called here.
    #[must_use]
    pub fn callables(&self) -> &[Callable] {
        &self.callables
    }

    /// The checks that [`Bundle::check`] makes besides those of the tensors.
    pub(crate) fn audit(&mut self) -> &mut Audit {
        &mut self.audit
    }

    /// Adds a note.
    pub(crate) fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Names the file of this bundle in its notes, and in those of a check.
    pub(crate) fn name_file(&mut self, name: &str) {
        for note in &mut self.notes {
            *note = note.clone().in_file(Some(name));
        }
        self.audit.name_file(name);
    }

    /// All tensors, in file order.
    #[must_use]
    pub fn entries(&self) -> &[(Key, Tensor)] {
        &self.entries
    }

    /// All tensors, in file order, mutable.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (&Key, &mut Tensor)> {
        self.entries.iter_mut().map(|(key, tensor)| (&*key, tensor))
    }

    /// The notes of the reader.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The tensor named `name`: first as a flat name, then as a path as [`Key`] displays it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        let (_, tensor) = self.entries.get(self.place(name)?)?;
        Some(tensor)
    }

    /// The index of the tensor named `name` among the entries; the first, if there are several.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<usize> {
        let places = self.places.get_or_init(|| {
            let keys = || self.entries.iter().map(|(key, _)| key).enumerate();
            let raw = keys().filter_map(|(place, key)| Some((key.flat_name()?.to_owned(), place)));
            let shown = keys().map(|(place, key)| (key.to_string(), place));
            let mut places = HashMap::new();
            for (name, place) in raw.chain(shown) {
                places.entry(name).or_insert(place);
            }
            places
        });
        places.get(name).copied()
    }

    /// The only tensor.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none, or more than one.
    pub fn only(&self) -> Result<&Tensor> {
        match self.entries.as_slice() {
            [(_, tensor)] => Ok(tensor),
            entries => Err(Error::invalid(format!(
                "{} tensors where one is wanted",
                entries.len()
            ))),
        }
    }

    /// The stored length of all tensors in bytes.
    #[must_use]
    pub fn stored_len(&self) -> u64 {
        let tensors = self.entries.iter();
        let lens = tensors.map(|(_, tensor)| tensor.storage().stored_len());
        lens.fold(0, u64::saturating_add)
    }

    /// Reads and checks the values of all tensors, and the other checksums of the file; returns
    /// notes on violations that a lenient reader accepts, and on bytes that belong to nothing.
    ///
    /// # Errors
    /// [`Error::Malformed`] at the first fault.
    pub fn check(&self, limits: &Limits) -> Result<Vec<Note>> {
        let mut notes = self.audit.check()?;
        let once = self.parts_once()?;
        let is_known = |bytes: &Bytes| {
            let first = bytes.identity().and_then(|identity| once.get(&identity));
            first.is_some_and(|first| !std::ptr::eq(*first, bytes))
        };
        /// More threads would need more memory than they are worth.
        const AT_ONCE: usize = 4;
        let all = self.stored_len();
        let len = usize::try_from(all).unwrap_or(usize::MAX);
        let mut rest = self.entries.as_slice();
        ordered_pipeline(
            Threads::Cores.for_len(len).min(AT_ONCE),
            |some: &mut Checked| {
                (some.entries, rest) = rest.split_at(enough(rest));
                Ok(!some.entries.is_empty())
            },
            |some| {
                for (key, tensor) in some.entries {
                    // The other threads would wait for a tensor that is most of the file.
                    let is_most = tensor.storage().stored_len() > all / 2;
                    let found = if is_most {
                        tensor.check_unless(limits, &is_known)?
                    } else {
                        alone(|| tensor.check_unless(limits, &is_known))?
                    };
                    let found = found.into_iter();
                    some.notes.extend(found.map(|note| note.on(key)));
                }
                Ok(())
            },
            |some| {
                notes.append(&mut some.notes);
                Ok(())
            },
        )?;
        Ok(notes)
    }

    /// For bytes shared by several tensors, which are checked once, those of the first.
    fn parts_once(&self) -> Result<HashMap<Identity<'_>, &Bytes>> {
        let mut once = HashMap::new();
        let storages = self.entries.iter().map(|(_, tensor)| tensor.storage());
        for part in storages.flat_map(Storage::parts) {
            if let Some(identity) = part.bytes.identity() {
                memory::reserve_map(&mut once, 1)?;
                once.entry(identity).or_insert(&part.bytes);
            }
        }
        Ok(once)
    }

    /// Counts [`Limits::work`](crate::Limits::work) separately for each job, if a file stays open
    /// for any number of them: see [`Limits::begin_job`](crate::Limits::begin_job).
    pub fn count_each_job(&self) {
        let tensors = self.entries.iter().map(|(_, tensor)| tensor);
        tensors.for_each(Tensor::count_each_job);
    }

    /// Notes every tensor with the name of an earlier one.
    pub(crate) fn note_duplicates(&mut self) -> Result<()> {
        let text = "the name is used again; looking it up finds the first";
        let note = |key| Note::new(NoteKind::DuplicateName, text).on(key);
        let mut names = HashSet::new();
        for (key, _) in &self.entries {
            if !memory::insert(&mut names, key)? {
                memory::push(&mut self.notes, note(key))?;
            }
        }
        Ok(())
    }
}

/// Some tensors checked by one thread, and the result.
#[derive(Default)]
struct Checked<'a> {
    entries: &'a [(Key, Tensor)],
    notes: Vec<Note>,
}

/// The number of tensors from which another thread pays off.
fn enough(entries: &[(Key, Tensor)]) -> usize {
    const BYTES: u64 = 1 << 20;
    const TENSORS: usize = 256;
    let mut len = 0_u64;
    let few = entries.iter().take(TENSORS);
    let before = few.take_while(|(_, tensor)| {
        let is_due = len < BYTES;
        len = len.saturating_add(tensor.storage().stored_len());
        is_due
    });
    before.count()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::bytes::Filter;
    use crate::dtype::Numbers;
    use crate::io::{Compute, Source};
    use crate::tensor::{Dim, Order, Storage};

    fn bundle(keys: &[Key]) -> Bundle {
        let mut bundle = Bundle::new();
        for (number, key) in (0_u8..).zip(keys) {
            let storage = Storage::Dense {
                order: Order::Row,
                values: Numbers::from_vec(&[number]),
            };
            let tensor = Tensor::new(vec![], "u8".parse().unwrap(), vec![], storage);
            bundle.push(key.clone(), tensor.unwrap());
        }
        bundle
    }

    #[test]
    fn a_raw_name_is_found_before_a_path() {
        let path = Key::tree(vec!["a".into(), "b".into()]);
        let bundle = bundle(&[path, Key::flat("a/b"), Key::flat("a/b")]);
        assert_eq!(bundle.place("a/b"), Some(1));
        assert_eq!(bundle.place(r"a\/b"), Some(1));
        assert_eq!(bundle.place("a"), None);
    }

    /// Bytes that count how often they are read.
    struct Read(Vec<u8>, Arc<AtomicUsize>);

    impl Compute for Read {
        fn len(&self) -> u64 {
            to_u64(self.0.len())
        }

        fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
            self.1.fetch_add(buffer.len(), Relaxed);
            let at = usize::try_from(at).unwrap();
            buffer.copy_from_slice(&self.0[at..at + buffer.len()]);
            Ok(())
        }

        fn depth(&self) -> u32 {
            0
        }
    }

    fn sharing(stored: Vec<u8>, decoded: u64) -> (Bundle, Arc<AtomicUsize>) {
        let read = Arc::new(AtomicUsize::new(0));
        let source = Source::computed(Read(stored, read.clone()));
        let bytes = Bytes::whole(source).filtered(Filter::Zstd { decoded });
        let mut bundle = Bundle::new();
        for number in 0..4000 {
            let storage = Storage::Dense {
                order: Order::Row,
                values: Numbers {
                    bytes: bytes.clone(),
                    ..Numbers::from_vec(&[0_u8])
                },
            };
            let dims = vec![Dim::indexed(decoded)];
            let tensor = Tensor::new(dims, "u8".parse().unwrap(), vec![], storage);
            bundle.push(Key::flat(number.to_string()), tensor.unwrap());
        }
        (bundle, read)
    }

    #[test]
    fn bytes_that_many_tensors_share_are_decoded_once() {
        let stored = zstd::encode_all([7; 100_000].as_slice(), 3).unwrap();
        let len = stored.len();
        let (bundle, read) = sharing(stored.clone(), 100_000);
        bundle.check(&Limits::default()).unwrap();
        // Plus a lookup of a seek table at the end.
        assert!((len..2 * len).contains(&read.load(Relaxed)));
        // Faults in them are found all the same.
        let (bundle, _) = sharing(stored, 100_001);
        assert!(bundle.check(&Limits::default()).is_err());
    }

    #[test]
    fn decoding_shared_bytes_again_and_again_is_work() {
        let stored = zstd::encode_all([7; 100_000].as_slice(), 3).unwrap();
        let (mut bundle, _) = sharing(stored, 100_000);
        let mut limits = Limits::default();
        limits.set("work", 1_000_000).unwrap();
        let (meter, mut decoded) = (limits.for_file(0).meter(), HashSet::new());
        let tensors = bundle.entries_mut();
        tensors.for_each(|(_, tensor)| tensor.count_work(&meter, false, &mut decoded));
        let sums = bundle.entries().iter().map(|(_, tensor)| {
            let dense = tensor.dense(Order::Row, &limits)?;
            dense.bytes.to_vec().map(|_| ())
        });
        let refused: Vec<Result<()>> = sums.take(12).collect();
        assert!(refused[..11].iter().all(Result::is_ok), "{refused:?}");
        let error = refused[11].as_ref().unwrap_err().to_string();
        assert!(error.contains("--max-work"), "{error}");
    }

    #[test]
    fn names_are_looked_up_as_they_are_now() {
        let mut bundle = bundle(&[Key::flat("a"), Key::flat("b")]);
        assert_eq!(bundle.place("b"), Some(1));
        bundle.rename(|key| Key::flat(format!("{key}2")));
        assert_eq!((bundle.place("b"), bundle.place("b2")), (None, Some(1)));
        bundle.keep(1);
        assert_eq!(bundle.get("b2").unwrap().to_vec::<u8>().unwrap(), [1]);
        assert_eq!((bundle.entries().len(), bundle.place("a2")), (1, None));
    }
}
