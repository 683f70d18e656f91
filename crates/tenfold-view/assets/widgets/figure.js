// Export of pictures: the screen with a color legend, as an image.

import { css, table } from "../lib/colormap.js";
import { short } from "../lib/number.js";
import { ends } from "./painter.js";
import { numberAt } from "../lib/scale.js";
import { ink } from "./theme.js";

/** @typedef {import("./painter.js").Paint} Paint */

const HEAD = 34;
const LEGEND = 104;
const BAR = { left: 12, top: 40, width: 16 };
const FONT = "'DejaVu Sans Mono', ui-monospace, monospace";

/** Pictures side by side below a title, with a color bar if they share one.
 * @param {HTMLCanvasElement[]} pictures @param {string} title @param {Paint | null} paint */
export function figure(pictures, title, paint) {
  const scale = Math.min(devicePixelRatio || 1, 2);
  const width = pictures.reduce((sum, one) => sum + one.width, 0);
  const height = Math.max(...pictures.map((one) => one.height));
  const canvas = document.createElement("canvas");
  canvas.width = width + (paint ? LEGEND * scale : 0);
  canvas.height = height + HEAD * scale;
  const pen = canvas.getContext("2d");
  if (!pen) return canvas;
  pen.fillStyle = ink("stage");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  let left = 0;
  for (const one of pictures) {
    pen.drawImage(one, left, HEAD * scale);
    left += one.width;
  }
  pen.scale(scale, scale);
  pen.fillStyle = ink("text");
  pen.font = `600 13px ${FONT}`;
  pen.textBaseline = "middle";
  pen.fillText(title, 12, HEAD / 2);
  if (paint) drawBar(pen, paint, width / scale, height / scale);
  return canvas;
}

/** @param {CanvasRenderingContext2D} pen @param {Paint} paint @param {number} left @param {number} height */
function drawBar(pen, paint, left, height) {
  const colours = table(paint.map);
  const long = Math.max(height - BAR.top - 20, 20);
  const [x, top] = [left + BAR.left, HEAD + BAR.top];
  for (let i = 0; i < 256; i += 1) {
    pen.fillStyle = css([colours[i * 3] ?? 0, colours[i * 3 + 1] ?? 0, colours[i * 3 + 2] ?? 0]);
    pen.fillRect(x, top + ((255 - i) / 256) * long, BAR.width, long / 256 + 0.5);
  }
  pen.fillStyle = ink("text");
  pen.font = `11px ${FONT}`;
  for (const place of [0, 0.25, 0.5, 0.75, 1]) {
    pen.fillText(short(numberAt(paint.scale, ends(paint), place), 3), x + BAR.width + 6, top + (1 - place) * long);
  }
}

/** Starts a download. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A file name that is valid on every system. @param {string} name @param {string} ending */
export const harmless = (name, ending) => `${name.replace(/[^\w.-]+/g, "_") || "tensor"}.${ending}`;

/** @param {HTMLCanvasElement} canvas @param {string} name */
export function saveCanvas(canvas, name) {
  canvas.toBlob((blob) => {
    if (blob) save(blob, harmless(name, "png"));
  });
}
