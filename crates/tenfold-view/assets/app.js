// The page: the open files, and the panel for the tensor in view.

import * as api from "./lib/api.js";
import { Blocks } from "./panels/blocks.js";
import { Browser } from "./panels/browser.js";
import { Compare } from "./panels/compare.js";
import { Notice } from "./widgets/control.js";
import { Facts, FileOnly } from "./panels/facts.js";
import { Heat } from "./panels/heat.js";
import { Help } from "./widgets/help.js";
import { Histogram } from "./panels/histogram.js";
import { useKeys } from "./widgets/keys.js";
import { Lines } from "./panels/lines.js";
import { Table } from "./widgets/table.js";
import { TrainPanel } from "./panels/train.js";
import { Names } from "./widgets/tree.js";
import { useTheme } from "./widgets/theme.js";
import { html, render, useCallback, useEffect, useMemo, useRef, useState } from "./lib/ui.js";
import { firstTab, fitted, fragment, parseFragment, TABS, tabsOf } from "./lib/view.js";

/** @typedef {import("./lib/view.js").View} View */
/** @typedef {import("./lib/view.js").TabName} TabName */
/** @typedef {import("./lib/api.js").Listing} Listing */
/** @typedef {import("./lib/api.js").FileFacts} FileFacts */
/** @typedef {{file: number, tensor: number, facts: import("./lib/api.js").TensorFacts}} Opened */

const PANELS = {
  heat: Heat,
  lines: Lines,
  histogram: Histogram,
  table: Table,
  blocks: Blocks,
  train: TrainPanel,
  compare: Compare,
};

/** The view, kept in the fragment of the URL. */
function useView() {
  const [view, setView] = useState(() => parseFragment(location.hash));
  const written = useRef(location.hash);
  useEffect(() => {
    const follow = () => {
      if (location.hash !== written.current) setView(parseFragment(location.hash));
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    // Browsers reject frequent changes of the URL: the last change of a movement is kept.
    const timer = setTimeout(() => {
      written.current = fragment(view);
      if (location.hash !== written.current) history.replaceState(null, "", written.current);
    }, 120);
    return () => clearTimeout(timer);
  }, [view]);
  const change = useCallback(
    (/** @type {Partial<View>} */ patch) => setView((/** @type {View} */ old) => ({ ...old, ...patch })),
    [],
  );
  return { view, change };
}

/** Lists of tensors, loaded on demand. */
function useListings() {
  const [listings, setListings] = useState(/** @type {Map<number, Listing>} */ (new Map()));
  const [error, setError] = useState(/** @type {string | null} */ (null));
  const asked = useRef(/** @type {Set<number>} */ (new Set()));
  const load = useCallback(async (/** @type {number} */ file) => {
    if (asked.current.has(file)) return;
    asked.current.add(file);
    try {
      const listing = await api.tensors(file);
      setListings((/** @type {Map<number, Listing>} */ old) => new Map(old).set(file, listing));
    } catch (why) {
      setError(api.words(why));
    }
  }, []);
  return { listings, load, error };
}

/** The properties of the tensor in view. @param {View} view @param {FileFacts[]} files */
function useOpened(view, files) {
  const [opened, setOpened] = useState(/** @type {Opened | null} */ (null));
  const [error, setError] = useState(/** @type {string | null} */ (null));
  const { file, tensor } = view;
  useEffect(() => {
    let isCurrent = true;
    setError(null);
    if (!files.length) return undefined;
    if (!files[file]?.tensors) {
      setOpened(null);
      setError(files[file] ? "this file holds no tensors" : "there is no such file");
      return undefined;
    }
    api.tensor(file, tensor).then(
      (facts) => isCurrent && setOpened({ file, tensor, facts }),
      (why) => {
        if (!isCurrent) return;
        setOpened(null);
        setError(api.words(why));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [file, tensor, files]);
  return { opened, error };
}

function App() {
  const { view, change } = useView();
  const { isDark, toggle } = useTheme();
  const [files, setFiles] = useState(/** @type {FileFacts[]} */ ([]));
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const [search, setSearch] = useState("");
  const [isHelping, setHelping] = useState(false);
  const [isListOpen, setListOpen] = useState(false);
  const { listings, load, error: listError } = useListings();
  const { opened, error } = useOpened(view, files);
  useEffect(() => {
    api.files().then(
      (answer) => setFiles(answer.files),
      (why) => setFailure(api.words(why)),
    );
  }, []);
  useEffect(() => {
    if (files[view.file]?.tensors) load(view.file);
  }, [view.file, files]);
  const listing = listings.get(view.file) ?? (files[view.file]?.tensors === 0 ? NO_TENSORS : null);
  const names = useMemo(() => (listing ? new Names(listing.names) : null), [listing]);
  const file = opened ? files[opened.file] : undefined;
  // Until the new facts arrive, these are those of the previous tensor; the panel keeps both consistent.
  const shown = opened ? fitted({ ...view, file: opened.file, tensor: opened.tensor }, opened.facts) : view;
  const tabs = opened ? tabsOf(opened.facts) : [];
  useEffect(() => {
    document.title = opened ? `${opened.facts.name || file?.name} · Tenfold` : "Tenfold";
  }, [opened]);

  /** @param {number} at @param {number} tensor */
  const open = (at, tensor) => {
    // The next tensor inherits the fitted view, as far as it applies.
    const keeps = at === shown.file && tensor === shown.tensor ? {} : { with: null };
    if (at !== view.file) setSearch("");
    const first = at === view.file ? tensor : firstOf(listings.get(at), tensor);
    change({ ...shown, file: at, tensor: first, tab: stays(shown, opened), ...keeps });
    setListOpen(false);
  };
  /** The panels change the fitted view, not that of the link. @param {Partial<View>} patch */
  const adjust = (patch) => change({ ...shown, ...patch, file: view.file, tensor: view.tensor });
  useKeys((event) => {
    const { key } = event;
    if (key === "/") /** @type {HTMLInputElement | null} */ (document.querySelector(".search-field"))?.focus();
    else if (key === "?") setHelping(true);
    else if (key === "d") toggle();
    else if (key === "j" || key === "k")
      step(names, search, view.tensor, key === "j" ? 1 : -1, (tensor) => open(view.file, tensor));
    else if ((key === "[" || key === "]") && opened) adjust({ at: cut(shown, opened.facts, key === "]" ? 1 : -1) });
    else if (/^[1-7]$/.test(key) && tabs[Number(key) - 1]) adjust({ tab: tabs[Number(key) - 1] ?? null });
    else return false;
    return true;
  });
  const isEmpty = opened?.facts.cells === 0 && shown.tab !== "train" && shown.tab !== "blocks";
  const problem = failure ?? listError ?? error;
  const Panel = shown.tab && !isEmpty ? PANELS[shown.tab] : null;
  return html`<div class=${isListOpen ? "app list-open" : "app"}>
    <header class="top">
      <button
        type="button"
        class="icon menu"
        aria-label="Files and tensors"
        aria-expanded=${isListOpen ? "true" : "false"}
        onClick=${() => setListOpen(!isListOpen)}
      >☰</button>
      <h1 class="brand"><img src="/assets/icon.svg" alt="" width="22" height="22" />Tenfold</h1>
      <span class="spacer"></span>
      <button
        type="button"
        class="icon"
        aria-label=${isDark ? "Light" : "Dark"}
        title="Light or dark (d)"
        onClick=${toggle}
      >${isDark ? "☀" : "☾"}</button>
      <button
        type="button"
        class="icon"
        aria-label="Keys and gestures"
        title="Keys and gestures (?)"
        onClick=${() => setHelping(true)}
      >?</button>
    </header>
    <${Browser}
      files=${files}
      file=${view.file}
      tensor=${view.tensor}
      listing=${listing}
      names=${names}
      search=${search}
      onSearch=${setSearch}
      onOpen=${open}
    />
    <main>
      ${problem ? html`<${Notice} words=${problem} isError=${problem !== error} />` : null}
      ${!opened && files[view.file] ? html`<${FileOnly} file=${files[view.file]} />` : null}
      ${
        opened && file
          ? html`<${Facts} facts=${opened.facts} file=${file} />
            <${Tabs} tabs=${tabs} tab=${shown.tab} onTab=${(/** @type {TabName} */ tab) => adjust({ tab })} />
            ${opened.facts.drawable ? null : html`<p class="hint pad why">${opened.facts.why}</p>`}
            ${isEmpty ? html`<${Notice} words="this tensor has no cells" />` : null}
            ${
              Panel
                ? html`<div class="panel" role="tabpanel" aria-label=${TABS[/** @type {TabName} */ (shown.tab)]}>
                  <${Panel}
                    view=${shown}
                    facts=${opened.facts}
                    file=${file}
                    files=${files}
                    listings=${listings}
                    load=${load}
                    change=${adjust}
                    isDark=${isDark}
                  />
                </div>`
                : null
            }`
          : null
      }
    </main>
    <${Help} isOpen=${isHelping} onClose=${() => setHelping(false)} />
  </div>`;
}

/** @type {Listing} */
const NO_TENSORS = { names: [], dtypes: [], shapes: [], kinds: [] };

/** The first tensor of a file in the order shown. @param {Listing | undefined} listing @param {number} tensor */
function firstOf(listing, tensor) {
  return listing && listing.names.length ? (new Names(listing.names).order[0] ?? tensor) : tensor;
}

/** The tab for the next tensor: one opened by default is chosen again, as it depends on the tensor.
 * @param {View} view @param {Opened | null} opened */
const stays = (view, opened) => (opened && view.tab === firstTab(opened.facts) ? null : view.tab);

/** @param {Names | null} names @param {string} search @param {number} tensor @param {number} by
 * @param {(tensor: number) => void} open */
function step(names, search, tensor, by, open) {
  const order = names?.matching(search) ?? [];
  const next = order[order.indexOf(tensor) + by];
  if (next !== undefined) open(next);
}

/** The next slice along the last dimension that is cut. @param {View} view
 * @param {import("./lib/api.js").TensorFacts} facts @param {number} by */
function cut(view, facts, by) {
  const drawn = view.tab === "lines" ? [view.along] : [view.rows, view.cols];
  const axis = facts.dims.findLastIndex((dim, i) => !drawn.includes(i) && (dim.size ?? 0) > 1);
  return view.at.map((old, i) => (i === axis ? Math.min(Math.max(old + by, 0), (facts.dims[i]?.size ?? 1) - 1) : old));
}

/** @param {{tabs: TabName[], tab: TabName | null, onTab: (tab: TabName) => void}} props */
function Tabs({ tabs, tab, onTab }) {
  /** @param {KeyboardEvent} event */
  const move = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = by && tab && tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
    if (!next) return;
    onTab(next);
    const row = /** @type {HTMLElement} */ (event.currentTarget);
    requestAnimationFrame(() => /** @type {HTMLElement | null} */ (row.querySelector("[aria-selected=true]"))?.focus());
  };
  return html`<div class="tabs" role="tablist" aria-label="Pictures" onKeyDown=${move}>
    ${tabs.map(
      (one) => html`<button
        key=${one}
        type="button"
        role="tab"
        aria-selected=${one === tab ? "true" : "false"}
        tabindex=${one === tab ? 0 : -1}
        onClick=${() => onTab(one)}
      >
        ${TABS[one]}
      </button>`,
    )}
  </div>`;
}

const root = document.getElementById("app");
if (root) render(html`<${App} />`, root);
