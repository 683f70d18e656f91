// The displayed region of a slice, in cells; it may extend beyond the tensor.

/** @typedef {{r0: number, r1: number, c0: number, c1: number}} Region */
/** @typedef {{width: number, height: number}} Size */

/** Largest aspect ratio with square cells; beyond, they fill the picture. */
const LONGEST = 12;
/** Largest cells of longer slices, in pixels. */
const MOST = { width: 220, height: 72 };

/** The whole slice in a picture of this size. @param {number} rows @param {number} cols @param {Size} size
 * @returns {Region} */
export function whole(rows, cols, size) {
  const ratio = Math.max(rows, 1) / Math.max(cols, 1);
  const exact = { r0: 0, r1: Math.max(rows, 1), c0: 0, c1: Math.max(cols, 1) };
  if (ratio <= LONGEST && ratio >= 1 / LONGEST) return square(exact, size);
  // A few long rows are not stretched to the full height.
  const more = Math.max(size.height / MOST.height - rows, 0) / 2;
  const wider = Math.max(size.width / MOST.width - cols, 0) / 2;
  return ratio > LONGEST
    ? { ...exact, c0: 0 - wider, c1: exact.c1 + wider }
    : { ...exact, r0: 0 - more, r1: exact.r1 + more };
}

/** Widens a region until its cells are square. @param {Region} region @param {Size} size @returns {Region} */
export function square(region, size) {
  const [h, w] = [region.r1 - region.r0, region.c1 - region.c0];
  const cells = Math.max(h / size.height, w / size.width);
  const [more, wider] = [(cells * size.height - h) / 2, (cells * size.width - w) / 2];
  return { r0: region.r0 - more, r1: region.r1 + more, c0: region.c0 - wider, c1: region.c1 + wider };
}

/** Zooms in (below 1) or out around a position in the picture.
 * @param {Region} region @param {number} factor @param {number} row @param {number} col @returns {Region} */
export function zoomed(region, factor, row, col) {
  /** @param {number} end @param {number} centre */
  const moved = (end, centre) => centre + (end - centre) * factor;
  return {
    r0: moved(region.r0, row),
    r1: moved(region.r1, row),
    c0: moved(region.c0, col),
    c1: moved(region.c1, col),
  };
}

/** @param {Region} region @param {number} rows @param {number} cols @returns {Region} */
export function moved(region, rows, cols) {
  return { r0: region.r0 + rows, r1: region.r1 + rows, c0: region.c0 + cols, c1: region.c1 + cols };
}

/** Keeps a region near the tensor, between two cells and a few tensors wide.
 * @param {Region} region @param {number} rows @param {number} cols @param {Region} all @returns {Region} */
export function held(region, rows, cols, all) {
  const [h, w] = [region.r1 - region.r0, region.c1 - region.c0];
  if (h > (all.r1 - all.r0) * 1.001 && w > (all.c1 - all.c0) * 1.001) return all;
  if (h < 1 && w < 1)
    return zoomed(region, 1 / Math.max(h, w), (region.r0 + region.r1) / 2, (region.c0 + region.c1) / 2);
  const row = Math.min(Math.max((region.r0 + region.r1) / 2, 0), rows);
  const col = Math.min(Math.max((region.c0 + region.c1) / 2, 0), cols);
  return { r0: row - h / 2, r1: row + h / 2, c0: col - w / 2, c1: col + w / 2 };
}

/** The cells of the tensor that a region touches. @param {Region} region @param {number} rows
 * @param {number} cols @returns {Region} */
export function cells(region, rows, cols) {
  /** @param {number} x @param {number} size */
  const within = (x, size) => Math.min(Math.max(x, 0), size);
  return {
    r0: within(Math.floor(region.r0 + 1e-6), rows),
    r1: within(Math.ceil(region.r1 - 1e-6), rows),
    c0: within(Math.floor(region.c0 + 1e-6), cols),
    c1: within(Math.ceil(region.c1 - 1e-6), cols),
  };
}

/** Rounded to the precision of links. @param {Region} region @returns {Region} */
export function rounded({ r0, r1, c0, c1 }) {
  /** @param {number} end */
  const near = (end) => Number(end.toFixed(3));
  return { r0: near(r0), r1: near(r1), c0: near(c0), c1: near(c1) };
}

/** The cells of a slice on the screen; all without a region. @param {Region | null} region
 * @param {[number, number]} extent */
export function seen(region, extent) {
  return region ? cells(region, ...extent) : { r0: 0, r1: extent[0], c0: 0, c1: extent[1] };
}
