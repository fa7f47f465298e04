/** Holds a journal to the law of replay: replay(0..n) = snapshot k + replay(k..n), for every k, in bytes. */
import { Ref, type Value } from '@reprise/contracts';
import {
  type App,
  EMPTY_HEAD,
  type Head,
  type ReadonlyStore,
  readFrame,
  type StoredFrame,
} from '../../../src/index.js';
import { encode, FRAME_DEPTH_MAX, linksOf, toHex } from '../../../src/pure/codec/index.js';
import type { LeafKey } from '../../../src/pure/engine/index.js';
import { Replayer } from '../../../src/replay/verify/era/replayer.js';
import { LeafTable } from '../../../src/state/leaf-table.js';
import { type MapChange, MerkleMap, type NodeStore } from '../../../src/state/map/index.js';
import { nativeHash } from '../../support/laws/run-schedule.js';

/** What the law was held on. */
export interface HeldReplay {
  readonly frames: number;
  /** Frames replayed, over all k. */
  readonly replayed: number;
  /** The state root after the last frame, as hex. */
  readonly root: string;
}

/** How the law is checked; the parts that a mutant replaces. */
export interface ReplayParts {
  readonly app: App;
  /** The table that a replay from a snapshot starts with. */
  readonly openTable?: (map: MerkleMap, root: Ref) => Promise<LeafTable>;
}

/**
 * Replays a journal from genesis, and from the state after every frame, and holds all of them to the same heads and
 * roots. The state after a frame is written as a map from scratch and once more as a change of the one before it.
 *
 * @throws Error, or the RepriseError of the first frame that differs
 */
export async function holdReplay(store: ReadonlyStore, parts: ReplayParts): Promise<HeldReplay> {
  const frames: StoredFrame[] = [];
  for await (const frame of store.journal.read(0)) frames.push(frame);
  const map = new MerkleMap(nodesIn(new Map()), nativeHash);
  const points = await replayAll(frames, parts.app, map);
  const last = points[points.length - 1];
  if (last === undefined) throw new Error('the journal is empty');
  let replayed = frames.length;
  for (const [k, point] of points.entries()) {
    const rest = frames.slice(k + 1);
    replayed += rest.length;
    await replayFrom(point, rest, last, { map, ...parts, caches: k % 2 === 0 });
  }
  return { frames: frames.length, replayed, root: last.root.hex };
}

/** The world after a frame. */
interface Point {
  readonly head: Head;
  readonly root: Ref;
  readonly leaves: number;
}

async function replayAll(frames: readonly StoredFrame[], app: App, map: MerkleMap): Promise<Point[]> {
  const table = new LeafTable(map);
  const replayer = new Replayer({ app, hash: nativeHash }, table, EMPTY_HEAD);
  const leaves = new Map<string, { readonly key: LeafKey; readonly bytes: Uint8Array }>();
  const points: Point[] = [];
  let root: Ref | null = null;
  for (const stored of frames) {
    const { frame, head } = await replayer.step(stored);
    const linked = linksOf(readFrame(stored.bytes, stored.seq).all as unknown as Value);
    expectSame(`the links that frame ${stored.seq} is said to have`, namesOf(frame.links), namesOf(linked));
    const changes: MapChange[] = frame.changes.map(({ key, after }) => ({
      key,
      bytes: after === undefined ? undefined : encode(after, FRAME_DEPTH_MAX),
    }));
    for (const { key, bytes } of changes) {
      if (bytes === undefined) leaves.delete(key.id);
      else leaves.set(key.id, { key, bytes });
    }
    const changed: { readonly ref: Ref; readonly leaves: number } = await map.update(root, changes);
    const whole = await map.update(null, [...leaves.values()].reverse());
    expectSame(`the map after frame ${stored.seq}, changed against whole`, changed.ref.hex, whole.ref.hex);
    expectSame(`the leaves after frame ${stored.seq}`, changed.leaves, leaves.size);
    root = changed.ref;
    points.push({ head, root, leaves: leaves.size });
  }
  return points;
}

interface From extends ReplayParts {
  readonly map: MerkleMap;
  readonly caches: boolean;
}

async function replayFrom(point: Point, rest: readonly StoredFrame[], last: Point, from: From): Promise<void> {
  const { map, app, caches, openTable = openedAt } = from;
  const table = await openTable(map, point.root);
  const env = { app, hash: nativeHash, ...(caches ? { plans: new WeakMap() } : {}) };
  const replayer = new Replayer(env, table, point.head);
  for (const stored of rest) await replayer.step(stored);
  const { ref, leaves } = await table.snapshot();
  const what = `from the snapshot after frame ${point.head.seq} to frame ${last.head.seq}`;
  expectSame(`the head ${what}`, replayer.head.digest, last.head.digest);
  expectSame(`the root ${what}`, ref.hex, last.root.hex);
  expectSame(`the leaves ${what}`, leaves, last.leaves);
}

async function openedAt(map: MerkleMap, root: Ref): Promise<LeafTable> {
  const table = new LeafTable(map);
  await table.openAt(root);
  return table;
}

/** Nodes in memory, for maps that no store holds. */
export function nodesIn(blobs: Map<string, Uint8Array>): NodeStore {
  return {
    get: async ({ hex }) => blobs.get(hex),
    putValue: async (bytes) => {
      const hex = toHex(nativeHash(bytes));
      blobs.set(hex, bytes);
      return Ref.fromHex(hex, 'value');
    },
  };
}

const namesOf = (links: readonly Ref[]): string =>
  links
    .map(({ kind, hex }) => `${kind}:${hex}`)
    .sort()
    .join(' ');

function expectSame(what: string, found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${what}: ${String(found)} instead of ${String(wanted)}`);
}
