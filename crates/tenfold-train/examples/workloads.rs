//! The six workloads of the plan: how long compressing takes, beside reading the tensor once.
//!
//! `cargo run --release -p tenfold-train --example workloads [ROUNDS]`
//!
//! Prints the medians of interleaved rounds, the ranks, and the error, measured afterwards.

use std::error::Error;
use std::f64::consts::TAU;
use std::time::Instant;

use rayon::prelude::*;
use tenfold_train::{Cells, Complex64, Options, Scalar, Train, compress};

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = std::env::args().nth(1).map_or(Ok(5), |word| word.parse())?;
    println!("workload                 read ms  compress ms  times   error     bound     ranks");
    let cells = noisy(Train::<f64>::random(&[2; 26], 10, 1)?.full()?, 1e-10);
    report("2^26 rank 10, 1e-8", &[2; 26], &cells, 1e-8, rounds)?;
    let shape = [8, 8, 8, 8, 8, 8, 8, 8, 4];
    let cells = noisy(Train::<f64>::random(&shape, 10, 2)?.full()?, 1e-10);
    report("8^8 x 4 rank 10, 1e-8", &shape, &cells, 1e-8, rounds)?;
    reconstruct(&shape, rounds)?;
    report("Hilbert 64^4, 1e-6", &[64; 4], &hilbert(64), 1e-6, rounds)?;
    report(
        "field 256^3 x 3, 1e-2",
        &[256, 256, 256, 3],
        &field()?,
        1e-2,
        rounds,
    )?;
    let mut dice = Dice(5);
    let cells: Vec<f64> = (0..1 << 20).map(|_| dice.normal()).collect();
    report("random 32^4, 0", &[32; 4], &cells, 0.0, rounds)?;
    let cells = noisy(Train::<Complex64>::random(&[48; 4], 8, 3)?.full()?, 1e-10);
    report("complex 48^4 rank 8, 1e-8", &[48; 4], &cells, 1e-8, rounds)?;
    arithmetic(rounds)
}

/// Times reading and compressing, one after the other, and measures the error.
fn report<T: Scalar>(
    name: &str,
    shape: &[usize],
    cells: &[T],
    eps: f64,
    rounds: usize,
) -> Result<(), Box<dyn Error>> {
    let source = Cells::new(shape, cells)?;
    let options = Options::relative(eps);
    let (mut reads, mut times) = (Vec::new(), Vec::new());
    let mut found = compress(&source, &options)?;
    for _ in 0..rounds {
        reads.push(timed(|| read_once(cells)).0);
        let (time, again) = timed(|| compress(&source, &options));
        found = again?;
        times.push(time);
    }
    let error = found.train.distance(&source)?.relative();
    let (read, time) = (median(&mut reads), median(&mut times));
    println!(
        "{name:<26} {read:5.1} {time:12.1} {:6.1}   {error:.2e}  {:.2e}  {:?} {}",
        time / read,
        found.report.relative_error(),
        found.train.ranks(),
        found.report.route.as_str(),
    );
    Ok(())
}

/// Times multiplying a train out into fresh memory and into memory that is there.
fn reconstruct(shape: &[usize], rounds: usize) -> Result<(), Box<dyn Error>> {
    let train = Train::<f64>::random(shape, 10, 2)?;
    let (mut fresh, mut warm, mut writes) = (Vec::new(), Vec::new(), Vec::new());
    let mut buffer = train.full()?;
    for _ in 0..rounds {
        fresh.push(timed(|| train.full()).0);
        warm.push(timed(|| train.fill(&mut buffer)).0);
        let write = || {
            buffer
                .par_chunks_mut(1 << 16)
                .for_each(|part| part.fill(1.0))
        };
        writes.push(timed(write).0);
    }
    println!(
        "reconstruct 2^26           write {:.1} ms, into memory that is there {:.1} ms, fresh {:.1} ms",
        median(&mut writes),
        median(&mut warm),
        median(&mut fresh)
    );
    Ok(())
}

/// Times arithmetic on trains of rank 50 with 30 modes of 4.
fn arithmetic(rounds: usize) -> Result<(), Box<dyn Error>> {
    let one = Train::<f64>::random(&[4; 30], 50, 7)?;
    let two = Train::<f64>::random(&[4; 30], 50, 8)?;
    let sum = one.add(&two)?;
    let (mut dots, mut adds, mut rounded) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        dots.push(timed(|| one.dot(&two)).0);
        adds.push(timed(|| one.add(&two)).0);
        rounded.push(timed(|| sum.round(1e-10, None)).0);
    }
    println!(
        "rank 50, 30 modes of 4     dot {:.2} ms, add {:.2} ms, round of the sum {:.1} ms",
        median(&mut dots),
        median(&mut adds),
        median(&mut rounded)
    );
    Ok(())
}

fn timed<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let result = work();
    (
        start.elapsed().as_secs_f64() * 1e3,
        std::hint::black_box(result),
    )
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn read_once<T: Scalar>(cells: &[T]) -> f64 {
    let reals: &[f64] = bytemuck::cast_slice(cells);
    let sums = reals.par_chunks(1 << 18).map(|part| {
        let mut lanes = [0.0; 16];
        for chunk in part.as_chunks::<16>().0 {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane += value * value;
            }
        }
        lanes.iter().sum::<f64>()
    });
    sums.sum()
}

struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        f64::from(u32::try_from(self.0 >> 33).unwrap_or(0)) / 2_147_483_648.0
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}

fn noisy<T: Scalar>(mut cells: Vec<T>, part: f64) -> Vec<T> {
    let energy: f64 = cells.iter().map(|cell| cell.energy()).sum();
    let count = f64::from(u32::try_from(cells.len()).unwrap_or(u32::MAX));
    let size = part * (energy / count).sqrt();
    let mut dice = Dice(99);
    for cell in &mut cells {
        *cell += T::of_parts(dice.normal(), dice.normal()).times(size);
    }
    cells
}

fn hilbert(size: u32) -> Vec<f64> {
    let place = move |n: u32| 0..n;
    let sums = place(size)
        .flat_map(move |a| place(size).map(move |b| a + b))
        .flat_map(move |ab| place(size).map(move |c| ab + c))
        .flat_map(move |abc| place(size).map(move |d| abc + d));
    sums.map(|sum| 1.0 / f64::from(sum + 1)).collect()
}

/// A field like those of nature: amplitudes falling with the third power of the frequency, twelve
/// soft balls, three channels that are much alike.
fn field() -> Result<Vec<f64>, Box<dyn Error>> {
    const SIZE: usize = 256;
    let mut dice = Dice(11);
    let base = spectrum(SIZE, &mut dice)?;
    let mut cells = vec![0.0; SIZE * SIZE * SIZE * 3];
    for channel in 0..3 {
        let own = spectrum(SIZE, &mut dice)?;
        let places = cells.iter_mut().skip(channel).step_by(3);
        for ((cell, base), own) in places.zip(&base).zip(&own) {
            *cell = 2.0 + 0.6 * base + 0.15 * own;
        }
    }
    for _ in 0..12 {
        let center = [dice.uniform(), dice.uniform(), dice.uniform()];
        let (radius, height) = (0.08 + 0.2 * dice.uniform(), 0.6 * dice.normal());
        let heights = [height, height * 0.7, -height];
        cells.par_chunks_mut(3).enumerate().for_each(|(at, cell)| {
            let index = [at / (SIZE * SIZE), at / SIZE % SIZE, at % SIZE];
            let part = |place: usize| f64::from(u16::try_from(place).unwrap_or(0)) / 256.0;
            let square = |(place, center): (usize, f64)| (part(place) - center).powi(2);
            let distance = index
                .into_iter()
                .zip(center)
                .map(square)
                .sum::<f64>()
                .sqrt();
            let soft = 1.0 / (1.0 + ((distance - radius) * 60.0).exp());
            cell.iter_mut()
                .zip(heights)
                .for_each(|(cell, height)| *cell += soft * height);
        });
    }
    Ok(cells)
}

/// A real random field of deviation 1 with amplitudes |k|^-3, by a Fourier transform.
fn spectrum(size: usize, dice: &mut Dice) -> Result<Vec<f64>, Box<dyn Error>> {
    let frequency = |place: usize| {
        let place = place.min(size - place);
        f64::from(u16::try_from(place).unwrap_or(0))
    };
    let mut values: Vec<Complex64> = (0..size * size * size)
        .map(|at| {
            let place = [at / (size * size), at / size % size, at % size];
            let square: f64 = place.iter().map(|place| frequency(*place).powi(2)).sum();
            let amplitude = if at == 0 { 0.0 } else { square.powf(-1.5) };
            Complex64::new(dice.normal(), dice.normal()) * amplitude
        })
        .collect();
    let step = TAU / f64::from(u16::try_from(size)?);
    let turns: Vec<Complex64> = (0..u16::try_from(size)?)
        .map(|turn| Complex64::new(0.0, step * f64::from(turn)).exp())
        .collect();
    // Three times: transform along the last axis, then turn the axes.
    for _ in 0..3 {
        values
            .par_chunks_mut(size)
            .for_each(|row| transform(row, &turns));
        let columns = (0..size).flat_map(|column| values.iter().skip(column).step_by(size));
        values = columns.copied().collect();
    }
    let mut field: Vec<f64> = values.iter().map(|value| value.re).collect();
    let energy: f64 = field.iter().map(|value| value * value).sum();
    let count = f64::from(u32::try_from(field.len())?);
    let scale = (count / energy).sqrt();
    field.iter_mut().for_each(|value| *value *= scale);
    Ok(field)
}

/// A Fourier transform in place, of as many numbers as there are `turns`, a power of two.
fn transform(values: &mut [Complex64], turns: &[Complex64]) {
    let count = values.len();
    let shift = usize::BITS - count.trailing_zeros();
    for place in 0..count {
        let other = place.reverse_bits() >> shift;
        if place < other {
            values.swap(place, other);
        }
    }
    let mut half = 1;
    while half < count {
        let stride = count / (2 * half);
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            let turns = turns.iter().step_by(stride);
            for ((low, high), turn) in low.iter_mut().zip(high).zip(turns) {
                let turned = *high * turn;
                (*low, *high) = (*low + turned, *low - turned);
            }
        }
        half *= 2;
    }
}
