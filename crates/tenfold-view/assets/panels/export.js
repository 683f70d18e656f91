// Export of the displayed part.

import { address } from "../lib/api.js";
import { Group } from "../widgets/control.js";
import { numpy, show } from "../lib/expression.js";
import { grouped } from "../lib/number.js";
import { html, useState } from "../lib/ui.js";
import { sliceQuery } from "../lib/view.js";

/** @typedef {import("../lib/view.js").View} View */

/** Differences have no expression for other programs.
 * @param {{view: View, facts: import("../lib/api.js").TensorFacts, file: import("../lib/api.js").FileFacts,
 *   part: import("../lib/region.js").Region, onPicture?: () => void, other?: [number, number]}} props */
export function Export({ view, facts, file, part, onPicture, other }) {
  const query = {
    ...sliceQuery(view),
    ...(other ? { with: other.join(",") } : {}),
    r0: part.r0,
    r1: part.r1,
    c0: part.c0,
    c1: part.c1,
  };
  const count = (part.r1 - part.r0) * (part.c1 - part.c0);
  const words = numpy(view, facts, part, file);
  return html`<${Group} title=${other ? "Export A − B" : "Export"}>
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
    ${
      other
        ? null
        : html`<div class="buttons">
          ${words ? html`<${Copy} label="Copy as NumPy" text=${words} />` : null}
          <${Copy} label="Copy as tenfold show" text=${show(view, facts, part)} />
        </div>`
    }
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
