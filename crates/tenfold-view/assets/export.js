// What is on the screen, to take away.

import { address } from "./api.js";
import { Group } from "./control.js";
import { numpy, show } from "./expression.js";
import { grouped } from "./number.js";
import { html, useState } from "./ui.js";
import { sliceQuery } from "./view.js";

/** @typedef {import("./view.js").View} View */

/** @param {{view: View, facts: import("./api.js").TensorFacts, file: import("./api.js").FileFacts,
 *   part: import("./region.js").Region, canvas?: {current: HTMLCanvasElement | null}}} props */
export function Export({ view, facts, file, part, canvas }) {
  const query = { ...sliceQuery(view), r0: part.r0, r1: part.r1, c0: part.c0, c1: part.c1 };
  const count = (part.r1 - part.r0) * (part.c1 - part.c0);
  return html`<${Group} title="Export">
    <p class="hint">${grouped(part.r1 - part.r0)} × ${grouped(part.c1 - part.c0)} cells on the screen</p>
    <div class="buttons">
      ${["npy", "csv", "json"].map(
        (form) =>
          html`<a key=${form} class="button" download href=${address("export", { ...query, as: form })} aria-disabled=${count ? null : "true"}>${form}</a>`,
      )}
      ${canvas ? html`<button type="button" onClick=${() => save(canvas.current, facts.name)}>png</button>` : null}
    </div>
    <div class="buttons">
      <${Copy} label="Copy as NumPy" text=${numpy(view, facts, part, file)} />
      <${Copy} label="Copy as tenfold show" text=${show(view, facts, part)} />
    </div>
  <//>`;
}

/** @param {HTMLCanvasElement | null} canvas @param {string} name */
function save(canvas, name) {
  canvas?.toBlob((blob) => {
    if (!blob) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${name.replace(/[^\w.-]+/g, "_") || "tensor"}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}

/** @param {{label: string, text: string}} props */
export function Copy({ label, text }) {
  const [state, setState] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      setState("the browser does not allow it");
    }
    setTimeout(() => setState(""), 1600);
  };
  return html`<button type="button" class="copy" title=${text} onClick=${copy}>${state || label}</button>`;
}
