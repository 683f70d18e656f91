//! References to tensors and parts of them: `FILE:KEY[0:3, ::2, -1]`.

use std::path::{Path, PathBuf};

use super::select::nearest;
use super::shards::is_glob;
use crate::bundle::Bundle;
use crate::error::{Error, Result};
use crate::format::Info;
use crate::io::presence;
use crate::limits::Limits;
use crate::tensor::IndexExpr;

/// The name of standard input.
const DASH: &str = "-";

/// A file, one of its tensors, or a slice of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorRef {
    /// The file.
    pub file: PathBuf,
    tensor: Option<Named>,
    slice: Option<String>,
}

/// The reference to a tensor within its file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Named {
    /// After a colon or as a flag: its name, with an optional slice in brackets.
    Key(String),
    /// As a separate word, which may be a slice if there is only one tensor.
    Word(String),
}

impl TensorRef {
    /// Splits a word into the file and the rest: the whole word if there is such a file, else the
    /// text before the first colon, or else before the first bracket, if that names a file.
    ///
    /// # Errors
    /// [`Error::Io`] if the lookup of files fails.
    pub fn find(word: &Path) -> Result<TensorRef> {
        let is_file = |path: &Path| {
            let is_there = path == Path::new(DASH) || presence::metadata(path)?.is_some();
            Ok(is_there || is_glob(path)?)
        };
        match word.to_str() {
            Some(text) => TensorRef::split(text, &is_file),
            None => Ok(TensorRef::whole(word)),
        }
    }

    /// A reference to a whole file.
    #[must_use]
    pub fn whole(file: &Path) -> TensorRef {
        TensorRef {
            file: file.into(),
            tensor: None,
            slice: None,
        }
    }

    fn split(text: &str, is_file: &dyn Fn(&Path) -> Result<bool>) -> Result<TensorRef> {
        let whole = TensorRef::whole(Path::new(text));
        if is_file(&whole.file)? {
            return Ok(whole);
        }
        let before = |mark: char| {
            for (at, _) in text.match_indices(mark) {
                let (file, rest) = text.split_at(at);
                if is_file(Path::new(file))? {
                    return Ok::<_, Error>(Some((file, rest)));
                }
            }
            Ok(None)
        };
        if let Some((file, rest)) = before(':')? {
            let key = rest.strip_prefix(':').unwrap_or(rest);
            return Ok(TensorRef {
                file: file.into(),
                tensor: Some(Named::Key(key.into())),
                slice: None,
            });
        }
        let slice = if text.ends_with(']') {
            before('[')?
        } else {
            None
        };
        Ok(match slice {
            Some((file, slice)) => TensorRef {
                file: file.into(),
                tensor: None,
                slice: Some(slice.into()),
            },
            None => whole,
        })
    }

    /// Whether it refers to the whole file.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.tensor.is_none() && self.slice.is_none()
    }

    /// Adds the name of a tensor and a slice of it.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the reference has one already.
    pub fn with(self, tensor: Option<&str>, slice: Option<&str>) -> Result<TensorRef> {
        self.and(tensor.map(|key| Named::Key(key.into())), slice)
    }

    /// Adds words after the file: the name of a tensor and a slice, or a slice alone if there is
    /// one tensor.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the reference has them already.
    pub fn with_words(self, key: Option<&str>, slice: Option<&str>) -> Result<TensorRef> {
        match (&self.tensor, slice) {
            // If the tensor is named already, the next word is a slice of it.
            (Some(_), None) => self.and(None, key),
            _ => self.and(key.map(|key| Named::Word(key.into())), slice),
        }
    }

    fn and(mut self, tensor: Option<Named>, slice: Option<&str>) -> Result<TensorRef> {
        if self.tensor.is_some() && tensor.is_some() || self.slice.is_some() && slice.is_some() {
            return Err(Error::invalid("a tensor or a slice is named twice"));
        }
        self.tensor = self.tensor.or(tensor);
        self.slice = self.slice.or(slice.map(str::to_owned));
        Ok(self)
    }

    /// Narrows the content of the file to the tensor and the slice.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such tensor, with the most similar names.
    pub fn narrow(&self, bundle: &mut Bundle, info: &Info, limits: &Limits) -> Result<()> {
        let Some((place, slice)) = self.place(bundle, info)? else {
            return Ok(());
        };
        let picks = slice.map(IndexExpr::list).transpose()?;
        bundle.keep(place);
        let Some(picks) = picks else {
            return Ok(());
        };
        for (_, tensor) in bundle.entries_mut() {
            *tensor = tensor.sliced(&picks, limits)?;
            tensor.meta.remove_proven_error();
        }
        bundle.drop_proofs("it is of the whole tensor");
        Ok(())
    }

    /// [`TensorRef::narrow`], where a whole tensor keeps its statistics.
    ///
    /// # Errors
    /// As [`TensorRef::narrow`].
    pub fn narrow_with_statistics(
        &self,
        bundle: &mut Bundle,
        info: &Info,
        limits: &Limits,
    ) -> Result<()> {
        match self.place(bundle, info)? {
            Some((place, None)) => {
                bundle.keep_with_statistics(place);
                Ok(())
            }
            _ => self.narrow(bundle, info, limits),
        }
    }

    /// The index of the tensor among the entries, and the slice of it; `None` for the whole file.
    fn place(&self, bundle: &Bundle, info: &Info) -> Result<Option<(usize, Option<&str>)>> {
        let found = match (&self.tensor, self.slice.as_deref()) {
            (None, None) => return Ok(None),
            (None, slice) => (lone(bundle, info)?, slice),
            (Some(named), slice) => {
                let (Named::Key(text) | Named::Word(text)) = named;
                match (looked_up(bundle, text), slice) {
                    (Some((place, None)), slice) => (place, slice),
                    (Some((place, slice)), None) => (place, slice),
                    (Some(_), Some(_)) => return Err(Error::invalid("a slice is given twice")),
                    (None, None) if is_slice(bundle, named) => (0, Some(text.as_str())),
                    (None, _) => return Err(unknown(bundle, info, text)),
                }
            }
        };
        Ok(Some(found))
    }
}

/// The index of the tensor that `text` names, and the slice that follows the name. A name may
/// contain brackets: all of the text is tried first, then the part before the last bracket, and so
/// on.
fn looked_up<'a>(bundle: &Bundle, text: &'a str) -> Option<(usize, Option<&'a str>)> {
    if let Some(place) = bundle.place(text) {
        return Some((place, None));
    }
    let mut brackets = text.rmatch_indices('[').filter(|_| text.ends_with(']'));
    brackets.find_map(|(at, _)| {
        let (name, slice) = text.split_at_checked(at)?;
        Some((bundle.place(name)?, Some(slice)))
    })
}

/// Whether a word is a slice of the only tensor.
fn is_slice(bundle: &Bundle, named: &Named) -> bool {
    match named {
        Named::Word(text) => bundle.entries().len() == 1 && IndexExpr::list(text).is_ok(),
        Named::Key(_) => false,
    }
}

/// The index of the only tensor.
fn lone(bundle: &Bundle, info: &Info) -> Result<usize> {
    match bundle.entries().len() {
        1 => Ok(0),
        0 => Err(Error::invalid("there is no tensor to take a slice of")),
        count => {
            let names = nearest("", &info.names_of(bundle)?);
            Err(Error::invalid(format!(
                "a slice is of one tensor, and there are {count}: name one, as in FILE:KEY[0:3], \
                 of {names}"
            )))
        }
    }
}

fn unknown(bundle: &Bundle, info: &Info, text: &str) -> Error {
    let name = match text.rsplit_once('[').filter(|_| text.ends_with(']')) {
        Some((name, _)) => name,
        None => text,
    };
    let why = match bundle.entries() {
        [] => "there are none".into(),
        [(key, _)] if key.is_empty() => "the file is its one tensor, without a name".into(),
        _ => {
            let names = match info.names_of(bundle) {
                Ok(names) => nearest(name, &names),
                Err(error) => return error,
            };
            format!("there are {names}")
        }
    };
    Error::invalid(format!("no tensor is called {name:?}; {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Numbers;
    use crate::format::Format;
    use crate::formats::safetensors::Safetensors;
    use crate::key::Key;
    use crate::tensor::{Dim, Order, Storage, Tensor};

    fn matrix() -> Tensor {
        let storage = Storage::Dense {
            order: Order::Row,
            values: Numbers::from_vec(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]),
        };
        let dims = vec![Dim::indexed(2), Dim::indexed(3)];
        Tensor::new(dims, "f32".parse().unwrap(), vec![], storage).unwrap()
    }

    fn split(text: &str, files: &[&str]) -> TensorRef {
        let is_file = |path: &Path| Ok(files.iter().any(|file| path == Path::new(file)));
        TensorRef::split(text, &is_file).unwrap()
    }

    fn key(file: &str, key: &str) -> TensorRef {
        TensorRef {
            tensor: Some(Named::Key(key.into())),
            ..TensorRef::whole(Path::new(file))
        }
    }

    #[test]
    fn a_file_with_the_whole_text_wins() {
        let files = ["a:b[0]", "a", "a:b"];
        assert_eq!(
            split("a:b[0]", &files),
            TensorRef::whole(Path::new("a:b[0]"))
        );
    }

    #[test]
    fn the_first_colon_after_a_file_parts_it_from_the_key() {
        assert_eq!(split("a:b:c", &["a", "a:b"]), key("a", "b:c"));
        assert_eq!(split("a:b:c", &["a:b"]), key("a:b", "c"));
        assert_eq!(
            split("c:/x.zt:w[0:3]", &["c:/x.zt"]),
            key("c:/x.zt", "w[0:3]")
        );
        assert_eq!(split("a[0]:w", &["a", "a[0]"]), key("a[0]", "w"));
    }

    #[test]
    fn a_bracket_after_a_file_begins_a_slice() {
        let reference = split("a.npy[0:3]", &["a.npy"]);
        assert_eq!(reference.file, Path::new("a.npy"));
        assert_eq!(reference.slice.as_deref(), Some("[0:3]"));
        for gone in ["b.npy[0:3]", "a.npy[0", "b:w"] {
            assert_eq!(split(gone, &["a.npy"]), TensorRef::whole(Path::new(gone)));
        }
    }

    fn narrowed(names: &[&str], reference: &TensorRef) -> Result<(String, Vec<u64>), String> {
        let mut bundle = Bundle::new();
        for name in names {
            bundle.push(Key::parse(name), matrix());
        }
        reference
            .narrow(&mut bundle, Safetensors.info(), &Limits::default())
            .map_err(|error| error.to_string())?;
        let [(key, tensor)] = bundle.entries() else {
            return Err("not one".into());
        };
        Ok((key.to_string(), tensor.sizes().unwrap()))
    }

    #[test]
    fn brackets_may_belong_to_the_name() {
        let whole = matrix().sizes().unwrap();
        let names = ["w", "w[0]", "w[0][1]:2"];
        let found = |text| narrowed(&names, &key("f", text)).unwrap();
        assert_eq!(found("w[0]"), ("w[0]".into(), whole.clone()));
        assert_eq!(found("w[0][1]:2"), ("w[0][1]:2".into(), whole.clone()));
        assert_eq!(found("w[0][0]"), ("w[0]".into(), whole[1..].to_vec()));
        assert_eq!(found("w[1]"), ("w".into(), whole[1..].to_vec()));
    }

    #[test]
    fn a_word_is_a_slice_where_there_is_one_tensor() {
        let reference = TensorRef::whole(Path::new("f"))
            .with_words(Some("0:1"), None)
            .unwrap();
        let (_, sizes) = narrowed(&["w"], &reference).unwrap();
        assert_eq!(sizes[0], 1);
        assert_eq!(
            narrowed(&["enc.w", "dec.v"], &reference).unwrap_err(),
            "no tensor is called \"0:1\"; there are \"enc.w\", \"dec.v\""
        );
    }

    #[test]
    fn what_is_not_there_is_said() {
        let names = ["enc.weight", "dec.weight", "enc.bias"];
        assert_eq!(
            narrowed(&names, &key("f", "enc.wieght[0]")).unwrap_err(),
            "no tensor is called \"enc.wieght\"; there are \"enc.weight\", \
             \"dec.weight\", \"enc.bias\""
        );
        let slice = TensorRef::whole(Path::new("f"))
            .with(None, Some("0"))
            .unwrap();
        assert_eq!(
            narrowed(&names, &slice).unwrap_err(),
            "a slice is of one tensor, and there are 3: name one, as in FILE:KEY[0:3], of \
             \"enc.weight\", \"dec.weight\", \"enc.bias\""
        );
        assert!(key("f", "w").with(Some("v"), None).is_err());
    }
}
