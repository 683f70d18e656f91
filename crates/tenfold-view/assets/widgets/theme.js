// Light and dark theme, by system setting or by switch.

import { useEffect, useState } from "../lib/ui.js";

/** @typedef {"auto" | "light" | "dark"} ThemeName */

const KEY = "tenfold-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

/** @returns {ThemeName} */
function chosen() {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "auto";
}

/** @returns {{isDark: boolean, toggle: () => void}} */
export function useTheme() {
  const [theme, setTheme] = useState(chosen());
  const [isSystemDark, setSystemDark] = useState(dark.matches);
  useEffect(() => {
    const watch = () => setSystemDark(dark.matches);
    dark.addEventListener("change", watch);
    return () => dark.removeEventListener("change", watch);
  }, []);
  const isDark = theme === "auto" ? isSystemDark : theme === "dark";
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  const toggle = () => {
    /** @type {ThemeName} */
    const next = isDark ? "light" : "dark";
    localStorage.setItem(KEY, next);
    setTheme(next);
  };
  return { isDark, toggle };
}

/** A color from the style sheet. @param {string} name */
export function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
