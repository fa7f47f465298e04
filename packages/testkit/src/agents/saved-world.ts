/** A world as bytes: a fixture that a regression test replays, offline. */
import { agentApp } from '@reprise/agent';
import { aList, fieldsOf, isFunction, requireArgument, requireKnownOptions, type Value } from '@reprise/contracts';
import {
  type App,
  type Divergence,
  decode,
  encode,
  isKeyed,
  isRepriseError,
  memory,
  portableSha256,
  RepriseError,
  readFrame,
  requestKey,
  type Store,
  type StoredFrame,
  verifyStore,
} from '@reprise/kernel';
import { requireStore } from '@reprise/kernel/store';
import * as z from 'zod';

const TYPE = 'reprise/SavedWorld@1';

const bytes = z.custom<Uint8Array>((thing) => thing instanceof Uint8Array);
const saved = z.strictObject({
  type: z.literal(TYPE),
  frames: z.array(z.strictObject({ at: z.int(), kind: z.string(), head: z.string(), bytes })),
  blobs: z.array(bytes),
});

/** The place of the first difference between the recorded and the replayed world. */
type FirstDifference = Divergence;

/** How much a replay compared, and the first difference. */
export interface Replayed {
  /** The number of frames that were replayed and are identical to the recording. */
  readonly replayed: number;
  /** The number of frames checked only for chain and receipts, because the app has other definitions than their writer. */
  readonly unverified: number;
  /** Absent when every replayed frame is identical. */
  readonly firstDifference?: FirstDifference;
}

/** A world as bytes: every frame and every blob. */
export async function saveWorld(store: Store): Promise<Uint8Array> {
  requireStore(store, 'saveWorld');
  const reader = await store.openReadonly();
  try {
    const frames: Value[] = [];
    for await (const { at, kind, head, bytes } of reader.journal.read(0)) frames.push({ at, kind, head, bytes });
    const refs = [];
    for await (const ref of reader.content.list()) refs.push(ref);
    refs.sort((a, b) => (a.hex < b.hex ? -1 : 1)); // the same world gives the same bytes
    const blobs: Value[] = [];
    for (const ref of refs) blobs.push((await reader.content.get(ref)) ?? new Uint8Array());
    return encode({ type: TYPE, frames, blobs });
  } finally {
    await reader.close();
  }
}

/**
 * Loads a saved world into a store, to open or read it.
 *
 * @param into an empty store; memory when absent
 * @throws RepriseError `invalid_bytes` when the bytes are not a saved world
 */
export async function loadWorld(world: Uint8Array, into: Store = memory()): Promise<Store> {
  requireSaved(world, 'loadWorld');
  requireStore(into, 'loadWorld', 'into');
  const parsed = saved.safeParse(decode(world));
  if (!parsed.success) {
    throw new RepriseError('invalid_bytes', 'the bytes are not a saved world', { expected: TYPE, cause: parsed.error });
  }
  const store = await into.open();
  try {
    for (const blob of parsed.data.blobs) await store.content.put(blob);
    const frames = parsed.data.frames.map((frame, seq) => ({ seq, ...frame, ...keyOf(frame.bytes, seq) }));
    await store.journal.append(frames, await store.journal.head());
  } finally {
    await store.close();
  }
  return into;
}

/**
 * Replays a saved world, without models, tools or network, and compares it byte by byte.
 *
 * @param world the bytes from `save`, or a store
 * @param options `app`: the code that replays it; the agent SDK's when absent
 * @throws RepriseError `journal_damaged` and the other errors of reading, when the world is damaged
 * @example expect((await replay(await readFile('refund.world'))).firstDifference).toBeUndefined()
 */
export async function replay(
  world: Uint8Array | Store,
  options: { readonly app?: App; readonly legacy?: readonly App[] } = {},
): Promise<Replayed> {
  if (!isStore(world)) requireSaved(world, 'replay');
  requireKnownOptions(options, REPLAY_OPTIONS, 'replay');
  const store = isStore(world) ? world : await loadWorld(world);
  const reader = await store.openReadonly();
  try {
    const { app = agentApp, legacy = [] } = options;
    const { replayed, unverified } = await verifyStore({ ...reader, close: async () => undefined }, { app, legacy });
    return { replayed, unverified };
  } catch (error) {
    const divergence = isRepriseError(error, 'replay_divergence') ? error.details.divergence : undefined;
    if (divergence === undefined) throw error;
    const firstDifference = divergence as FirstDifference;
    return { replayed: firstDifference.seq, unverified: 0, firstDifference };
  } finally {
    await reader.close();
  }
}

const REPLAY_OPTIONS = { app: true, legacy: aList } as const;

function isStore(thing: unknown): thing is Store {
  return isFunction(fieldsOf(thing).openReadonly);
}

/** Refuses what are no bytes of a saved world. */
function requireSaved(thing: unknown, call: string): asserts thing is Uint8Array {
  const expected = call === 'replay' ? 'the bytes of a saved world, or a store' : 'the bytes of a saved world';
  requireArgument(thing instanceof Uint8Array, `${call}(world)`, expected, thing, pathHint(thing, call));
}

function pathHint(thing: unknown, call: string): string | undefined {
  if (typeof thing !== 'string') return undefined;
  const store = call === 'replay' ? ", or a world's file by replay(sqlite(path))" : '';
  return `A path is not read: pass the bytes of a saved world, ${call}(await readFile(path))${store}.`;
}

/** The key of the index of requests; undefined for frames of other kinds. */
function keyOf(bytes: Uint8Array, seq: number): Pick<StoredFrame, 'key'> {
  const { ingress } = readFrame(bytes, seq);
  return isKeyed(ingress) ? { key: requestKey(ingress, portableSha256) } : {};
}
