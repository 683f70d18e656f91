// Choice of the tensor to compare with.

import { Group, Select } from "../widgets/control.js";
import { grouped } from "../lib/number.js";
import { html, useEffect, useState } from "../lib/ui.js";

/** @typedef {import("./heat.js").PanelProps} PanelProps */
/** @typedef {import("../lib/api.js").Listing} Listing */

/** Most choices in a list, and most without a search. */
const MOST = 200;
const FEW = 12;

/** The family of a number type: only numbers of the same family have a difference. @param {string} dtype */
function family(dtype) {
  if (/^c\d/.test(dtype)) return "complex";
  return dtype.includes("<") ? dtype.replace(/<.*/, "") : "real";
}

/** The tensors of a list that another can be compared with.
 * @param {Listing} listing @param {PanelProps["facts"]} facts @returns {number[]} */
function alike(listing, facts) {
  const shape = JSON.stringify(facts.dims.map((dim) => dim.size));
  /** @param {number} i */
  const fits = (i) =>
    JSON.stringify(listing.shapes[i]) === shape &&
    listing.kinds[i] !== "opaque" &&
    family(listing.dtypes[i] ?? "") === family(facts.dtype);
  return listing.names.flatMap((_, i) => (fits(i) ? [i] : []));
}

/** The chosen tensor, otherwise the likeliest: one of the same name in another file, then any of the same shape.
 * @param {PanelProps} props @returns {[number, number] | null} */
export function useOther({ view, facts, files, listings, load }) {
  const order = files.map((_, i) => (view.file + 1 + i) % files.length);
  const missing = order.find((file) => !listings.has(file));
  useEffect(() => {
    if (view.with === null && missing !== undefined) load(missing);
    else if (view.with && !listings.has(view.with[0])) load(view.with[0]);
  }, [missing, view.with?.[0]]);
  if (view.with && files[view.with[0]]) return view.with;
  /** @type {[number, number] | null} */
  let found = null;
  for (const file of order) {
    const listing = listings.get(file);
    if (!listing) continue;
    for (const tensor of alike(listing, facts)) {
      if (file === view.file && tensor === view.tensor) continue;
      if (file !== view.file && listing.names[tensor] === facts.name) return [file, tensor];
      found ??= [file, tensor];
    }
  }
  return missing === undefined ? found : null;
}

/** @param {PanelProps & {other: [number, number] | null}} props */
export function Other({ view, facts, files, listings, load, change, other }) {
  const [wanted, setWanted] = useState(/** @type {number | null} */ (null));
  const [search, setSearch] = useState("");
  const file = wanted ?? other?.[0] ?? view.file;
  const listing = listings.get(file);
  useEffect(() => {
    if (!listing) load(file);
  }, [file]);
  const isItself = (/** @type {number} */ i) => file === view.file && i === view.tensor;
  const all = listing ? alike(listing, facts).filter((i) => !isItself(i)) : [];
  const text = search.toLowerCase();
  const found = all.filter((i) => (listing?.names[i] ?? "").toLowerCase().includes(text));
  const choices = found.slice(0, MOST);
  const chosen = other && other[0] === file ? other[1] : null;
  const options = choices.map((i) => ({ value: String(i), label: listing?.names[i] || "unnamed" }));
  if (chosen === null || !choices.includes(chosen)) {
    options.unshift({ value: "", label: choices.length ? "choose…" : "none of this shape" });
  }
  return html`<${Group} title="Compare with">
    <${Select}
      label="File of B"
      value=${String(file)}
      options=${files.map((one, i) => ({ value: String(i), label: one.name }))}
      onChange=${(/** @type {string} */ next) => setWanted(Number(next))}
    />
    ${
      all.length > FEW
        ? html`<label class="field">
          <span class="field-label">Search B</span>
          <input
            type="search"
            value=${search}
            onInput=${(/** @type {Event} */ event) => setSearch(/** @type {HTMLInputElement} */ (event.target).value)}
          />
        </label>`
        : null
    }
    <${Select}
      label=${found.length > MOST ? `Tensor B, ${MOST} of ${grouped(found.length)}` : "Tensor B"}
      value=${chosen === null || !choices.includes(chosen) ? "" : String(chosen)}
      options=${options}
      onChange=${(/** @type {string} */ tensor) => {
        if (tensor !== "") change({ with: [file, Number(tensor)] });
        setWanted(null);
      }}
    />
  <//>`;
}
