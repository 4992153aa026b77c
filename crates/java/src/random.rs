//! `java.util.Random`'s sequence.
//!
//! Must not know what is drawn. Invariant: equal seeds yield equal sequences, on any machine.
//!
//! Source: the documentation of `java.util.Random`, which fixes the algorithm (Knuth's linear congruential generator of
//! 48 bits; the polar method for normal numbers).

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

/// A sequence of random numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct JavaRandom {
    state: u64,
    /// The polar method yields two normal numbers at a time: this is the second one.
    next_gaussian: Option<f64>,
}

impl JavaRandom {
    /// The sequence for a seed.
    #[must_use]
    pub fn new(seed: i64) -> JavaRandom {
        JavaRandom {
            state: (seed.cast_unsigned() ^ MULTIPLIER) & MASK,
            next_gaussian: None,
        }
    }

    fn next(&mut self, bits: u32) -> i32 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(11) & MASK;
        let upper = self.state >> (48 - bits) & 0xffff_ffff;
        u32::try_from(upper)
            .expect("32 bits are left")
            .cast_signed()
    }

    /// `nextInt(bound)`: from 0 to `bound - 1`; 0 if `bound` is below 1, for which Java throws.
    pub fn next_int_below(&mut self, bound: i32) -> i32 {
        if bound < 1 {
            return 0;
        }
        if bound & (bound - 1) == 0 {
            let scaled = (i64::from(bound) * i64::from(self.next(31))) >> 31;
            return i32::try_from(scaled).expect("it is below the bound");
        }
        loop {
            let drawn = self.next(31);
            let value = drawn % bound;
            // The highest numbers would make the first values more likely: they are drawn again.
            if drawn
                .checked_sub(value)
                .and_then(|floor| floor.checked_add(bound - 1))
                .is_some()
            {
                return value;
            }
        }
    }

    /// `nextInt(from, to)`: from `from` to `to - 1`; `from` if `to` is not greater, for which Java throws.
    pub fn next_int_between(&mut self, from: i32, to: i32) -> i32 {
        if from >= to {
            return from;
        }
        let span = to.wrapping_sub(from);
        let highest = span.wrapping_sub(1);
        let mut drawn = self.next_int();
        if span & highest == 0 {
            return (drawn & highest).wrapping_add(from);
        }
        if span < 0 {
            // The range is wider than the positive integers.
            while !(from..to).contains(&drawn) {
                drawn = self.next_int();
            }
            return drawn;
        }
        loop {
            let upper = (drawn.cast_unsigned() >> 1).cast_signed();
            let value = upper % span;
            // As in `next_int_below`.
            if (upper - value).checked_add(highest).is_some() {
                return value + from;
            }
            drawn = self.next_int();
        }
    }

    /// `nextLong()`.
    pub fn next_long(&mut self) -> i64 {
        let upper = i64::from(self.next(32)) << 32;
        upper.wrapping_add(i64::from(self.next(32)))
    }

    /// `nextInt()`.
    pub fn next_int(&mut self) -> i32 {
        self.next(32)
    }

    /// `nextBoolean()`.
    pub fn next_boolean(&mut self) -> bool {
        self.next(1) != 0
    }

    /// `nextFloat()`: from 0 to 1, excluding 1.
    pub fn next_float(&mut self) -> f32 {
        // A fraction has 24 bits.
        self.next(24) as f32 / (1_u32 << 24) as f32
    }

    /// `nextBytes(…)`: four bytes per number, the lowest first.
    pub fn next_bytes(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(4) {
            let drawn = self.next_int().to_le_bytes();
            part.copy_from_slice(&drawn[..part.len()]);
        }
    }

    /// `nextDouble()`: from 0 to 1, excluding 1.
    pub fn next_double(&mut self) -> f64 {
        let upper = i64::from(self.next(26)) << 27;
        let bits = upper + i64::from(self.next(27));
        // A fraction has 53 bits.
        bits as f64 / (1_u64 << 53) as f64
    }

    /// `nextGaussian()`: with mean 0 and standard deviation 1.
    pub fn next_gaussian(&mut self) -> f64 {
        if let Some(kept) = self.next_gaussian.take() {
            return kept;
        }
        loop {
            let (x, y) = (
                2.0 * self.next_double() - 1.0,
                2.0 * self.next_double() - 1.0,
            );
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.next_gaussian = Some(y * factor);
                return x * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::JavaRandom;

    /// Recorded with Java 17.
    #[test]
    fn sequences_are_those_of_java() {
        let mut random = JavaRandom::new(42);
        let drawn = [(); 4].map(|()| 1 + random.next_int_below(1000));
        assert_eq!(drawn, [131, 764, 249, 885]);
        let mut random = JavaRandom::new(-1);
        assert_eq!(random.next_int_below(64), 17);
        assert_eq!(random.next_int_below(2_000_000_000), 943_952_225);
        assert_eq!(random.next_long(), 226_341_162_490_527_646);
        let fractions = [
            random.next_double(),
            random.next_gaussian(),
            random.next_gaussian(),
        ];
        assert_eq!(
            fractions,
            [
                0.662_084_484_112_195_1,
                -0.312_120_044_402_650_6,
                1.218_296_616_772_040_2
            ]
        );
    }
}
