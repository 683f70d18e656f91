// The files and their tensors, on the left.

import { bytes, grouped } from "../lib/number.js";
import { useSize } from "../lib/fetch.js";
import { html, useEffect, useMemo, useReducer, useRef, useState } from "../lib/ui.js";

/** @typedef {import("../lib/api.js").FileFacts} FileFacts */
/** @typedef {import("../lib/api.js").Listing} Listing */
/** @typedef {import("../widgets/tree.js").Names} Names */
/** @typedef {import("../widgets/tree.js").Line} Line */

const LINE = 28;
/** Lines rendered above and below the visible ones. */
const MORE = 8;

/** @param {(number | null)[]} shape */
const shapeText = (shape) => (shape.length ? shape.map((size) => size ?? "{}").join("×") : "scalar");

/** @param {{files: FileFacts[], file: number, tensor: number, listing: Listing | null, names: Names | null,
 *   search: string, onSearch: (text: string) => void, onOpen: (file: number, tensor: number) => void}} props */
export function Browser({ files, file, tensor, listing, names, search, onSearch, onOpen }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  useEffect(() => list.current?.querySelector(".on")?.scrollIntoView({ block: "nearest" }), [file, files.length]);
  return html`<nav class="browser" aria-label="Files and tensors">
    <ul class="files" aria-label="Files" ref=${list}>
      ${files.map(
        (one, i) => html`<li key=${i}>
          <button
            type="button"
            class=${i === file ? "file on" : "file"}
            aria-current=${i === file ? "true" : null}
            onClick=${() => onOpen(i, 0)}
          >
            <span class="file-name">${one.name}</span>
            <span class="file-about">${one.format}<i>·</i>${bytes(one.bytes)}<i>·</i>${grouped(one.tensors)} ${one.tensors === 1 ? "tensor" : "tensors"}</span>
          </button>
        </li>`,
      )}
    </ul>
    <div class="search">
      <input
        ref=${input}
        type="search"
        class="search-field"
        placeholder="Search tensors"
        aria-label="Search tensors"
        aria-keyshortcuts="/"
        spellcheck=${false}
        value=${search}
        onInput=${(/** @type {Event} */ event) => onSearch(/** @type {HTMLInputElement} */ (event.target).value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
          if (event.key === "Escape") {
            onSearch("");
            input.current?.blur();
          }
          const first = names?.matching(search)[0];
          if (event.key === "Enter" && first !== undefined) onOpen(file, first);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
    ${
      listing && names
        ? html`<${List}
            key=${file}
            file=${file}
            tensor=${tensor}
            listing=${listing}
            names=${names}
            search=${search}
            onOpen=${onOpen}
          />`
        : html`<p class="hint pad">reading the list…</p>`
    }
  </nav>`;
}

/** Arrows go from line to line. @param {KeyboardEvent} event */
function walk(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const lines = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll(".line")];
  const next = by && lines[lines.indexOf(/** @type {Element} */ (event.target)) + by];
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}

/** The tree; only its visible lines are in the page. @param {{file: number, tensor: number,
 *   listing: Listing, names: Names, search: string, onOpen: (file: number, tensor: number) => void}} props */
function List({ file, tensor, listing, names, search, onOpen }) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  const size = useSize(ref);
  const [top, setTop] = useState(0);
  const [folds, refold] = useReducer((/** @type {number} */ n) => n + 1, 0);
  const lines = useMemo(() => names.lines(search), [names, search, folds]);
  useEffect(() => {
    names.reveal(tensor);
    refold(0);
  }, [tensor, names]);
  useEffect(() => {
    const at = lines.findIndex((line) => line.kind === "tensor" && line.tensor === tensor);
    const list = ref.current;
    if (at < 0 || !list) return;
    const y = at * LINE;
    if (y < list.scrollTop || y + LINE > list.scrollTop + list.clientHeight) list.scrollTop = y - list.clientHeight / 2;
  }, [tensor, lines.length]);
  const first = Math.max(0, Math.floor(top / LINE) - MORE);
  const last = Math.min(lines.length, Math.ceil((top + (size.height || 600)) / LINE) + MORE);
  /** @param {string} path */
  const fold = (path) => {
    if (!names.open.delete(path)) names.open.add(path);
    refold(0);
  };
  return html`<div class="tree-head">
      <span>${search.trim() ? "found" : "tensors"}</span><span class="count">${grouped(search.trim() ? lines.length : listing.names.length)}</span>
    </div>
    <div class="tree" ref=${ref} onKeyDown=${walk} onScroll=${() => setTop(ref.current?.scrollTop ?? 0)}>
      <div class="tree-all" style=${{ height: `${lines.length * LINE}px` }} role="list" aria-label="Tensors">
        ${lines.slice(first, last).map((line, i) => {
          const style = { top: `${(first + i) * LINE}px`, paddingLeft: `${12 + line.depth * 14}px` };
          return line.kind === "group"
            ? html`<div role="listitem" key=${`g${line.path}`}>
                <button
                  type="button"
                  class="line group-line"
                  style=${style}
                  aria-expanded=${line.isOpen ? "true" : "false"}
                  onClick=${() => fold(line.path)}
                >
                  <span
                    class="twist"
                    aria-hidden="true"
                  ></span><span class="label">${line.label}</span><span class="about">${grouped(line.count)}</span>
                </button>
              </div>`
            : html`<div role="listitem" key=${`t${line.tensor}`}>
                <button
                  type="button"
                  class=${line.tensor === tensor ? "line on" : "line"}
                  style=${style}
                  title=${listing.names[line.tensor] ?? ""}
                  aria-current=${line.tensor === tensor ? "true" : null}
                  onClick=${() => onOpen(file, line.tensor)}
                >
                  <span class=${`glyph ${listing.kinds[line.tensor] ?? ""}`} aria-hidden="true"></span>
                  <span class="label">${line.label || "unnamed"}</span>
                  <span class="about">${listing.dtypes[line.tensor]} ${shapeText(listing.shapes[line.tensor] ?? [])}</span>
                </button>
              </div>`;
        })}
      </div>
    </div>`;
}
