// Color legend of a picture.

import { css, SPECIAL, table } from "../lib/colormap.js";
import { short } from "../lib/number.js";
import { ends } from "./painter.js";
import { numberAt } from "../lib/scale.js";
import { html, useLayoutEffect, useRef } from "../lib/ui.js";

/** @typedef {import("./painter.js").Paint} Paint */

const STEPS = 256;
const PLACES = [1, 0.75, 0.5, 0.25, 0];

/** A number of the color bar; negligible ones, relative to the range, are zero. @param {number} x @param {import("../lib/scale.js").Range} range */
const tick = (x, { low, high }) => short(Math.abs(x) < Math.max(Math.abs(low), Math.abs(high)) * 1e-9 ? 0 : x, 3);

/** The color bar with its numbers, and the colors of non-finite numbers. @param {{paint: Paint}} props */
export function Legend({ paint }) {
  const ref = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useLayoutEffect(() => {
    const pen = ref.current?.getContext("2d");
    if (!pen) return;
    const colours = table(paint.map);
    for (let i = 0; i < STEPS; i += 1) {
      pen.fillStyle = css([colours[i * 3] ?? 0, colours[i * 3 + 1] ?? 0, colours[i * 3 + 2] ?? 0]);
      pen.fillRect(0, STEPS - 1 - i, 1, 1);
    }
  }, [paint.map, paint.overlay]);
  const range = ends(paint);
  const specials = [
    ["NaN", css(SPECIAL.nan)],
    ["+inf", css(SPECIAL.above)],
    ["−inf", css(SPECIAL.below)],
  ];
  return html`<aside class="legend" aria-label="Legend">
    ${
      paint.overlay === "spy"
        ? html`<ul class="swatches"><li><i class="spy-stored"></i>stored</li><li><i class="spy-implied"></i>implied</li></ul>`
        : html`<div class="bar">
            <canvas ref=${ref} width="1" height=${STEPS} aria-hidden="true"></canvas>
            <ol>
              ${PLACES.map((place) => html`<li key=${place}>${tick(numberAt(paint.scale, range, place), range)}</li>`)}
            </ol>
          </div>
          <ul class="swatches">
            ${specials.map(([name, colour]) => html`<li key=${name}><i style=${{ background: colour }}></i>${name}</li>`)}
            ${paint.overlay === "stored" ? html`<li><i class="faded"></i>implied</li>` : null}
          </ul>`
    }
  </aside>`;
}
