// Properties of a tensor.

import { bytes, grouped, percent, short } from "../lib/number.js";
import { html } from "../lib/ui.js";

/** @typedef {import("../lib/api.js").TensorFacts} TensorFacts */
/** @typedef {import("../lib/api.js").FileFacts} FileFacts */

/** @param {TensorFacts} facts */
function storage(facts) {
  if (facts.train) return `train, ranks ${facts.train.ranks.join(" ")}`;
  const order = facts.order === "column" ? ", column-major" : "";
  return `${facts.kind}${order}`;
}

/** Any metadata value as text. @param {unknown} value */
const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** Largest group of metadata shown item by item. */
const MANY = 50;

/** Metadata as lines, small groups expanded. @param {Record<string, unknown>} metadata @returns {[string, string][]} */
function opened(metadata) {
  return Object.entries(metadata).flatMap(([key, value]) => {
    const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isGroup || Object.keys(value).length > MANY) return [[key, text(value)]];
    return Object.entries(value).map(
      ([inner, one]) => /** @type {[string, string]} */ ([`${key} / ${inner}`, text(one)]),
    );
  });
}

/** Properties of a file without tensors. @param {{file: FileFacts}} props */
export function FileOnly({ file }) {
  return html`<section class="facts" aria-label="Facts of the file">
    <h2 class="tensor-name">${file.name}<span class="of-file">${file.format}</span></h2>
    <dl class="stats wide">
      ${opened(file.metadata).map(([key, value]) => html`<div key=${key}><dt>${key}</dt><dd>${value}</dd></div>`)}
      ${file.notes.map((note) => html`<div><dt>note</dt><dd>${note}</dd></div>`)}
    </dl>
  </section>`;
}

/** @param {{name: string, children?: unknown}} props */
function Fact({ name, children }) {
  return html`<div class="fact"><dt>${name}</dt><dd>${children}</dd></div>`;
}

/** @param {{facts: TensorFacts}} props */
function Shape({ facts }) {
  if (!facts.dims.length) return html`<span class="shape">scalar</span>`;
  return html`<span class="shape">
    ${facts.dims.map(
      (dim, axis) => html`${axis ? html`<i>×</i>` : null}<span class="dim"
          >${dim.name === null ? null : html`<small>${dim.name}</small>`}<b>${dim.size === null ? `{${dim.labels ?? ""}}` : grouped(dim.size)}</b></span
        >`,
    )}
  </span>`;
}

/** @param {{facts: TensorFacts, file: FileFacts}} props */
export function Facts({ facts, file }) {
  const metadata = opened(facts.metadata);
  const ofFile = opened(file.metadata);
  const count = metadata.length + ofFile.length + file.notes.length + facts.symmetries.length;
  return html`<section class="facts" aria-label="Facts">
    <h2 class="tensor-name">${facts.name || file.name}<span class="of-file">${facts.name ? file.name : "unnamed tensor"}</span></h2>
    <dl class="plate">
      <${Fact} name="shape"><${Shape} facts=${facts} /><//>
      <${Fact} name="type">${facts.dtype}<//>
      <${Fact} name="storage">${storage(facts)}<//>
      ${facts.cells === null ? null : html`<${Fact} name="cells">${grouped(facts.cells)}<//>`}
      ${facts.stored === facts.cells ? null : html`<${Fact} name="stored">${grouped(facts.stored)}<//>`}
      ${facts.density === null ? null : html`<${Fact} name="density">${percent(facts.density)}<//>`}
      ${facts.train ? html`<${Fact} name="compression">${short(facts.train.ratio, 3)} times<//>` : null}
      <${Fact} name="size">${bytes(facts.nbytes)}<//>
      <${Fact} name="format">${file.format}${file.version ? ` ${file.version}` : ""}<//>
      <${Fact} name="checksum">${facts.checksum}<//>
      ${facts.symmetries.length ? html`<${Fact} name="symmetry">${grouped(facts.symmetries.length)}<//>` : null}
    </dl>
    ${
      count
        ? html`<details class="more">
          <summary>Symmetries, metadata and notes <span class="count">${count}</span></summary>
          <dl>
            ${facts.symmetries.map((one) => html`<div><dt>symmetry</dt><dd>${one}</dd></div>`)}
            ${metadata.map(([key, value]) => html`<div><dt>${key}</dt><dd>${value}</dd></div>`)}
            ${ofFile.map(([key, value]) => html`<div><dt>file: ${key}</dt><dd>${value}</dd></div>`)}
            ${file.notes.map((note) => html`<div><dt>note</dt><dd>${note}</dd></div>`)}
          </dl>
        </details>`
        : null
    }
  </section>`;
}
