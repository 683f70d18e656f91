// Linear and logarithmic scales, the same as in `tenfold plot`.

/** @typedef {"linear" | "log" | "symlog"} ScaleName */
/** @typedef {{low: number, high: number}} Range */

/** @type {ScaleName[]} */
export const SCALES = ["linear", "log", "symlog"];

/** The linear range near zero, as a fraction of the largest number. */
const NEAR = 1e-3;

/** sign(x)·log10(1 + |x|/c). @param {number} number @param {number} near */
const bent = (number, near) => (Math.sign(number) * Math.log1p(Math.abs(number) / near)) / Math.LN10;

/** @param {Range} range */
const nearZero = ({ low, high }) => Math.max(Math.abs(low), Math.abs(high)) * NEAR || NEAR;

/** A logarithm needs a positive end: six decades, if there is none. @param {Range} range */
const lowestForLog = ({ low, high }) => {
  if (low > 0) return low;
  return high > 0 ? Math.max(high * 1e-6, Number.MIN_VALUE) : 1;
};

/** The function that makes this scale linear. @param {ScaleName} scale @param {Range} range */
function bend(scale, range) {
  if (scale === "linear") return (/** @type {number} */ x) => x / 2;
  if (scale === "log") return (/** @type {number} */ x) => (x > 0 ? Math.log10(x) : -Infinity);
  const near = nearZero(range);
  return (/** @type {number} */ x) => bent(x, near);
}

/** A function from finite numbers to positions between 0 and 1. @param {ScaleName} scale @param {Range} range */
export function placer(scale, range) {
  const bending = bend(scale, range);
  const first = bending(scale === "log" ? lowestForLog(range) : range.low);
  const width = bending(scale === "log" ? Math.max(range.high, lowestForLog(range)) : range.high) - first;
  if (!(width > 0)) return () => 0.5;
  return (/** @type {number} */ x) => Math.min(Math.max((bending(x) - first) / width, 0), 1);
}

/** The number at a position between 0 and 1. @param {ScaleName} scale @param {Range} range @param {number} place */
export function numberAt(scale, range, place) {
  /** @param {number} low @param {number} high */
  const between = (low, high) => low * (1 - place) + high * place;
  if (scale === "linear") return between(range.low, range.high);
  if (scale === "log") {
    const low = lowestForLog(range);
    return 10 ** between(Math.log10(low), Math.log10(Math.max(range.high, low)));
  }
  const near = nearZero(range);
  const at = between(bent(range.low, near), bent(range.high, near));
  return Math.sign(at) * (10 ** Math.abs(at) - 1) * near;
}

/** The range with zero in its middle. @param {Range} range @returns {Range} */
export function aroundZero({ low, high }) {
  const far = Math.max(Math.abs(low), Math.abs(high));
  return { low: -far, high: far };
}
