//! Color maps for numbers between 0 and 1.
//!
//! A map interpolates linearly between colors at equal distances. *viridis* and *cividis* are the
//! published maps of these names, in ten steps: their lightness increases evenly, also under color
//! vision deficiency. *blue-red* is light in the middle, and meant for numbers around zero.

use std::str::FromStr;

use tenfold::{Error, Result};

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// The color of NaN, in none of the maps.
pub const NOT_A_NUMBER: Rgb = [255, 0, 255];
/// The color of positive infinity, in none of the maps.
pub const POSITIVE_INFINITY: Rgb = [255, 106, 0];
/// The color of negative infinity, in none of the maps.
pub const NEGATIVE_INFINITY: Rgb = [0, 229, 255];

/// A map from numbers to colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorMap {
    /// Dark purple over green to yellow.
    Viridis,
    /// Dark blue to yellow, also under most color vision deficiencies.
    Cividis,
    /// Black to white.
    Grey,
    /// Blue over white to red, for numbers around zero.
    BlueRed,
}

impl ColorMap {
    /// All of them.
    pub const ALL: &'static [ColorMap] = &[
        ColorMap::Viridis,
        ColorMap::Cividis,
        ColorMap::Grey,
        ColorMap::BlueRed,
    ];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ColorMap::Viridis => "viridis",
            ColorMap::Cividis => "cividis",
            ColorMap::Grey => "grey",
            ColorMap::BlueRed => "blue-red",
        }
    }

    /// Whether it is diverging, with zero in the middle.
    #[must_use]
    pub fn is_diverging(self) -> bool {
        self == ColorMap::BlueRed
    }

    fn anchors(self) -> &'static [u32] {
        match self {
            ColorMap::Viridis => &[
                0x44_01_54, 0x48_28_78, 0x3e_49_89, 0x31_68_8e, 0x26_82_8e, 0x1f_9e_89, 0x35_b7_79,
                0x6e_ce_58, 0xb5_de_2b, 0xfd_e7_25,
            ],
            ColorMap::Cividis => &[
                0x00_20_4d, 0x00_33_6f, 0x39_48_6b, 0x57_5c_6d, 0x70_71_73, 0x8a_87_79, 0xa6_9d_75,
                0xc4_b5_6c, 0xe4_cf_5b, 0xff_ea_46,
            ],
            ColorMap::Grey => &[0x00_00_00, 0xff_ff_ff],
            ColorMap::BlueRed => &[
                0x16_3a_7a, 0x2f_73_b5, 0x8f_bf_dc, 0xf5_f5_f5, 0xf0_b0_94, 0xcc_55_4a, 0x82_12_26,
            ],
        }
    }

    /// The color of a number between 0 and 1; values outside are clamped.
    #[must_use]
    pub fn color(self, number: f64) -> Rgb {
        let anchors = self.anchors();
        let last = crate::image::float(crate::image::wide(anchors.len()).saturating_sub(1));
        let place = number.clamp(0.0, 1.0) * last;
        let from = place.floor().min(last - 1.0).max(0.0);
        #[expect(clippy::as_conversions, reason = "a place among the few anchors")]
        let first = from as usize;
        let bytes = |at: usize| anchors.get(at).copied().unwrap_or_default().to_be_bytes();
        let ([_, r, g, b], [_, x, y, z]) = (bytes(first), bytes(first.saturating_add(1)));
        let share = place - from;
        [mixed(r, x, share), mixed(g, y, share), mixed(b, z, share)]
    }
}

fn mixed(from: u8, to: u8, share: f64) -> u8 {
    let (from, to) = (f64::from(from), f64::from(to));
    #[expect(clippy::as_conversions, reason = "lies between two bytes")]
    let byte = (from + (to - from) * share).round() as u8;
    byte
}

impl FromStr for ColorMap {
    type Err = Error;

    fn from_str(name: &str) -> Result<ColorMap> {
        let mut all = ColorMap::ALL.iter().copied();
        all.find(|map| map.as_str() == name).ok_or_else(|| {
            let names: Vec<&str> = ColorMap::ALL.iter().map(|map| map.as_str()).collect();
            Error::Invalid(format!("the colours are {}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The luminance of a color, by the weights of sRGB.
    fn luminance(color: Rgb) -> f64 {
        let linear = |byte: u8| {
            let share = f64::from(byte) / 255.0;
            if share <= 0.04045 {
                share / 12.92
            } else {
                ((share + 0.055) / 1.055).powf(2.4)
            }
        };
        let [r, g, b] = color.map(linear);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    #[test]
    fn ends_and_anchors_are_the_published_colours() {
        assert_eq!(ColorMap::Viridis.color(0.0), [0x44, 0x01, 0x54]);
        assert_eq!(ColorMap::Viridis.color(1.0), [0xfd, 0xe7, 0x25]);
        assert_eq!(ColorMap::Cividis.color(1.0 / 9.0), [0x00, 0x33, 0x6f]);
        assert_eq!(ColorMap::Grey.color(0.5), [128, 128, 128]);
        assert_eq!(ColorMap::BlueRed.color(0.5), [0xf5, 0xf5, 0xf5]);
    }

    #[test]
    fn maps_that_do_not_diverge_grow_lighter_all_the_way() {
        for map in ColorMap::ALL.iter().filter(|map| !map.is_diverging()) {
            let mut last = -1.0;
            for step in 0..=64 {
                let light = luminance(map.color(f64::from(step) / 64.0));
                assert!(light > last, "{map:?} at {step}");
                last = light;
            }
        }
    }

    #[test]
    fn what_is_no_number_has_a_colour_that_no_map_has() {
        for special in [NOT_A_NUMBER, POSITIVE_INFINITY, NEGATIVE_INFINITY] {
            for map in ColorMap::ALL {
                for step in 0..=256 {
                    let color = map.color(f64::from(step) / 256.0);
                    let apart: u32 = { color.iter().zip(special) }
                        .map(|(a, b)| u32::from(a.abs_diff(b)))
                        .sum();
                    assert!(apart > 100, "{map:?} {color:?} {special:?}");
                }
            }
        }
    }

    #[test]
    fn the_page_has_the_same_colours() {
        let page = include_str!("../../../assets/lib/colormap.js");
        let hex = |color: u32| format!("0x{color:06x}");
        for map in ColorMap::ALL {
            let colors: Vec<String> = map.anchors().iter().copied().map(hex).collect();
            assert!(page.contains(&colors.join(", ")), "{map:?}");
        }
        for special in [NOT_A_NUMBER, POSITIVE_INFINITY, NEGATIVE_INFINITY] {
            assert!(page.contains(&format!("({special:?})")), "{special:?}");
        }
    }

    #[test]
    fn every_map_is_found_by_its_name() {
        for map in ColorMap::ALL {
            assert_eq!(map.as_str().parse::<ColorMap>().unwrap(), *map);
        }
        let error = "jet".parse::<ColorMap>().unwrap_err().to_string();
        assert_eq!(error, "the colours are viridis, cividis, grey, blue-red");
    }
}
