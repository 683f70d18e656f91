//! A range of compressed or checksummed bytes; the first read decodes and verifies all of them.

use std::ops::Range;
use std::sync::Mutex;

use super::Bytes;
use crate::error::{Error, Result};
use crate::io::{Compute, Source};
use crate::limits::Limits;

impl Bytes {
    /// Some of these bytes. If they are compressed or have a checksum, the first read decodes and
    /// verifies all of them.
    pub(crate) fn window(&self, range: Range<u64>, limits: &Limits) -> Result<Bytes> {
        if self.is_plain()
            && let Some(run) = self.run_within(range.clone())
        {
            return Ok(run);
        }
        let whole = Whole {
            bytes: self.clone(),
            limits: limits.clone(),
            settled: Mutex::new(None),
        };
        Bytes::run(&Source::computed(whole), range)
    }
}

/// Bytes that are decoded and verified on the first read.
struct Whole {
    bytes: Bytes,
    limits: Limits,
    settled: Mutex<Option<Bytes>>,
}

impl Whole {
    fn settled(&self) -> Result<Bytes> {
        let stopped = |_| Error::invalid("a thread that decodes stopped");
        let mut settled = self.settled.lock().map_err(stopped)?;
        if let Some(bytes) = &*settled {
            return Ok(bytes.clone());
        }
        let bytes = if self.bytes.is_compressed() {
            // Decoding everything verifies the checksum.
            self.bytes.spooled(&self.limits)?
        } else {
            self.bytes.check()?;
            self.bytes.clone()
        };
        *settled = Some(bytes.clone());
        Ok(bytes)
    }
}

impl Compute for Whole {
    fn len(&self) -> u64 {
        self.bytes.len()
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        self.settled()?.read_at(at, buffer)
    }

    fn depth(&self) -> u32 {
        self.bytes.source().depth()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{Algorithm, Digest};

    #[test]
    fn a_window_of_what_has_a_checksum_is_checked_as_a_whole() {
        let digest = |expected| {
            let algorithm = Algorithm::Crc32c;
            Some(Digest {
                algorithm,
                expected,
                over: None,
            })
        };
        let limits = Limits::default();
        let bytes = Bytes::memory(b"123456789".to_vec());
        let right = bytes
            .clone()
            .with_digest(digest(vec![0xe3, 0x06, 0x92, 0x83]));
        let window = right.window(3..5, &limits).unwrap();
        assert_eq!(
            (window.len(), window.to_vec().unwrap()),
            (2, b"45".to_vec())
        );
        let wrong = bytes.with_digest(digest(vec![0; 4]));
        assert!(wrong.window(3..5, &limits).unwrap().to_vec().is_err());
        assert!(right.window(3..10, &limits).is_err());
    }
}
