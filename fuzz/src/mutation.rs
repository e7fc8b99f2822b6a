//! Mutations that are the same at each run: what a test can do without coverage to guide it.

/// Makes inputs of seeds. The same number makes the same inputs, on every machine.
pub struct Mutator(u64);

/// What parsers stumble over: ends of ranges, separators, and pieces of the formats that are read.
const WORDS: [&[u8]; 16] = [
    b"18446744073709551615",
    b"9223372036854775808",
    b"-1",
    b"0",
    b"99999999999999999999999",
    b"nan",
    b"1e999",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x80",
    b"\n",
    b"\x1e",
    b" ",
    b": ",
    b"\xc3\x28",
    b"\x1b[2J",
    b"../",
];

impl Mutator {
    /// One that begins at `seed`.
    pub fn new(seed: u64) -> Self {
        // The generator stands still at 0.
        Self(seed | 1)
    }

    /// A seed with one to eight changes. Stays within twice the seed's length and some.
    pub fn mutate(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        for _ in 0..1 + self.below(8) {
            self.change(&mut bytes);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        match self.below(7) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, self.next() as u8),
            2 => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            3 => {
                let end = (at + self.below(32)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + self.below(64)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            5 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = self.next() as u8;
                }
            }
        }
    }

    /// A number below `end`, which is above 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Marsaglia's xorshift64: plenty for this, and no dependency.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
