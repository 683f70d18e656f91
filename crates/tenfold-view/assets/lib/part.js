// Choice of the displayed component of complex and hypercomplex numbers.

import { Select } from "../widgets/control.js";
import { html } from "./ui.js";
import { partsOf } from "./view.js";

/** @param {{view: import("./view.js").View, facts: import("./api.js").TensorFacts,
 *   change: import("./view.js").Change}} props */
export function PartOf({ view, facts, change }) {
  const parts = partsOf(facts);
  if (parts.length < 2) return null;
  return html`<${Select}
    label="Part"
    value=${view.part}
    options=${parts.map((part) => ({ value: part, label: part }))}
    onChange=${(/** @type {string} */ part) => change({ part })}
  />`;
}
