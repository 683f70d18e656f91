// The keys and gestures, in a dialog.

import { html, useEffect, useRef } from "../lib/ui.js";

const KEYS = [
  ["/", "search tensors"],
  ["j  k", "next, previous tensor"],
  ["[  ]", "previous, next slice"],
  ["← → ↑ ↓", "pan"],
  ["shift + arrows", "move the cursor, cell by cell"],
  ["+  −", "zoom in, out"],
  ["0", "show everything"],
  ["1 … 7", "heat map, lines, and the other tabs"],
  ["d", "light or dark"],
  ["?", "this dialog"],
];

const HANDS = [
  ["drag", "pan"],
  ["wheel or pinch", "zoom around the cursor"],
  ["shift + drag", "zoom to a box"],
  ["double click", "show everything"],
];

/** @param {{isOpen: boolean, onClose: () => void}} props */
export function Help({ isOpen, onClose }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    if (isOpen && !ref.current?.open) ref.current?.showModal();
    if (!isOpen) ref.current?.close();
  }, [isOpen]);
  /** @param {string[][]} list */
  const rows = (list) =>
    list.map(([keys, what]) => html`<div key=${keys}><dt><kbd>${keys}</kbd></dt><dd>${what}</dd></div>`);
  return html`<dialog ref=${ref} class="help" aria-label="Keys and gestures" onClose=${onClose}>
    <header>
      <h2>Keys and gestures</h2>
      <button type="button" class="icon" aria-label="Close" onClick=${onClose}>✕</button>
    </header>
    <dl>${rows(KEYS)}</dl>
    <h3>On a picture</h3>
    <dl>${rows(HANDS)}</dl>
    <p class="hint">The address of this page holds what you see: a copy of it brings you back.</p>
  </dialog>`;
}
