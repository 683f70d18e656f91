// Rulers beside a picture, with row and column indices.

import { step } from "../lib/number.js";
import { ink } from "./theme.js";

/** @typedef {import("../lib/region.js").Region} Region */

/** @typedef {{width: number, height: number}} Size */

/** Whether a picture is too narrow for the names of dimensions. @param {Size} size */
const isNarrow = (size) => size.width < 340;

/** Space for the rulers, in CSS pixels. @param {Size} size */
export function margin(size) {
  return isNarrow(size) ? { left: 38, top: 24, right: 8, bottom: 8 } : { left: 64, top: 40, right: 10, bottom: 10 };
}

/** The area between the rulers. @param {Size} size */
export function inner(size) {
  const { left, top, right, bottom } = margin(size);
  return { width: Math.max(size.width - left - right, 1), height: Math.max(size.height - top - bottom, 1) };
}

/** The indices with a tick. @param {number} from @param {number} to @param {number} size @param {number} count */
function ticks(from, to, size, count) {
  const by = Math.max(1, step(to - from, count));
  const found = [];
  const last = Math.min(size - 1, Math.ceil(to));
  for (let i = Math.ceil(Math.max(from - 0.5, 0) / by) * by; i <= last; i += by) {
    if (i + 0.5 >= from && i + 0.5 <= to) found.push(i);
  }
  return found;
}

/** @param {CanvasRenderingContext2D} pen @param {Region} region @param {Size} size
 * @param {[number, number]} extent @param {[string, string]} names */
export function drawRulers(pen, region, size, [rows, cols], [rowName, colName]) {
  const { width, height } = inner(size);
  const edge = margin(size);
  const perRow = height / (region.r1 - region.r0);
  const perCol = width / (region.c1 - region.c0);
  // Next to the edge of the tensor, if that is inside the picture.
  const left = Math.max(edge.left, edge.left - region.c0 * perCol);
  const top = Math.max(edge.top, edge.top - region.r0 * perRow);
  pen.font = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
  pen.fillStyle = ink("muted");
  pen.strokeStyle = ink("line-strong");
  pen.lineWidth = 1;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  pen.beginPath();
  for (const i of ticks(region.r0, region.r1, rows, height / 34)) {
    const y = edge.top + (i + 0.5 - region.r0) * perRow;
    pen.moveTo(left - 5, Math.round(y) + 0.5);
    pen.lineTo(left - 1, Math.round(y) + 0.5);
    pen.fillText(String(i), left - 8, y);
  }
  pen.textAlign = "center";
  pen.textBaseline = "bottom";
  for (const i of ticks(region.c0, region.c1, cols, width / 52)) {
    const x = edge.left + (i + 0.5 - region.c0) * perCol;
    pen.moveTo(Math.round(x) + 0.5, top - 5);
    pen.lineTo(Math.round(x) + 0.5, top - 1);
    pen.fillText(String(i), x, top - 7);
  }
  pen.stroke();
  if (isNarrow(size)) return;
  pen.fillStyle = ink("text");
  pen.font = "600 11px system-ui, 'DejaVu Sans', sans-serif";
  pen.fillText(cols > 1 || colName ? `${colName} →` : "", edge.left + width / 2, top - 26);
  pen.save();
  pen.translate(left - edge.left + 11, edge.top + height / 2);
  pen.rotate(-Math.PI / 2);
  pen.textBaseline = "middle";
  pen.fillText(rowName ? `← ${rowName}` : "", 0, 0);
  pen.restore();
}
