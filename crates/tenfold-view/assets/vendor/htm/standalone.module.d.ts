// Types of the library beside it, for the check of types alone.

import type { VNode } from "preact";

export { Component, createContext, h, render } from "preact";
export * from "preact/hooks";

export const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
