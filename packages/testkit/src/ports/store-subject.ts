import type { Ref } from '@reprise/contracts';
import {
  EMPTY_HEAD,
  type Head,
  type OpenStore,
  portableSha256,
  type Store,
  type StoredFrame,
  toHex,
} from '@reprise/kernel';
import { collect, expectSame, expectSameBytes, expectThat } from '../suite/expect.js';
import type { Disposable } from '../suite/suite.js';

/** A store under test, in its own empty place. */
export interface StoreSubject extends Disposable {
  readonly store: Store;
  /** Another store object for the same place, as another part of a program would make it; default: the same object. */
  again?(): Store;
  /** A store in the state that a crash at this moment would leave. */
  crashed?(): Promise<Store>;
  /** Changes stored bytes of a blob without the knowledge of the store, keeping their number. */
  damageBlob?(ref: Ref): Promise<void>;
}

/** Opens the subject's store, runs a body, and closes the store in every case. */
export async function whileOpen<T>(store: Store, body: (open: OpenStore) => Promise<T>): Promise<T> {
  const open = await store.open();
  try {
    return await body(open);
  } finally {
    await open.close();
  }
}

/** An optional ability of a subject. The check that needs it fails without it, so its absence is a waiver's reason. */
export function ability<Name extends 'crashed' | 'damageBlob'>(
  subject: StoreSubject,
  name: Name,
): NonNullable<StoreSubject[Name]> {
  const found = subject[name];
  expectThat(found !== undefined, `the subject has no ${name}(): give it one or waive the check`);
  return found.bind(subject) as NonNullable<StoreSubject[Name]>;
}

const KINDS = ['manifest', 'request', 'receipt', 'timer', 'attempt', 'snapshot'];

/** Bytes that are the same in every run and depend on `seed`. */
export function someBytes(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = (seed * 2654435761 + 1) >>> 0;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

/** Frames that follow a head. A store does not check the chain, so any distinct digest serves. */
export function framesAfter(
  head: Head,
  count: number,
  bytesOf = (seq: number) => someBytes(40 + (seq % 90), seq),
): StoredFrame[] {
  return Array.from({ length: count }, (_, i) => {
    const seq = head.seq + 1 + i;
    const bytes = bytesOf(seq);
    const kind = KINDS[(seq * seq + (seq >> 3)) % KINDS.length] as string;
    return { seq, at: 1_700_000_000_000 + seq, kind, head: toHex(portableSha256(someBytes(8, seq))), bytes };
  });
}

/** Appends groups of these sizes to an empty journal and returns all their frames. */
export async function appendGroups(open: OpenStore, sizes: readonly number[]): Promise<StoredFrame[]> {
  const all: StoredFrame[] = [];
  let head = EMPTY_HEAD;
  for (const size of sizes) {
    const frames = framesAfter(head, size);
    head = await open.journal.append(frames, head);
    all.push(...frames);
  }
  return all;
}

/** Fails unless these are exactly the expected frames. */
export function expectFrames(actual: readonly StoredFrame[], expected: readonly StoredFrame[], what: string): void {
  const columns = ({ seq, at, kind, head }: StoredFrame) => [seq, at, kind, head];
  expectSame(
    actual.map(({ seq }) => seq),
    expected.map(({ seq }) => seq),
    `${what}: sequence numbers`,
  );
  actual.forEach((frame, i) => {
    const wanted = expected[i] as StoredFrame;
    expectSame(columns(frame), columns(wanted), `${what}: columns of frame ${frame.seq}`);
    expectSameBytes(frame.bytes, wanted.bytes, `${what}: frame ${frame.seq}`);
  });
}

/** Fails unless the whole journal is exactly these frames, and its head agrees. */
export async function expectJournal(
  journal: Pick<OpenStore['journal'], 'head' | 'read'>,
  expected: readonly StoredFrame[],
  what: string,
): Promise<void> {
  const last = expected.at(-1);
  expectSame(
    await journal.head(),
    last === undefined ? EMPTY_HEAD : { seq: last.seq, digest: last.head },
    `${what}: head`,
  );
  expectFrames(await collect(journal.read(0)), expected, what);
}
