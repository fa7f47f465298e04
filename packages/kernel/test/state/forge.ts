/**
 * Forges worlds: something in a sound world is changed at random, and every digest that depends on it is computed
 * anew. Only the meaning of the bytes can show the forgery, as in a file of an attacker.
 */
import { isRef, Ref, type Value } from '@reprise/contracts';
import {
  decode,
  decodeScope,
  EMPTY_HEAD,
  encode,
  encodeScope,
  FRAME_DEPTH_MAX,
  isKeyed,
  nextHead,
  portableSha256,
  readFrame,
  requestKey,
  type Store,
  type StoredFrame,
  toHex,
} from '@reprise/kernel';
import { quickMemory } from '../../../../conformance/quick-memory.js';

/** A world taken apart: the values of its frames and its blobs. */
export interface WorldParts {
  readonly frames: readonly { readonly at: number; readonly kind: string; readonly value: Value }[];
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

/** Takes a world apart. */
export async function partsOf(store: Store): Promise<WorldParts> {
  const open = await store.openReadonly();
  const frames: { at: number; kind: string; value: Value }[] = [];
  for await (const { at, kind, bytes } of open.journal.read(0)) {
    frames.push({ at, kind, value: decodeScope(bytes) });
  }
  const blobs = new Map<string, Uint8Array>();
  for await (const ref of open.content.list()) blobs.set(ref.hex, (await open.content.get(ref)) as Uint8Array);
  await open.close();
  return { frames, blobs };
}

/** Digests that changed: the old one and the new one. */
type Renamed = Map<string, string>;

/**
 * A world with one thing changed, sound by digest throughout.
 *
 * @param change gets a value and gives another; called once, for the frame or blob that `pick` chose
 * @param pick a number from 0 below the count of frames and blobs
 */
export async function forge(parts: WorldParts, pick: number, change: (value: Value) => Value): Promise<Store> {
  const blobs = new Map(parts.blobs);
  const renamed: Renamed = new Map();
  const hexes = [...parts.blobs.keys()].sort();
  const chosen = hexes[pick - parts.frames.length];
  if (chosen !== undefined) replaceBlob(blobs, renamed, chosen, changedBytes(blobs.get(chosen) as Uint8Array, change));
  relink(blobs, renamed);
  const store = quickMemory();
  const open = await store.open();
  for (const bytes of blobs.values()) await open.content.put(bytes);
  let head = EMPTY_HEAD;
  for (const [seq, { at, kind, value }] of parts.frames.entries()) {
    const bytes = encodeScope(renameIn(seq === pick ? change(value) : value, renamed), FRAME_DEPTH_MAX);
    const next = nextHead(head, bytes, portableSha256);
    await open.journal.append([{ seq, at, kind, head: next.digest, bytes, ...keyOf(bytes, seq) } as StoredFrame], head);
    head = next;
  }
  await open.close();
  return store;
}

/** How many frames and blobs there are to choose from. */
export function partsIn({ frames, blobs }: WorldParts): number {
  return frames.length + blobs.size;
}

function changedBytes(bytes: Uint8Array, change: (value: Value) => Value): Uint8Array {
  try {
    return encode(change(decode(bytes, FRAME_DEPTH_MAX)), FRAME_DEPTH_MAX);
  } catch {
    return Uint8Array.from([...bytes, 0]); // not a value: text or an image
  }
}

/** Deeper than the blobs of the worlds that are forged link each other. */
const LINK_LEVELS_MAX = 40;

/**
 * Links the changed content wherever the old one was linked, until no blob links an old digest.
 *
 * @throws Error when the change made a circle of links, which no digest allows
 */
function relink(blobs: Map<string, Uint8Array>, renamed: Renamed): void {
  let levels = 0;
  for (let again = renamed.size > 0; again; ) {
    if (++levels > LINK_LEVELS_MAX) throw new Error('a circle of links');
    again = false;
    for (const [hex, bytes] of [...blobs]) {
      const fresh = relinked(bytes, renamed);
      if (fresh === undefined) continue;
      replaceBlob(blobs, renamed, hex, fresh);
      again = true;
    }
  }
}

function relinked(bytes: Uint8Array, renamed: Renamed): Uint8Array | undefined {
  try {
    const fresh = encode(renameIn(decode(bytes, FRAME_DEPTH_MAX), renamed), FRAME_DEPTH_MAX);
    return toHex(fresh) === toHex(bytes) ? undefined : fresh;
  } catch {
    return undefined;
  }
}

function replaceBlob(blobs: Map<string, Uint8Array>, renamed: Renamed, hex: string, bytes: Uint8Array): void {
  const fresh = toHex(portableSha256(bytes));
  blobs.delete(hex);
  blobs.set(fresh, bytes);
  if (fresh !== hex) renamed.set(hex, fresh);
}

/** A value in which every link of a changed digest has the new one. */
function renameIn(value: Value, renamed: Renamed): Value {
  if (isRef(value)) {
    let { hex } = value;
    for (let fresh = renamed.get(hex); fresh !== undefined; fresh = renamed.get(hex)) hex = fresh;
    return hex === value.hex ? value : Ref.fromHex(hex, value.kind);
  }
  if (value instanceof Uint8Array) return relinked(value, renamed) ?? value; // a leaf that stands in its bucket
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => renameIn(item, renamed));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renameIn(item as Value, renamed)]));
}

/** The key of a request's row, as the writer of a frame gives it. */
function keyOf(bytes: Uint8Array, seq: number): { readonly key?: string } {
  try {
    const { ingress } = readFrame(bytes, seq);
    return isKeyed(ingress) ? { key: requestKey(ingress, portableSha256) } : {};
  } catch {
    return {};
  }
}
