// Color maps for numbers between 0 and 1, the same as in `tenfold plot`.

/** @typedef {"viridis" | "cividis" | "grey" | "blue-red"} MapName */
/** @typedef {[number, number, number]} Rgb */

/** Colors at equal distances, with linear interpolation.
 * @type {Record<MapName, number[]>} */
const ANCHORS = {
  viridis: [0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725],
  cividis: [0x00204d, 0x00336f, 0x39486b, 0x575c6d, 0x707173, 0x8a8779, 0xa69d75, 0xc4b56c, 0xe4cf5b, 0xffea46],
  grey: [0x000000, 0xffffff],
  "blue-red": [0x163a7a, 0x2f73b5, 0x8fbfdc, 0xf5f5f5, 0xf0b094, 0xcc554a, 0x821226],
};

/** @type {MapName[]} */
export const MAPS = ["viridis", "cividis", "grey", "blue-red"];

/** Colors of non-finite numbers, in none of the maps. */
export const SPECIAL = {
  nan: /** @type {Rgb} */ ([255, 0, 255]),
  above: /** @type {Rgb} */ ([255, 106, 0]),
  below: /** @type {Rgb} */ ([0, 229, 255]),
};

/** @param {number} anchor @returns {Rgb} */
const bytes = (anchor) => [anchor >> 16, (anchor >> 8) & 255, anchor & 255];

/** The color at a position between 0 and 1. @param {MapName} map @param {number} place @returns {Rgb} */
export function colour(map, place) {
  const anchors = ANCHORS[map];
  const last = anchors.length - 1;
  const at = Math.min(Math.max(place, 0), 1) * last;
  const from = Math.min(Math.floor(at), last - 1);
  const [a, b] = [bytes(anchors[from] ?? 0), bytes(anchors[from + 1] ?? 0)];
  /** @param {number} i */
  const mixed = (i) => Math.round((a[i] ?? 0) + ((b[i] ?? 0) - (a[i] ?? 0)) * (at - from));
  return [mixed(0), mixed(1), mixed(2)];
}

/** @type {Map<MapName, Uint8Array>} */
const tables = new Map();

/** 256 colors of a map, three bytes each. @param {MapName} map */
export function table(map) {
  const known = tables.get(map);
  if (known) return known;
  const made = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; i += 1) made.set(colour(map, i / 255), i * 3);
  tables.set(map, made);
  return made;
}

/** A color in CSS notation. @param {Rgb} rgb */
export const css = ([r, g, b]) => `rgb(${r} ${g} ${b})`;
