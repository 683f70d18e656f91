//! Tick positions and labels of axes.

use super::lowest_for_log;
use crate::image::Scale;

/// At most about `most` round numbers between two ends, in ascending order.
#[must_use]
pub fn ticks(scale: Scale, (low, high): (f64, f64), most: u32) -> Vec<f64> {
    let is_range = low.is_finite() && high.is_finite() && low < high;
    if !is_range {
        return Vec::from_iter(low.is_finite().then_some(low));
    }
    match scale {
        Scale::Linear => linear(low, high, most),
        Scale::Log => {
            let low = lowest_for_log(low, high);
            let decades = decades(low, high, most);
            if decades.len() < 2 {
                linear(low, high, most)
            } else {
                decades
            }
        }
        Scale::Symlog => {
            let largest = low.abs().max(high.abs());
            let above = decades(largest * 1e-3, largest, most / 2);
            let below = above.iter().rev().map(|tick| -tick);
            let all = below.chain([0.0]).chain(above.iter().copied());
            all.filter(|tick| (low..=high).contains(tick)).collect()
        }
    }
}

fn linear(low: f64, high: f64, most: u32) -> Vec<f64> {
    let rough = (high / 2.0 - low / 2.0) / f64::from(most.max(1)) * 2.0;
    let unit = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit);
    let step = steps.into_iter().find(|step| *step >= rough * 0.999_999);
    let step = step.unwrap_or(rough);
    let first = (low / step - 1e-9).ceil();
    let mut found = Vec::new();
    for count in 0..=most {
        let tick = (first + f64::from(count)) * step;
        // Sums of steps are not round: rounded to the digits of the step.
        let tick = rounded(tick, step);
        if tick > high + step * 1e-9 || !tick.is_finite() {
            break;
        }
        found.push(tick);
    }
    found
}

/// A multiple of a step without rounding noise.
fn rounded(tick: f64, step: f64) -> f64 {
    let digits = -step.log10().floor();
    if !(1.0..=300.0).contains(&digits) {
        return tick;
    }
    #[expect(clippy::as_conversions, reason = "from 1 to 300")]
    let digits = digits as usize;
    format!("{tick:.digits$}").parse().unwrap_or(tick)
}

/// Powers of ten, each or every few.
fn decades(low: f64, high: f64, most: u32) -> Vec<f64> {
    let (first, last) = (low.log10().ceil(), high.log10().floor());
    let every = ((last - first + 1.0) / f64::from(most.max(1)))
        .ceil()
        .max(1.0);
    let mut found = Vec::new();
    let mut power = first;
    while power <= last && found.len() < 1000 {
        found.push(format!("1e{power}").parse().unwrap_or(0.0));
        power += every;
    }
    found
}

/// The label of a tick: few digits, powers of ten for large and small numbers.
#[must_use]
pub fn tick_text(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 {
        return "0".into();
    }
    if !number.is_finite() {
        return format!("{number}");
    }
    let short: f64 = format!("{number:.4e}").parse().unwrap_or(number);
    if (1e-3..1e5).contains(&size) {
        format!("{short}")
    } else {
        format!("{short:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(
            ticks(Scale::Linear, (0.0, 1.0), 5),
            [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        );
        assert_eq!(
            ticks(Scale::Linear, (-7.0, 12.0), 4),
            [-5.0, 0.0, 5.0, 10.0]
        );
        assert_eq!(
            ticks(Scale::Log, (1.0, 1e4), 5),
            [1.0, 10.0, 100.0, 1e3, 1e4]
        );
        assert_eq!(ticks(Scale::Log, (1.0, 1e8), 3), [1.0, 1e3, 1e6]);
        let around = ticks(Scale::Symlog, (-100.0, 100.0), 8);
        assert_eq!(
            around,
            [-100.0, -10.0, -1.0, -0.1, 0.0, 0.1, 1.0, 10.0, 100.0]
        );
        assert_eq!(ticks(Scale::Linear, (3.0, 3.0), 5), [3.0]);
        assert!(ticks(Scale::Linear, (f64::MIN, f64::MAX), 5).len() > 2);
    }

    #[test]
    fn texts_are_short() {
        for (number, text) in [
            (0.1, "0.1"),
            (0.300_000_000_000_000_04, "0.3"),
            (-1234.5, "-1234.5"),
            (1e-7, "1e-7"),
            (250_000.0, "2.5e5"),
            (0.0, "0"),
        ] {
            assert_eq!(tick_text(number), text);
        }
    }
}
