// Tiles: regions of a tensor as pixels, in the server's binary format.

/** @typedef {{h: number, w: number, exact: boolean, lowest: number, highest: number, min: Float32Array,
 *   max: Float32Array, mean: Float32Array, flags: Uint8Array}} Tile */

export const NAN = 1;
export const ABOVE = 2;
export const BELOW = 4;
export const IMPLIED = 8;
export const STORED = 16;
export const NOTHING_FINITE = 32;

const HEADER = 32;

/** @param {ArrayBuffer} buffer @returns {Tile} */
export function parseTile(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < HEADER || view.getUint32(0, true) !== 0x31544654) throw new Error("this is no tile");
  const [h, w] = [view.getUint32(4, true), view.getUint32(8, true)];
  const n = h * w;
  if (buffer.byteLength < HEADER + n * 13) throw new Error("the tile is cut short");
  /** @param {number} plane */
  const floats = (plane) => new Float32Array(buffer, HEADER + plane * n * 4, n);
  return {
    h,
    w,
    exact: view.getUint32(12, true) === 1,
    lowest: view.getFloat64(16, true),
    highest: view.getFloat64(24, true),
    min: floats(0),
    max: floats(1),
    mean: floats(2),
    flags: new Uint8Array(buffer, HEADER + n * 12, n),
  };
}
