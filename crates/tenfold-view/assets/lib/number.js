// Number formats.

/** @typedef {"exact" | "short" | "fixed" | "scientific"} FormatName */

/** @type {FormatName[]} */
export const FORMATS = ["exact", "short", "fixed", "scientific"];

/** A number in few characters. @param {number} x @param {number} [digits] */
export function short(x, digits = 4) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "NaN" : x > 0 ? "inf" : "-inf";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3)
    return x
      .toExponential(digits - 1)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e");
  return String(Number(x.toPrecision(digits)));
}

/** Plain numbers, which the other formats change; integers are kept. */
const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** The exact text of a value in another format. @param {string} text @param {FormatName} format */
export function formatted(text, format) {
  if (format === "exact" || !PLAIN.test(text) || /^[+-]?\d+$/.test(text)) return text;
  const x = Number(text);
  if (format === "fixed") return x.toFixed(4);
  if (format === "scientific") return x.toExponential(4);
  return short(x, 5);
}

/** A count with thin spaces between thousands. @param {number} n */
export function grouped(n) {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/** A size in bytes. @param {number} n */
export function bytes(n) {
  if (n < 1024) return `${n} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
  let [size, unit] = [n / 1024, 0];
  while (Number(size.toFixed(1)) >= 1024 && unit < units.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `${size.toFixed(1)} ${units[unit]}`;
}

/** @param {number} share */
export function percent(share) {
  return `${short(share * 100, 3)} %`;
}

/** A step of 1, 2 or 5 times a power of ten, about `count` in a length. @param {number} length @param {number} count */
export function step(length, count) {
  const raw = Math.max(length / Math.max(count, 1), 1e-12);
  const power = 10 ** Math.floor(Math.log10(raw));
  const nice = [1, 2, 5, 10].find((one) => one * power >= raw * 0.999) ?? 10;
  return nice * power;
}
