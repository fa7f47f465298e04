/** Shows that a change to a world is found: changes one byte in a copy, and verifies the copy. */
import { rm } from 'node:fs/promises';
import { agentApp, isRepriseError, type RepriseError } from 'reprise';
import {
  isKeyed,
  type OpenStore,
  portableSha256,
  type ReadonlyStore,
  readFrame,
  requestKey,
  type StoredFrame,
  verifyStore,
} from 'reprise/kernel';
import { sqlite } from 'reprise/sqlite';
import { BESIDE, REPORT } from './own-output.js';

/** What happened to the copy. */
export interface Tampering {
  /** The frame whose byte was changed, and the place of the byte in it. */
  readonly frame: number;
  readonly at: number;
  /** The name of a file before and after the change; undefined when the byte belongs to something else. */
  readonly name: { readonly before: string; readonly after: string } | undefined;
  /** What the verification of the copy says; undefined when it found nothing. */
  readonly found: RepriseError | undefined;
}

type Target = Omit<Tampering, 'found'>;

/** How many frames are copied at once. */
const BATCH = 64;

/** The report's name, and its letter that is changed: `SURVEY.md` becomes `SURVEX.md` by a single bit. */
const NAME = Buffer.from(REPORT);
const LETTER = NAME.indexOf('.') - 1;

/**
 * Copies a world, flips one bit of the journal in the copy, and verifies the copy.
 *
 * @param world the file of the world
 * @param copy the file of the copy, which stays; replaced if it exists
 * @throws the reason of `signal` when it is aborted
 */
export async function tamper(world: string, copy: string, signal?: AbortSignal): Promise<Tampering> {
  for (const end of BESIDE) await rm(copy + end, { recursive: true, force: true });
  const from = await sqlite(world).openReadonly();
  try {
    const target = await chooseTarget(from);
    const into = await sqlite(copy).open();
    await copyStore(from, into, target, signal).finally(() => into.close());
    return { ...target, found: await defectOf(copy) };
  } finally {
    await from.close();
  }
}

/** A letter of the report's name where a receipt says that it was written, or else the byte in the middle. */
async function chooseTarget({ journal }: ReadonlyStore): Promise<Target> {
  const middle = Math.floor((await journal.head()).seq / 2);
  let target: Target = { frame: 0, at: 0, name: undefined };
  for await (const { seq: frame, kind, bytes } of journal.read(0)) {
    const at = kind === 'receipt' ? Buffer.from(bytes).indexOf(NAME) : -1;
    if (at >= 0) target = { frame, at: at + LETTER, name: { before: REPORT, after: flip(NAME, LETTER).toString() } };
    else if (frame === middle && target.name === undefined) target = { frame, at: bytes.length >> 1, name: undefined };
  }
  return target;
}

/** Bytes with the lowest bit of one of them flipped. */
function flip(bytes: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
}

/** Copies content and frames as they are, except for one bit. */
async function copyStore(from: ReadonlyStore, into: OpenStore, target: Target, signal?: AbortSignal): Promise<void> {
  for await (const ref of from.content.list()) {
    signal?.throwIfAborted();
    const bytes = await from.content.get(ref);
    if (bytes !== undefined) await into.content.put(bytes);
  }
  let batch: StoredFrame[] = [];
  let head = await into.journal.head();
  for await (const frame of from.journal.read(0)) {
    signal?.throwIfAborted();
    const { ingress } = readFrame(frame.bytes, frame.seq);
    const indexed = isKeyed(ingress) ? { ...frame, key: requestKey(ingress, from.hash ?? portableSha256) } : frame;
    batch.push(frame.seq === target.frame ? { ...indexed, bytes: flip(frame.bytes, target.at) } : indexed);
    if (batch.length < BATCH) continue;
    head = await into.journal.append(batch, head);
    batch = [];
  }
  await into.journal.append(batch, head);
}

async function defectOf(file: string): Promise<RepriseError | undefined> {
  const store = await sqlite(file).openReadonly();
  try {
    await verifyStore(store, { app: agentApp });
    return undefined;
  } catch (error) {
    if (isRepriseError(error)) return error;
    throw error;
  } finally {
    await store.close();
  }
}
