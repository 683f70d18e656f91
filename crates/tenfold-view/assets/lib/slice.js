// Choice of the slice: the two axes drawn, and positions in the others.

import { Group, Select, Slider } from "../widgets/control.js";
import { html } from "./ui.js";
import { dimName } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./api.js").TensorFacts} TensorFacts */

/** Sliders for all dimensions except some. @param {{view: View, facts: TensorFacts, change: import("./view.js").Change,
 *   but: (number | null)[]}} props */
export function Cuts({ view, facts, change, but }) {
  return facts.dims.map((dim, axis) =>
    but.includes(axis)
      ? null
      : html`<${Slider}
          key=${axis}
          label=${dimName(facts, axis)}
          value=${view.at[axis] ?? 0}
          size=${dim.size ?? 0}
          onChange=${(/** @type {number} */ i) => change({ at: view.at.map((old, k) => (k === axis ? i : old)) })}
        />`,
  );
}

/** @param {{view: View, facts: TensorFacts, change: import("./view.js").Change}} props */
export function Slice({ view, facts, change }) {
  if (facts.dims.length < 2) return null;
  const options = facts.dims.map((_, axis) => ({ value: String(axis), label: dimName(facts, axis) }));
  /** Choosing the axis of the other side swaps the two. @param {"rows" | "cols"} side @param {number} axis */
  const choose = (side, axis) => {
    const other = side === "rows" ? "cols" : "rows";
    change({ [side]: axis, ...(view[other] === axis ? { [other]: view[side] } : {}), region: null });
  };
  return html`<${Group} title="Slice">
    <div class="pair">
      <${Select}
        label="Rows"
        value=${String(view.rows)}
        options=${options}
        onChange=${(/** @type {string} */ axis) => choose("rows", Number(axis))}
      />
      <button
        type="button"
        class="icon"
        aria-label="Transpose"
        title="Transpose"
        onClick=${() => change({ rows: view.cols, cols: view.rows, region: null })}
      >⇄</button>
      <${Select}
        label="Columns"
        value=${String(view.cols)}
        options=${options}
        onChange=${(/** @type {string} */ axis) => choose("cols", Number(axis))}
      />
    </div>
    <${Cuts} view=${view} facts=${facts} change=${change} but=${[view.rows, view.cols]} />
  <//>`;
}
