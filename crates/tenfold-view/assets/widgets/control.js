// Form controls.

import { html, useState } from "../lib/ui.js";

/** @typedef {{value: string, label: string}} Option */

/** A choice of a few options, side by side. @param {{label: string, value: string, options: (string | Option)[],
 *   onChange: (value: string) => void}} props */
export function Switch({ label, value, options, onChange }) {
  const values = options.map((option) => (typeof option === "string" ? option : option.value));
  // Keyboard behavior of radio groups: one stop for the tab key, arrows inside.
  const move = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const next = by && values[(values.indexOf(value) + by + values.length) % values.length];
    if (!next) return;
    event.preventDefault();
    onChange(next);
    const group = /** @type {HTMLElement} */ (event.currentTarget);
    requestAnimationFrame(() =>
      /** @type {HTMLElement | null} */ (group.querySelector("[aria-checked=true]"))?.focus(),
    );
  };
  return html`<div class="field">
    <span class="field-label" aria-hidden="true">${label}</span>
    <div class="switch" role="radiogroup" aria-label=${label} onKeyDown=${move}>
      ${options.map((option) => {
        const one = typeof option === "string" ? { value: option, label: option } : option;
        const isOn = one.value === value;
        return html`<button
          key=${one.value}
          type="button"
          role="radio"
          aria-checked=${isOn ? "true" : "false"}
          tabindex=${isOn || (!values.includes(value) && one.value === values[0]) ? 0 : -1}
          class=${isOn ? "on" : ""}
          onClick=${() => onChange(one.value)}
        >
          ${one.label}
        </button>`;
      })}
    </div>
  </div>`;
}

/** A choice from a list. @param {{label: string, value: string, options: Option[], onChange: (value: string) => void,
 *   isDisabled?: boolean}} props */
export function Select({ label, value, options, onChange, isDisabled }) {
  return html`<label class="field">
    <span class="field-label">${label}</span>
    <select
      value=${value}
      disabled=${isDisabled}
      onChange=${(/** @type {Event} */ event) => onChange(/** @type {HTMLSelectElement} */ (event.target).value)}
    >
      ${options.map((one) => html`<option key=${one.value} value=${one.value} selected=${one.value === value}>${one.label}</option>`)}
    </select>
  </label>`;
}

/** A position in a dimension, as a slider and a number. @param {{label: string, value: number, size: number,
 *   onChange: (value: number) => void}} props */
export function Slider({ label, value, size, onChange }) {
  const last = Math.max(size - 1, 0);
  /** @param {Event} event */
  const set = (event) => {
    const wanted = Math.trunc(Number(/** @type {HTMLInputElement} */ (event.target).value));
    if (Number.isFinite(wanted)) onChange(Math.min(Math.max(wanted, 0), last));
  };
  return html`<div class="field slider">
    <span class="field-label" aria-hidden="true">${label}</span>
    <input
      type="range"
      min="0"
      max=${last}
      step="1"
      value=${value}
      aria-label=${label}
      onInput=${set}
      disabled=${last === 0}
    />
    <input type="number" min="0" max=${last} value=${value} aria-label=${`${label}, as a number`} onChange=${set} />
    <span class="of">/ ${last}</span>
  </div>`;
}

/** Text or a number that takes effect when committed. @param {{label: string, value: string,
 *   onChange: (text: string) => void, placeholder?: string}} props */
export function Entry({ label, value, onChange, placeholder }) {
  const [draft, setDraft] = useState(/** @type {string | null} */ (null));
  /** @param {Event} event */
  const text = (event) => /** @type {HTMLInputElement} */ (event.target).value;
  return html`<label class="field">
    <span class="field-label">${label}</span>
    <input
      type="text"
      spellcheck=${false}
      autocomplete="off"
      placeholder=${placeholder ?? ""}
      value=${draft ?? value}
      onInput=${(/** @type {Event} */ event) => setDraft(text(event))}
      onChange=${(/** @type {Event} */ event) => {
        setDraft(null);
        onChange(text(event));
      }}
    />
  </label>`;
}

/** An error, or a message in place of a picture. @param {{words: string, isError?: boolean}} props */
export function Notice({ words, isError }) {
  return html`<p class=${isError ? "notice error" : "notice"} role=${isError ? "alert" : "status"}>${words}</p>`;
}

/** A group of controls. @param {{title: string, children?: unknown}} props */
export function Group({ title, children }) {
  return html`<section class="group" aria-label=${title}>
    <h3>${title}</h3>
    ${children}
  </section>`;
}
