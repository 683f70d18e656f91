// The cores of a tensor train, drawn to scale: as wide as their dimension, joined by bonds as thick as the rank.

import { html } from "../lib/ui.js";

/** @typedef {{sizes: number[], ranks: number[], chosen: number, onChoose: (core: number) => void}} Props */

const WIDTH = { least: 34, most: 150 };
const BOND = { least: 2, most: 56, length: 46 };
const HEIGHT = 74;
const MIDDLE = 56;

/** @param {Props} props */
export function Chain({ sizes, ranks, chosen, onChoose }) {
  const largest = Math.max(...sizes, 1);
  const thickest = Math.max(...ranks, 1);
  /** @param {number} size */
  const width = (size) => WIDTH.least + ((WIDTH.most - WIDTH.least) * size) / largest;
  /** @param {number} rank */
  const thickness = (rank) => BOND.least + ((BOND.most - BOND.least) * rank) / thickest;
  let x = 8;
  const cores = sizes.map((size, core) => {
    const at = { core, size, x, w: width(size), rank: ranks[core + 1] ?? 1 };
    x += at.w + BOND.length;
    return at;
  });
  const total = x - BOND.length + 8;
  return html`<div class="chain">
    <svg width=${total} height="118" viewBox=${`0 0 ${total} 118`} role="group" aria-label="Cores of the train">
      ${cores.slice(0, -1).map(({ core, x: left, w, rank }) => {
        const thick = thickness(rank);
        return html`<g key=${`b${core}`} class="bond">
          <rect x=${left + w} y=${MIDDLE - thick / 2} width=${BOND.length} height=${thick} />
          <text x=${left + w + BOND.length / 2} y=${MIDDLE - thick / 2 - 4}>${rank}</text>
        </g>`;
      })}
      ${cores.map(
        ({ core, size, x: left, w }) => html`<g
          key=${core}
          class=${core === chosen ? "core on" : "core"}
          role="button"
          tabindex="0"
          aria-pressed=${core === chosen ? "true" : "false"}
          aria-label=${`Core ${core}: ${ranks[core]} × ${size} × ${ranks[core + 1]}`}
          onClick=${() => onChoose(core)}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
            if (event.key === "Enter" || event.key === " ") {
              event.preventDefault();
              onChoose(core);
            }
          }}
        >
          <rect x=${left} y=${MIDDLE - HEIGHT / 2} width=${w} height=${HEIGHT} rx="4" />
          <text class="size" x=${left + w / 2} y=${MIDDLE + 5}>${size}</text>
          <text x=${left + w / 2} y="110">G${core}</text>
        </g>`,
      )}
    </svg>
    <p class="hint">boxes as wide as the dimension, bonds as thick as the rank between two cores</p>
  </div>`;
}
