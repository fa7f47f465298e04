import { existsSync } from 'node:fs';
import { ERROR_CODES, type ErrorCode, isRepriseError, type JournalRecord, type RepriseError } from '@reprise/contracts';
import { expect } from 'vitest';
import { type App, openKernelWorld, readFrame, type Store, verifyStore, type World } from '../../src/index.js';

/** The refusal that a promise ends in; fails when it is accepted, or when something else escapes. */
export async function refusal(promise: Promise<unknown>): Promise<RepriseError> {
  let accepted: unknown;
  try {
    accepted = await promise;
  } catch (error) {
    if (isRepriseError(error)) return error;
    throw new Error(`something else than a refusal escaped: ${String(error)}`, { cause: error });
  }
  throw new Error(`nothing was refused; got ${JSON.stringify(accepted)}`);
}

/** The code that a promise is refused with. */
export async function codeOf(promise: Promise<unknown>): Promise<ErrorCode> {
  return (await refusal(promise)).code;
}

/** Checks that an error has a code of the closed list, and agrees with its page. */
export function expectDocumented(error: RepriseError): void {
  expect(ERROR_CODES).toContain(error.code);
  const page = new URL(`../../../../docs/errors/${error.code}.md`, import.meta.url);
  expect(existsSync(page), `docs/errors/${error.code}.md`).toBe(true);
}

/** All records of a journal, frame by frame, read from the store. */
export async function framesOf(store: Store): Promise<readonly (readonly JournalRecord[])[]> {
  const open = await store.openReadonly();
  try {
    const frames: (readonly JournalRecord[])[] = [];
    for await (const { bytes, seq } of open.journal.read(0)) frames.push(readFrame(bytes, seq).all);
    return frames;
  } finally {
    await open.close();
  }
}

/** The bytes of all frames, one after another, whether a schema knows their records or not. */
export async function bytesOf(store: Store): Promise<Buffer> {
  const open = await store.openReadonly();
  try {
    const all: Uint8Array[] = [];
    for await (const { bytes } of open.journal.read(0)) all.push(bytes);
    return Buffer.concat(all);
  } finally {
    await open.close();
  }
}

/** Records of one kind, over all frames. */
export async function recordsOf<K extends JournalRecord['kind']>(
  store: Store,
  kind: K,
): Promise<Extract<JournalRecord, { kind: K }>[]> {
  const all = (await framesOf(store)).flat();
  return all.filter((record): record is Extract<JournalRecord, { kind: K }> => record.kind === kind);
}

/** The kinds of the records of the last frame. */
export async function lastFrame(store: Store): Promise<readonly JournalRecord[]> {
  return (await framesOf(store)).at(-1) ?? [];
}

/**
 * What every test ends with: the journal verifies from genesis with the app and without it, and opens again at
 * the head it was left at.
 */
export async function expectSound(store: Store, app: App, head?: { readonly digest: string }): Promise<void> {
  const readonly = await store.openReadonly();
  try {
    const options = head === undefined ? {} : { expect: head.digest };
    const performed = await verifyStore(readonly, { app, ...options });
    const shape = await verifyStore(readonly, options);
    expect(shape.head).toEqual(performed.head);
    if (head !== undefined) expect(performed.head.digest).toBe(head.digest);
  } finally {
    await readonly.close();
  }
}

/** Closes a world and checks it with {@link expectSound}; also that it opens again. */
export async function closeSound(world: World, store: Store, app: App): Promise<void> {
  const { head } = world;
  await world.close();
  await expectSound(store, app);
  const again = await openKernelWorld({ store, app, drive: 'manual' });
  expect(again.head.seq).toBeGreaterThanOrEqual(head.seq);
  await again.close();
}

/** Resolves when a condition is true; fails after a minute of waiting, which a machine that stands still may need. */
export async function until(condition: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what} never came true`);
    await turn();
  }
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Whether a promise is still open after a few turns of the event loop. */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let pending = true;
  const settle = (): void => {
    pending = false;
  };
  promise.then(settle, settle);
  for (let i = 0; i < 20; i++) await turn();
  return pending;
}
