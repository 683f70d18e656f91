// The blocks of a labeled tensor, or the cells of a sparse one.

import * as api from "../lib/api.js";
import { Notice } from "../widgets/control.js";
import { grouped } from "../lib/number.js";
import { useAnswer } from "../lib/fetch.js";
import { html, useEffect, useState } from "../lib/ui.js";

const PAGE = 100;

/** @param {import("./heat.js").PanelProps} props */
export function Blocks({ view, facts }) {
  const [filter, setFilter] = useState("");
  const [offset, setOffset] = useState(0);
  useEffect(() => setOffset(0), [filter, view.file, view.tensor]);
  const query = { file: view.file, tensor: view.tensor, filter, offset, limit: PAGE };
  const { answer, error } = useAnswer(JSON.stringify(query), (signal) => api.blocks(query, signal), 80);
  const what = facts.kind === "labelled" ? "blocks" : "cells";
  return html`<div class="bench single">
    <div class="stage">
      <div class="bar-row">
        <label class="field grow">
          <span class="field-label">Filter</span>
          <input
            type="search"
            value=${filter}
            placeholder="part of a label"
            onInput=${(/** @type {Event} */ event) => setFilter(/** @type {HTMLInputElement} */ (event.target).value)}
          />
        </label>
        ${answer ? html`<p class="hint" role="status">${grouped(answer.matching)} of ${grouped(answer.total)} ${what}</p>` : null}
        <div class="buttons">
          <button
            type="button"
            disabled=${offset === 0}
            onClick=${() => setOffset(Math.max(0, offset - PAGE))}
          >Earlier</button>
          <button
            type="button"
            disabled=${!answer || offset + PAGE >= answer.matching}
            onClick=${() => setOffset(offset + PAGE)}
          >Later</button>
        </div>
      </div>
      ${error ? html`<${Notice} words=${error} isError=${true} />` : null}
      ${answer ? html`<${List} answer=${answer} offset=${offset} />` : null}
    </div>
  </div>`;
}

/** @param {{answer: import("../lib/api.js").BlocksAnswer, offset: number}} props */
function List({ answer, offset }) {
  return html`<div class="scroll">
    <table class="blocks">
      <thead>
        <tr>
          <th scope="col" class="index">#</th>
          ${answer.dims.map((dim, axis) => html`<th scope="col">${dim ?? `axis ${axis}`}</th>`)}
          <th scope="col">values</th>
        </tr>
      </thead>
      <tbody>
        ${answer.blocks.map(
          (block, i) => html`<tr key=${offset + i}>
            <td class="index">${offset + i}</td>
            ${block.labels.map((label) => html`<td class="tag"><span>${String(label)}</span></td>`)}
            <td class="values">
              ${block.values.map((value) => html`<span>${value}</span>`)}
              ${block.count > block.values.length ? html`<em>and ${grouped(block.count - block.values.length)} more</em>` : null}
            </td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
