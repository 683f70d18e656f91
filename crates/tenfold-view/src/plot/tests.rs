//! Tests of plots against colors and positions computed by hand.

use tenfold::{Dim, Limits, Numbers, Order, Storage, Tensor};

use super::png::drawn;
use super::scene::{Bitmap, Item};
use crate::image::{ColorMap, NOT_A_NUMBER, POSITIVE_INFINITY, Scale};
use crate::plot::*;

fn tensor(sizes: &[u64], numbers: &[f64]) -> Tensor {
    let values = Numbers::from_vec(numbers);
    let order = Order::Row;
    let storage = Storage::Dense { order, values };
    let dims = sizes.iter().map(|size| Dim::indexed(*size)).collect();
    Tensor::new(dims, "f64".parse().unwrap(), vec![], storage).unwrap()
}

fn drawing(tensor: &Tensor, options: Options) -> Drawing<'_> {
    Drawing {
        tensor,
        title: "<title> & more".into(),
        options,
        limits: Limits::default(),
    }
}

fn scene(tensor: &Tensor, options: Options) -> Scene {
    drawing(tensor, options).scene().unwrap()
}

fn pixel(bitmap: &Bitmap, (x, y): (usize, usize)) -> crate::image::Rgb {
    bitmap.get(x, y).unwrap()
}

/// 2 × 3 cells: 0, 1, 2 above NaN, infinity, 4. The field of 400 × 300 is 200 × 208 from (80, 36); the
/// cells are squares of 66.67, so that the picture is 200 × 133.
const NUMBERS: [f64; 6] = [0.0, 1.0, 2.0, f64::NAN, f64::INFINITY, 4.0];

const CENTRES: [(usize, usize); 6] = [
    (113, 69),
    (180, 69),
    (246, 69),
    (113, 136),
    (180, 136),
    (246, 136),
];

fn options() -> Options {
    Options {
        size: (400, 300),
        ..Options::default()
    }
}

#[test]
fn every_cell_of_a_heat_map_has_the_colour_of_its_number() {
    let tensor = tensor(&[2, 3], &NUMBERS);
    let made = drawn(&scene(&tensor, options())).unwrap();
    assert_eq!((made.width, made.height), (400, 300));
    let of = |place: f64| ColorMap::Viridis.color(place);
    let expected = [
        of(0.0),
        of(0.25),
        of(0.5),
        NOT_A_NUMBER,
        POSITIVE_INFINITY,
        of(1.0),
    ];
    let found = CENTRES.map(|at| pixel(&made, at));
    assert_eq!(found, expected);
    // The edge between two cells is in the middle between their centers.
    assert_eq!(
        [pixel(&made, (145, 69)), pixel(&made, (148, 69))],
        [of(0.0), of(0.25)]
    );
    // The bar has the lowest color at its lower end, the highest at its upper one.
    assert_eq!(pixel(&made, (310, 36)), of(1.0));
    assert_eq!(pixel(&made, (310, 168)), of(0.0));
    assert_eq!(pixel(&made, (398, 298)), [255, 255, 255]);
}

#[test]
fn ranges_scales_and_diverging_colours_move_the_colours() {
    let tensor = tensor(&[2, 3], &NUMBERS);
    let colors = |options: Options| {
        let made = drawn(&scene(&tensor, options)).unwrap();
        [CENTRES[0], CENTRES[1], CENTRES[5]].map(|at| pixel(&made, at))
    };
    let grey = |place: f64| ColorMap::Grey.color(place);
    let base = Options {
        colors: ColorMap::Grey,
        ..options()
    };
    let ranged = Options {
        range: Some("0.5:1.5".parse().unwrap()),
        ..base.clone()
    };
    assert_eq!(colors(ranged), [grey(0.0), grey(0.5), grey(1.0)]);
    // The finite numbers are 0 1 2 4, of ranks 0 to 3: the median has rank 1.5, rounded to 2.
    let percent = Options {
        range: Some("0%:50%".parse().unwrap()),
        ..base.clone()
    };
    assert_eq!(colors(percent), [grey(0.0), grey(0.5), grey(1.0)]);
    // From 1, the smallest positive number, to 4.
    let log = Options {
        scale: Scale::Log,
        ..base.clone()
    };
    assert_eq!(colors(log), [grey(0.0), grey(0.0), grey(1.0)]);
    let diverging = Options {
        colors: ColorMap::BlueRed,
        ..base
    };
    let of = |place: f64| ColorMap::BlueRed.color(place);
    assert_eq!(colors(diverging), [of(0.5), of(0.625), of(1.0)]);
}

#[test]
fn a_line_goes_through_its_numbers() {
    let tensor = tensor(&[4], &[0.0, 3.0, f64::NAN, 1.5]);
    let made = scene(&tensor, options());
    // 292 × 208 from (80, 36): cells are 73 wide, 3 is at the top and 0 at the bottom.
    let lines: Vec<&Vec<(f64, f64)>> = { made.items.iter() }
        .filter_map(|item| match item {
            Item::Line { points, color } if *color == ColorMap::Viridis.color(0.0) => Some(points),
            _ => None,
        })
        .collect();
    assert_eq!(
        lines,
        [&vec![(116.5, 244.0), (189.5, 36.0)], &vec![(335.5, 140.0)]]
    );
    let pixels = drawn(&made).unwrap();
    assert_eq!(pixel(&pixels, (117, 243)), ColorMap::Viridis.color(0.0));
    assert_eq!(pixel(&pixels, (336, 140)), ColorMap::Viridis.color(0.0));
}

#[test]
fn bars_are_as_high_as_their_counts() {
    let mut numbers = vec![0.0; 8];
    numbers.extend([1.0; 4]);
    numbers.push(64.0);
    let histogram = Options {
        kind: Some(Kind::Histogram),
        ..options()
    };
    let made = scene(&tensor(&[13], &numbers), histogram.clone());
    let heights = |scene: &Scene| {
        let bars = scene.items.iter().filter_map(|item| match item {
            Item::Rect { area, .. } => Some(area.height),
            _ => None,
        });
        bars.collect::<Vec<f64>>()
    };
    // 8, 4 and 1 of 8.4, which are 208 pixels.
    let found = heights(&made);
    let expected = [8.0, 4.0, 1.0].map(|count| count / 8.4 * 208.0);
    assert_eq!(found.len(), 3);
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    let log = scene(
        &tensor(&[13], &numbers),
        Options {
            scale: Scale::Log,
            ..histogram
        },
    );
    let all = (8.4_f64 / 0.5).log10();
    for (found, count) in heights(&log).iter().zip([8.0_f64, 4.0, 1.0]) {
        let expected = (count / 0.5).log10() / all * 208.0;
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

#[test]
fn a_png_reads_back_to_its_pixels() {
    let tensor = tensor(&[2, 3], &NUMBERS);
    let made = scene(&tensor, options());
    let file = png(&made).unwrap();
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(file))
        .read_info()
        .unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.width, info.height), (400, 300));
    assert_eq!(bytes, drawn(&made).unwrap().pixels.concat());
}

#[test]
fn an_svg_holds_text_that_stays_text_and_the_cells_as_a_picture() {
    let tensor = tensor(&[2, 3], &NUMBERS);
    let made = svg(&scene(&tensor, options())).unwrap();
    assert!(made.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"400\""));
    assert!(made.contains("&lt;title&gt; &amp; more") && !made.contains("<title> &"));
    assert!(made.contains("href=\"data:image/png;base64,"));
    assert_eq!(
        made.matches("<text").count(),
        made.matches("</text>").count()
    );
    assert!(made.contains(">NaN</text>") && made.contains(">inf</text>"));
    assert!(!made.contains(">-inf</text>"));
}

#[test]
fn a_terminal_without_colours_shows_shades_and_what_is_no_number() {
    let tensor = tensor(&[2, 3], &NUMBERS);
    let made = terminal(&drawing(&tensor, options()), 40, 10, false).unwrap();
    // 0, 1, 2 and 4 of 4 are shades 0, 2, 5 (rounded) and 9 of ten.
    assert_eq!(made, " :+\n?^@\n0  ..::-==++*##%%@ 4\n");
}

#[test]
fn a_terminal_with_colours_has_two_cells_a_letter() {
    let tensor = tensor(&[2, 1], &[0.0, 1.0]);
    let made = terminal(&drawing(&tensor, options()), 40, 10, true).unwrap();
    let first = made.lines().next().unwrap();
    assert_eq!(
        first,
        "\u{1b}[38;2;68;1;84m\u{1b}[48;2;253;231;37m▀\u{1b}[0m"
    );
}

#[test]
fn what_has_no_numbers_and_what_has_one_are_drawn() {
    for kind in [Kind::Heat, Kind::Line, Kind::Histogram] {
        for (sizes, numbers) in [
            (&[][..], &[7.0][..]),
            (&[1], &[f64::NAN]),
            (&[0, 3], &[]),
            (&[1, 1], &[-0.0]),
            (&[1, 1, 2], &[f64::MAX, f64::MIN]),
        ] {
            let tensor = tensor(sizes, numbers);
            let options = Options {
                kind: Some(kind),
                size: (16, 16),
                ..Options::default()
            };
            let made = drawing(&tensor, options.clone());
            assert!(png(&made.scene().unwrap()).is_ok(), "{kind:?} {sizes:?}");
            assert!(terminal(&made, 16, 4, true).is_ok());
        }
    }
}

#[test]
fn ranges_are_read_or_refused() {
    assert_eq!("-1:2.5".parse::<Ends>().unwrap(), Ends::Numbers(-1.0, 2.5));
    assert_eq!(
        "1%:99%".parse::<Ends>().unwrap(),
        Ends::Percentiles(1.0, 99.0)
    );
    for wrong in [
        "", "1", "1:", "2:1", "1:1", "1%:2", "0%:101%", "nan:1", "0:inf",
    ] {
        assert!(wrong.parse::<Ends>().is_err(), "{wrong}");
    }
}
