/** Compares a view with a rebuilt one: entry by entry, in bytes. */

import type { OpenViewStore, ViewEntry } from '../../ports/views/port.js';
import { compareBytes, decode, decodeKey, equalBytes, toHex } from '../../pure/codec/index.js';
import { PART } from './layout.js';

/** The first entry of a view that differs from the rebuilt one. */
export interface ViewDifference {
  readonly view: string;
  /** The row's key, or the entry's bytes as hex when it is not a row. */
  readonly where: string;
  readonly stored: unknown;
  readonly rebuilt: unknown;
}

const PAGE_ENTRIES = 1_000;

/** The first entry of a view in which two stores differ, and how many were compared. */
export async function firstDifference(
  { name }: { readonly name: string },
  stored: OpenViewStore,
  rebuilt: OpenViewStore,
): Promise<{ readonly entries: number; readonly difference?: ViewDifference }> {
  const [left, right] = [entriesOf(stored, name), entriesOf(rebuilt, name)];
  for (let entries = 0; ; entries++) {
    const [one, other] = [(await left.next()).value, (await right.next()).value];
    if (one === undefined && other === undefined) return { entries };
    const same =
      one !== undefined && other !== undefined && equalBytes(one[0], other[0]) && equalBytes(one[1], other[1]);
    if (!same) return { entries, difference: differenceOf(name, one, other) };
  }
}

async function* entriesOf(store: OpenViewStore, view: string): AsyncGenerator<ViewEntry, undefined> {
  for (let from: Uint8Array = new Uint8Array(); ; ) {
    const page = await store.scan(view, { from, to: null, limit: PAGE_ENTRIES });
    yield* page;
    const last = page[PAGE_ENTRIES - 1];
    if (last === undefined) return undefined;
    from = Uint8Array.of(...last[0], 0);
  }
}

/** The lower of two different keys is the one that the other side lacks. */
function differenceOf(view: string, one: ViewEntry | undefined, other: ViewEntry | undefined): ViewDifference {
  const order = one === undefined ? 1 : other === undefined ? -1 : compareBytes(one[0], other[0]);
  const key = (order > 0 ? other : one)?.[0] ?? new Uint8Array();
  return {
    view,
    where: placeOf(key),
    stored: order > 0 ? undefined : shown(one),
    rebuilt: order < 0 ? undefined : shown(other),
  };
}

function placeOf(key: Uint8Array): string {
  return key[0] === PART.row ? JSON.stringify(decodeKey(key.subarray(1))) : toHex(key);
}

function shown(entry: ViewEntry | undefined): unknown {
  if (entry === undefined) return undefined;
  return entry[0][0] === PART.row ? decode(entry[1]) : toHex(entry[1]);
}
