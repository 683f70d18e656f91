//! Streaming summary statistics.

/// Counts and moments of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// The number of values.
    pub count: u64,
    /// The number of NaNs.
    pub nan: u64,
    /// The number of infinities.
    pub infinite: u64,
    /// The number of zeros.
    pub zeros: u64,
    /// The smallest finite value.
    pub min: f64,
    /// The largest finite value.
    pub max: f64,
    /// The mean of the finite values.
    pub mean: f64,
    /// The sum of squared deviations of the finite values from the mean.
    squares: f64,
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics {
            count: 0,
            nan: 0,
            infinite: 0,
            zeros: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            mean: 0.0,
            squares: 0.0,
        }
    }
}

impl Statistics {
    /// Adds numbers.
    pub fn take(&mut self, numbers: &[f64]) {
        let (mut sum, mut finite) = (0.0, 0_u64);
        for number in numbers {
            if number.is_finite() {
                self.min = self.min.min(*number);
                self.max = self.max.max(*number);
                sum += number;
                finite = finite.saturating_add(1);
                self.zeros = self.zeros.saturating_add((*number == 0.0).into());
            } else if number.is_nan() {
                self.nan = self.nan.saturating_add(1);
            } else {
                self.infinite = self.infinite.saturating_add(1);
            }
        }
        if finite > 0 {
            let mean = sum / super::float(finite);
            let finite_numbers = numbers.iter().filter(|number| number.is_finite());
            let squares = finite_numbers.map(|number| (number - mean).powi(2)).sum();
            self.join(mean, squares, finite);
        }
        self.count = self.count.saturating_add(super::wide(numbers.len()));
    }

    /// Adds implicit zeros.
    pub fn take_zeros(&mut self, count: u64) {
        if count == 0 {
            return;
        }
        (self.min, self.max) = (self.min.min(0.0), self.max.max(0.0));
        self.join(0.0, 0.0, count);
        self.zeros = self.zeros.saturating_add(count);
        self.count = self.count.saturating_add(count);
    }

    /// Merges the moments of `count` more finite numbers, before these are counted.
    fn join(&mut self, mean: f64, squares: f64, count: u64) {
        let (own, more) = (super::float(self.finite()), super::float(count));
        let all = own + more;
        let apart = mean - self.mean;
        self.mean += apart * (more / all);
        self.squares += squares + apart * apart * (own * more / all);
    }

    /// The number of finite values.
    #[must_use]
    pub fn finite(&self) -> u64 {
        let others = self.nan.saturating_add(self.infinite);
        self.count.saturating_sub(others)
    }

    /// The population standard deviation of the finite values.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        (self.squares / super::float(self.finite().max(1))).sqrt()
    }

    /// The fraction of numbers that are not zero.
    #[must_use]
    pub fn density(&self) -> f64 {
        let others = self.count.saturating_sub(self.zeros);
        super::float(others) / super::float(self.count.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_give_what_all_numbers_give() {
        let numbers: Vec<f64> = (0..1000).map(|n| f64::from(n * 37 % 101) - 40.0).collect();
        let mut found = Statistics::default();
        numbers.chunks(77).for_each(|piece| found.take(piece));
        found.take(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        found.take_zeros(500);
        let all: Vec<f64> = numbers.iter().copied().chain([0.0; 500]).collect();
        let mean = all.iter().sum::<f64>() / 1500.0;
        let variance = all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 1500.0;
        assert!((found.mean - mean).abs() < 1e-12);
        assert!((found.deviation() - variance.sqrt()).abs() < 1e-12);
        let zeros = numbers.iter().filter(|x| **x == 0.0).count() + 500;
        assert_eq!(found.zeros, super::super::wide(zeros));
        assert_eq!((found.count, found.nan, found.infinite), (1503, 1, 2));
        assert_eq!((found.min, found.max), (-40.0, 60.0));
    }
}
