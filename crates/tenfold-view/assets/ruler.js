// The rulers beside a picture: which rows and columns are seen.

import { step } from "./number.js";
import { ink } from "./theme.js";

/** @typedef {import("./region.js").Region} Region */

/** Room for the rulers, in pixels of CSS. */
export const MARGIN = { left: 54, top: 40, right: 10, bottom: 10 };

/** The area between the rulers. @param {{width: number, height: number}} size */
export function inner(size) {
  return {
    width: Math.max(size.width - MARGIN.left - MARGIN.right, 1),
    height: Math.max(size.height - MARGIN.top - MARGIN.bottom, 1),
  };
}

/** The indices that get a tick. @param {number} from @param {number} to @param {number} size @param {number} count */
function ticks(from, to, size, count) {
  const by = Math.max(1, step(to - from, count));
  const found = [];
  const last = Math.min(size - 1, Math.ceil(to));
  for (let i = Math.ceil(Math.max(from - 0.5, 0) / by) * by; i <= last; i += by) {
    if (i + 0.5 >= from && i + 0.5 <= to) found.push(i);
  }
  return found;
}

/** @param {CanvasRenderingContext2D} pen @param {Region} region @param {{width: number, height: number}} size
 * @param {[number, number]} extent @param {[string, string]} names */
export function drawRulers(pen, region, size, [rows, cols], [rowName, colName]) {
  const { width, height } = inner(size);
  const perRow = height / (region.r1 - region.r0);
  const perCol = width / (region.c1 - region.c0);
  pen.font = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
  pen.fillStyle = ink("muted");
  pen.strokeStyle = ink("line-strong");
  pen.lineWidth = 1;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  pen.beginPath();
  for (const i of ticks(region.r0, region.r1, rows, height / 34)) {
    const y = MARGIN.top + (i + 0.5 - region.r0) * perRow;
    pen.moveTo(MARGIN.left - 5, Math.round(y) + 0.5);
    pen.lineTo(MARGIN.left - 1, Math.round(y) + 0.5);
    pen.fillText(String(i), MARGIN.left - 8, y);
  }
  pen.textAlign = "center";
  pen.textBaseline = "bottom";
  for (const i of ticks(region.c0, region.c1, cols, width / 52)) {
    const x = MARGIN.left + (i + 0.5 - region.c0) * perCol;
    pen.moveTo(Math.round(x) + 0.5, MARGIN.top - 5);
    pen.lineTo(Math.round(x) + 0.5, MARGIN.top - 1);
    pen.fillText(String(i), x, MARGIN.top - 7);
  }
  pen.stroke();
  pen.fillStyle = ink("text");
  pen.font = "600 11px system-ui, 'DejaVu Sans', sans-serif";
  pen.fillText(cols > 1 || colName ? `${colName} →` : "", MARGIN.left + width / 2, 14);
  pen.save();
  pen.translate(12, MARGIN.top + height / 2);
  pen.rotate(-Math.PI / 2);
  pen.textBaseline = "middle";
  pen.fillText(rowName ? `← ${rowName}` : "", 0, 0);
  pen.restore();
}
