/** A sample world to tamper with: one survey, as an app runs it, and the content of its file. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Ref, RepriseError } from '@reprise/contracts';
import { isKeyed, nextHead, type ReadonlyStore, readFrame, requestKey, type StoredFrame, toHex } from '@reprise/kernel';
import { openAiCompatible } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { MODEL_NAME, startModelServer } from '../../examples/headless-world/src/model-server.js';
import { survey } from '../../examples/headless-world/src/survey.js';

/** The content of a world's file. */
export interface Sample {
  readonly frames: readonly StoredFrame[];
  /** By digest, as hex. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

/** A world on disk, with its content. */
export interface SampleWorld extends Sample {
  /** A separate folder, for copies. */
  readonly root: string;
  readonly db: string;
  readonly head: string;
  dispose(): void;
}

/** The second paragraph is long enough for its blob to be a separate file beside the database. */
const README = `# Lantern\n\n${`${'Keeps a light on. '.repeat(100)}\n`.repeat(50)}`;

/** Surveys a folder that gives every kind of frame a survey has, and a transcript long enough to be unverified in part. */
export async function makeSample(): Promise<SampleWorld> {
  const root = mkdtempSync(path.join(tmpdir(), 'reprise-tamper-'));
  const folder = path.join(root, 'folder');
  const files: Record<string, string> = { 'README.md': README, 'package.json': '{"name":"lantern"}\n' };
  for (let i = 0; i < 24; i++) files[`src/part${i}/${'deep/'.repeat(i % 3)}f${i}.ts`] = `// TODO ${i}\n`;
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const out = path.join(root, 'out');
  mkdirSync(out);
  const db = path.join(out, 'world.db');
  const server = await startModelServer();
  const model = openAiCompatible({ baseUrl: server.baseUrl, model: MODEL_NAME });
  const { outcome } = await survey({ folder, out, store: sqlite(db), model });
  await server.close();
  if (outcome.stop.kind !== 'Completed') throw new Error(`the sample's survey ended ${outcome.stop.kind}`);
  const sample = await load(await sqlite(db).openReadonly());
  return {
    ...sample,
    root,
    db,
    head: sample.frames.at(-1)?.head ?? '',
    dispose: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Reads the content of a store, and closes it. */
export async function load(store: ReadonlyStore): Promise<Sample> {
  const frames: StoredFrame[] = [];
  for await (const frame of store.journal.read(0)) frames.push(frame);
  const blobs = new Map<string, Uint8Array>();
  for await (const ref of store.content.list()) blobs.set(ref.hex, (await store.content.get(ref)) as Uint8Array);
  await store.close();
  return { frames, blobs };
}

/** A store with exactly these frames and blobs, in this order; for its content it checks the promises of the port. */
export function storeOf({ frames, blobs }: Sample): ReadonlyStore {
  const last = frames.at(-1);
  return {
    journal: {
      head: async () => ({ seq: last?.seq ?? -1, digest: last?.head ?? '0'.repeat(64) }),
      read: (from, to = Number.POSITIVE_INFINITY) => each(frames.filter(({ seq }) => seq >= from && seq <= to)),
      findKey: async (key) => requestsOf(frames).get(key),
      findLast: async (kind, seq) => frames.findLast((frame) => frame.kind === kind && frame.seq <= seq),
    },
    content: {
      get: async (ref) => {
        const bytes = blobs.get(ref.hex);
        if (bytes === undefined || digestOf(bytes) === ref.hex) return bytes;
        throw new RepriseError('blob_damaged', 'a blob does not have its digest', { expected: ref.toString() });
      },
      has: async (ref) => blobs.has(ref.hex),
      erasedBy: async () => undefined,
      erasedThrough: async () => -1,
      list: () => each([...blobs.keys()].map((hex) => Ref.fromHex(hex))),
    },
    hash: nativeSha256,
    close: async () => undefined,
  };
}

/** The index of requests, rebuilt from the present frames. */
function requestsOf(frames: readonly StoredFrame[]): Map<string, number> {
  const requests = new Map<string, number>();
  for (const { bytes, seq } of frames) {
    try {
      const { ingress } = readFrame(bytes, seq);
      if (isKeyed(ingress)) requests.set(requestKey(ingress, nativeSha256), seq);
    } catch {
      // a damaged frame is in no index
    }
  }
  return requests;
}

const digests = new WeakMap<Uint8Array, string>();

/** Thousands of tampered worlds share nearly all of their blobs, and nothing here writes into bytes. */
function digestOf(bytes: Uint8Array): string {
  const known = digests.get(bytes) ?? toHex(nativeSha256(bytes));
  digests.set(bytes, known);
  return known;
}

function nativeSha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytes).digest());
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** Frames with the heads that follow from their bytes: as a forger would write them who knows the chain. */
export function rechained(frames: readonly StoredFrame[]): StoredFrame[] {
  let head = { seq: -1, digest: '0'.repeat(64) };
  return frames.map((frame) => {
    head = nextHead(head, frame.bytes, nativeSha256);
    return { ...frame, head: head.digest };
  });
}

/** Bytes with one bit turned. */
export function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const copy = new Uint8Array(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}
