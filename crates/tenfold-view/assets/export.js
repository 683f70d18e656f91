// What is on the screen, to take away.

import { address } from "./api.js";
import { Group } from "./control.js";
import { numpy, show } from "./expression.js";
import { grouped } from "./number.js";
import { html, useState } from "./ui.js";
import { sliceQuery } from "./view.js";

/** @typedef {import("./view.js").View} View */

/** @param {{view: View, facts: import("./api.js").TensorFacts, file: import("./api.js").FileFacts,
 *   part: import("./region.js").Region, onPicture?: () => void}} props */
export function Export({ view, facts, file, part, onPicture }) {
  const query = { ...sliceQuery(view), r0: part.r0, r1: part.r1, c0: part.c0, c1: part.c1 };
  const count = (part.r1 - part.r0) * (part.c1 - part.c0);
  return html`<${Group} title="Export">
    <p class="hint">${grouped(part.r1 - part.r0)} × ${grouped(part.c1 - part.c0)} cells on the screen</p>
    <div class="buttons">
      ${["npy", "csv", "json"].map(
        (form) =>
          html`<a
            key=${form}
            class="button"
            download
            href=${address("export", { ...query, as: form })}
            aria-disabled=${count ? null : "true"}
          >${form}</a>`,
      )}
      ${onPicture ? html`<button type="button" onClick=${onPicture}>png</button>` : null}
    </div>
    <div class="buttons">
      <${Copy} label="Copy as NumPy" text=${numpy(view, facts, part, file)} />
      <${Copy} label="Copy as tenfold show" text=${show(view, facts, part)} />
    </div>
  <//>`;
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
