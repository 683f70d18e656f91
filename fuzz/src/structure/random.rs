//! The choices of a mutation: all follow from one seed, so that a finding can be made again.

/// A sequence of numbers that look random (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u32) -> Random {
        Random(seed.into())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        match end {
            0 => 0,
            end => (self.next() % end as u64) as usize,
        }
    }

    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// A number of any width: small ones, powers of two and their neighbors come up often.
    pub fn number(&mut self) -> u64 {
        let power = 1_u64 << self.below(64);
        match self.below(4) {
            0 => self.below(16) as u64,
            1 => power,
            2 => power.wrapping_sub(1),
            _ => self.next() >> self.below(64),
        }
    }

    /// The bytes after a mutation of libFuzzer's own, which uses the dictionary; at most so many more.
    pub fn bytes(&mut self, data: &[u8]) -> Vec<u8> {
        const MORE: usize = 64;
        let mut room = data.to_vec();
        room.resize(data.len() + MORE, 0);
        let most = room.len();
        let len = libfuzzer_sys::fuzzer_mutate(&mut room, data.len(), most);
        room.truncate(len);
        room
    }
}
