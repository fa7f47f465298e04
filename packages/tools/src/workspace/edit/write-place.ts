/**
 * A file in the workspace that is about to be written: its folder stays open, and its current state is known.
 *
 * A concurrent reader sees the old or the new content, never a mix; after two concurrent writes the file has the
 * content of one of them. The earlier content is stored, so that every change can be undone.
 */
import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { FileChange, ToolContext } from '@reprise/agent';
import { isRepriseError, type Ref, startOfText } from '@reprise/contracts';
import { type Anchor, READ_FLAGS, readBounded } from '../folder/anchor.js';
import type { Confinement } from '../folder/confine.js';
import { refusal, systemReason } from '../folder/confine.js';

/** The longest path that a receipt records: a change that could not be recorded is not started. */
const SHOWN_LENGTH_MAX = 1_024;

/** The resource key: calls that write the same file run one after another. */
export function fileResource(ask: { readonly path: string }): string {
  return startOfText(`file/${path.posix.normalize(ask.path)}`, 256);
}

/** A file that is about to be written. The caller closes it. */
interface WritePlace {
  /** The path in its displayed form. */
  readonly shown: string;
  /** The size of the current file; undefined when it does not exist. */
  readonly size: number | undefined;
  /** Reads the current content. @throws when it exceeds the bound */
  read(bytesMax: number): Promise<Uint8Array>;
  /** Writes bytes, stores the earlier content, and records the change in the receipt. */
  replace(bytes: Uint8Array, ctx: ToolContext): Promise<FileChange>;
  /** Writes bytes without storing the earlier content. */
  put(bytes: Uint8Array): Promise<void>;
  remove(): Promise<void>;
  close(): Promise<void>;
}

type Resolved = Awaited<ReturnType<Confinement['resolve']>>;

/**
 * Opens a file for writing. For a new file, missing folders are created.
 *
 * @param purpose `change` when the file must exist
 * @throws RepriseError `path_refused`
 */
export async function openPlace(
  confinement: Confinement,
  given: string,
  purpose: 'make' | 'change',
): Promise<WritePlace> {
  const resolved = await confinement.resolve(given, 'write');
  const name = resolved.names.at(-1);
  if (name === undefined) throw refusal(given, 'it is the workspace folder itself');
  if (resolved.shown.length > SHOWN_LENGTH_MAX) throw refusal(given, 'the path is too long');
  if (purpose === 'change' && resolved.missing.length > 0) throw refusal(given, 'there is no such file');
  const folder = await told(given, () => makeFolder(confinement, resolved, given));
  try {
    const stats = await told(given, () => present(folder.path(name), given));
    const standing = { folder, name, stats, shown: resolved.shown };
    return {
      shown: resolved.shown,
      size: stats?.size,
      read: (bytesMax) => told(given, () => withFile(folder.path(name), (file) => bounded(file, bytesMax, given))),
      replace: (bytes, ctx) => told(given, () => replace(standing, bytes, ctx), ctx.signal),
      put: (bytes) => told(given, () => swap(standing, bytes)),
      remove: () => told(given, () => rm(folder.path(name)).then(() => folder.sync())),
      close: async () => folder.close(),
    };
  } catch (error) {
    folder.close();
    throw error;
  }
}

/** Runs a step; what fails is a refusal, except that the signal of the call aborted. */
async function told<T>(given: string, body: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await body();
  } catch (error) {
    signal?.throwIfAborted();
    throw isRepriseError(error) ? error : refusal(given, systemReason(error));
  }
}

/** Creates the missing folders one inside the other, each through its open parent. */
async function makeFolder(confinement: Confinement, place: Resolved, given: string): Promise<Anchor> {
  const missing = place.missing.slice(0, -1);
  const depth = place.missing.length === 0 ? 1 : place.missing.length;
  let folder = await confinement.anchor(path.resolve(place.real, ...Array<string>(depth).fill('..')), given);
  for (const name of missing) {
    const inner = await makeInside(folder, name).finally(() => folder.close());
    if (inner === undefined) throw refusal(given, 'it changed while it was being written');
    folder = inner;
  }
  return folder;
}

async function makeInside(folder: Anchor, name: string): Promise<Anchor | undefined> {
  await mkdir(folder.path(name)).catch((error: unknown) => {
    // Another writer created it at the same moment: fine if it is a folder, which `enter` checks.
    if ((error as { code?: unknown } | null)?.code !== 'EEXIST') throw error;
  });
  return folder.enter(name);
}

/** The current state: absent, or a regular file that may be replaced. */
async function present(file: string, given: string): Promise<Stats | undefined> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats === undefined || stats.isFile()) return stats;
  throw refusal(given, stats.isDirectory() ? 'it is a folder' : 'it is not a regular file');
}

interface Standing {
  readonly folder: Anchor;
  readonly name: string;
  readonly stats: Stats | undefined;
  readonly shown: string;
}

/** Writes bytes, and stores and records the earlier content. */
async function replace(standing: Standing, bytes: Uint8Array, ctx: ToolContext): Promise<FileChange> {
  const { folder, name, stats, shown } = standing;
  const before = stats === undefined ? null : await keep(folder.path(name), ctx);
  const after = await ctx.content.put(bytes);
  ctx.signal.throwIfAborted();
  await swap(standing, bytes);
  return ctx.changed(shown, before, after);
}

/** Writes a temporary file in the same folder, makes it durable, and renames it. */
async function swap({ folder, name, stats }: Standing, bytes: Uint8Array): Promise<void> {
  const temporary = folder.path(`.reprise-${randomUUID()}.tmp`);
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, (stats?.mode ?? 0o644) & 0o777);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, folder.path(name));
    await folder.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function bounded({ fd }: FileHandle, bytesMax: number, given: string): Promise<Uint8Array> {
  const bytes = readBounded(fd, bytesMax);
  if (bytes === 'large') throw refusal(given, `it is larger than ${bytesMax} bytes`);
  return bytes;
}

/** Stores the current content, whatever its size. @throws the reason of the signal when it aborts */
function keep(file: string, { content, signal }: ToolContext): Promise<Ref> {
  return withFile(file, async (handle) => (await content.putStream(piecesOf(handle, signal))).ref);
}

async function* piecesOf(handle: FileHandle, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const piece of handle.createReadStream({ autoClose: false })) {
    signal.throwIfAborted();
    yield piece as Uint8Array;
  }
}

async function withFile<T>(file: string, body: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, READ_FLAGS);
  try {
    return await body(handle);
  } finally {
    await handle.close();
  }
}
