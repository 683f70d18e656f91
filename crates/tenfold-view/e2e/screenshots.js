// Draws the pictures of the viewer in `docs/pictures`, from the files of the demo.

import { mkdirSync } from "node:fs";
import path from "node:path";
import { browser, demo, ROOT, tenfold, Viewer, Visit } from "./viewer.js";

const FILES = [
  "integrals.tens",
  "model.model",
  "weights.zt",
  "weights-next.zt",
  "catalogue.tbf",
  "field.npy",
  "field.blz",
];

/** @typedef {{name: string, fragment: string, colorScheme: "light" | "dark", act?: (visit: Visit) => Promise<void>}} Picture */

const folder = demo();
const info = JSON.parse(tenfold(["info", "--json", path.join(folder, "weights.zt")]));
const weight = info.tensors.findIndex((/** @type {{name: string}} */ one) => one.name === "decoder.weight");

/** @type {Picture[]} */
const PICTURES = [
  {
    name: "view-heat",
    fragment: "#file=5&tab=heat&at=9,0,0",
    colorScheme: "light",
    act: async (visit) => {
      const { x, y } = await visit.cell(15, 9, 24, 24);
      await visit.page.mouse.move(x, y);
    },
  },
  {
    name: "view-compare",
    fragment: `#file=2&tensor=${weight}&tab=compare&with=3,${weight}&rows=1&cols=0&map=cividis`,
    colorScheme: "dark",
    act: (visit) => visit.page.getByRole("button", { name: "Go to cell 4, 10" }).click(),
  },
  { name: "view-symmetry", fragment: "#file=0&tab=heat&overlay=stored&scale=symlog&at=2,1", colorScheme: "light" },
];

const viewer = await Viewer.start(FILES, folder);
const chromium = await browser();
const target = path.join(ROOT, "docs/pictures");
mkdirSync(target, { recursive: true });
for (const { name, fragment, colorScheme, act } of PICTURES) {
  const visit = await Visit.open(chromium, viewer, fragment, { colorScheme });
  await visit.drawn();
  await act?.(visit);
  await visit.page.waitForLoadState("networkidle");
  await visit.page.waitForTimeout(300);
  await visit.page.screenshot({ path: path.join(target, `${name}.png`) });
  await visit.close();
}
await chromium.close();
viewer.stop();
