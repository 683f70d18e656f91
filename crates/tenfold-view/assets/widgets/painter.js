// Painting of tiles.

import { SPECIAL, table } from "../lib/colormap.js";
import { aroundZero, placer } from "../lib/scale.js";
import { ABOVE, BELOW, NAN, NOTHING_FINITE, STORED } from "../lib/tile.js";

/** @typedef {import("../lib/tile.js").Tile} Tile */
/** @typedef {import("../lib/colormap.js").MapName} MapName */
/** @typedef {import("../lib/scale.js").ScaleName} ScaleName */
/** @typedef {import("../lib/scale.js").Range} Range */
/** @typedef {"mean" | "lowest" | "highest"} Reduction */
/** @typedef {"none" | "stored" | "spy"} Overlay */
/** @typedef {{map: MapName, scale: ScaleName, range: Range, reduction: Reduction, overlay: Overlay,
 *   isDark: boolean}} Paint */

/** @type {Reduction[]} */
export const REDUCTIONS = ["mean", "lowest", "highest"];
/** @type {Overlay[]} */
export const OVERLAYS = ["none", "stored", "spy"];

/** Opacity of implicit cells. */
const FADED = 0.22;

/** The range of the color map. @param {Paint} paint @returns {Range} */
export function ends({ map, range }) {
  return map === "blue-red" ? aroundZero(range) : range;
}

/** The drawn numbers of a tile. @param {Tile} tile @param {Reduction} reduction */
export function plane(tile, reduction) {
  return { mean: tile.mean, lowest: tile.min, highest: tile.max }[reduction];
}

/** The color of non-finite numbers. @param {number} flags */
function special(flags) {
  if (flags & NAN) return SPECIAL.nan;
  return flags & ABOVE ? SPECIAL.above : SPECIAL.below;
}

/** @param {Tile} tile @param {Paint} paint @returns {ImageData} */
export function paintTile(tile, paint) {
  const image = new ImageData(Math.max(tile.w, 1), Math.max(tile.h, 1));
  if (paint.overlay === "spy") paintStored(tile, image.data, paint.isDark);
  else paintNumbers(tile, image.data, paint);
  return image;
}

/** @param {Tile} tile @param {Uint8ClampedArray} pixels @param {boolean} isDark */
function paintStored(tile, pixels, isDark) {
  const [ink, paper] = isDark
    ? [
        [226, 232, 235],
        [24, 29, 33],
      ]
    : [
        [23, 32, 38],
        [250, 249, 246],
      ];
  for (let i = 0; i < tile.h * tile.w; i += 1) {
    pixels.set((tile.flags[i] ?? 0) & STORED ? ink : paper, i * 4);
    pixels[i * 4 + 3] = 255;
  }
}

/** @param {Tile} tile @param {Uint8ClampedArray} pixels @param {Paint} paint */
function paintNumbers(tile, pixels, paint) {
  const place = placer(paint.scale, ends(paint));
  const colours = table(paint.map);
  const numbers = plane(tile, paint.reduction);
  const ground = paint.isDark ? [24, 29, 33] : [250, 249, 246];
  for (let i = 0; i < tile.h * tile.w; i += 1) {
    const flags = tile.flags[i] ?? 0;
    const at = Math.round(place(numbers[i] ?? 0) * 255) * 3;
    // A single NaN among a million numbers matters most: it takes the pixel.
    const odd = flags & (NAN | ABOVE | BELOW | NOTHING_FINITE) ? special(flags) : null;
    const keeps = paint.overlay === "stored" && !(flags & STORED) ? FADED : 1;
    for (let c = 0; c < 3; c += 1) {
      const full = odd ? (odd[c] ?? 0) : (colours[at + c] ?? 0);
      pixels[i * 4 + c] = full * keeps + (ground[c] ?? 0) * (1 - keeps);
    }
    pixels[i * 4 + 3] = 255;
  }
}
