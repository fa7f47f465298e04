/**
 * The address of the page: a screen, its parts, and what every screen keeps. Real paths, by the history of the browser.
 *
 * Invariants
 * A1  The address says what is shown: the same address shows the same thing, whichever way it was reached.
 * A2  The frame that is shown and the two marks stay when the screen changes.
 * A3  The entry of the history that is left remembers what had the focus, and gets it back.
 */
import { sourceOf, useSource } from './source.js';

/** Where the page is. */
export interface Route {
  /** The screen: the first segment of the path, `now` for the root. */
  readonly screen: string;
  /** The other segments, decoded. */
  readonly parts: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** Where to go: a screen with its segments, and what the query says besides what is kept. */
export interface Place {
  readonly screen: string;
  readonly parts?: readonly (string | number)[];
  /** Null removes a kept value. */
  readonly query?: Readonly<Record<string, string | number | null | undefined>>;
}

/** What every screen keeps (A2). */
const KEPT = ['at', 'a', 'b'];

const place = sourceOf<Route>(read());
let wanted: { readonly id: string; readonly until: number } | undefined;

function read(): Route {
  const [screen = '', ...parts] = location.pathname.split('/').filter(Boolean).map(decoded);
  return {
    screen: screen === '' ? 'now' : screen,
    parts,
    query: Object.fromEntries(new URLSearchParams(location.search)),
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The address of a place, seen from where the page is now. */
export function hrefOf({ screen, parts = [], query = {} }: Place): string {
  const kept = place.get().query;
  const all: Record<string, string> = {};
  for (const key of KEPT) if (kept[key] !== undefined) all[key] = kept[key];
  for (const [key, value] of Object.entries(query)) {
    if (value === null || value === undefined) delete all[key];
    else all[key] = String(value);
  }
  const path = screen === 'now' ? '/' : `/${[screen, ...parts].map((part) => encodeURIComponent(part)).join('/')}`;
  const search = new URLSearchParams(all).toString();
  return search === '' ? path : `${path}?${search}`;
}

/** Goes to an address of the page. @param replace instead of a new entry in the history */
export function go(to: Place | string, replace = false): void {
  const href = typeof to === 'string' ? to : hrefOf(to);
  if (replace) history.replaceState(history.state, '', href);
  else {
    rememberFocus();
    history.pushState(null, '', href);
  }
  const { screen } = place.get();
  place.set(read());
  if (!replace && place.get().screen !== screen) scrollTo(0, 0);
}

/** Changes the query of this screen, without a new entry in the history. */
export function set(query: Place['query']): void {
  const { screen, parts, query: before } = place.get();
  go({ screen, parts, query: { ...before, ...query } }, true);
}

/** The place of the page, again whenever it changes. */
export function useRoute(): Route {
  return useSource(place);
}

/** The place of the page at this moment. */
export function here(): Route {
  return place.get();
}

function rememberFocus(): void {
  const { id } = document.activeElement ?? { id: '' };
  history.replaceState({ focus: id }, '');
}

/** How long something may take to appear again before its focus is given up, in milliseconds. */
const FOCUS_MS = 5_000;

/** Begins to follow the history of the browser, and the links of the page. */
export function startRouter(): void {
  addEventListener('popstate', ({ state }) => {
    const id: unknown = state?.focus;
    wanted = typeof id === 'string' && id !== '' ? { id, until: performance.now() + FOCUS_MS } : undefined;
    place.set(read());
  });
  new MutationObserver(giveFocus).observe(document.body, { childList: true, subtree: true });
  for (const type of ['keydown', 'pointerdown']) addEventListener(type, () => (wanted = undefined), { capture: true });
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (link === null || !isPlain || link.target !== '' || link.origin !== location.origin) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}

function giveFocus(): void {
  if (wanted === undefined) return;
  const element = document.getElementById(wanted.id);
  if (element === null && performance.now() < wanted.until) return;
  wanted = undefined;
  element?.focus();
}
