/**
 * Restores the files of a folder to their state at a frame of a world, as far as the journal knows it.
 *
 * Files are outside of a world: a fork goes back in the journal, while the folder stays as it is. Changes by workspace
 * tools are known, with their content, and can be undone; changes by programs and by people cannot.
 *
 * Invariant
 * B1  Only content that the journal holds is overwritten or removed: other content is kept, and the result says so.
 * B2  Content that held a secret is not restored: the journal holds it without the secret.
 */
import { createHash } from 'node:crypto';
import {
  aFlag,
  aText,
  isFilled,
  isRepriseError,
  isWhole,
  type KnownOptions,
  type Ref,
  RepriseError,
  requireArgument,
  requireKnownOptions,
  requireMethods,
} from '@reprise/contracts';
import { getBytes } from '@reprise/kernel';
import { Confinement } from '../folder/confine.js';
import { type ChangeSource, fileHistory, type RecordedChange, type UnseenCall } from './recorded-changes.js';
import { openPlace } from './write-place.js';

/** As of which frame files are restored, and where. */
interface RestoreOptions {
  /** The sequence number of the frame whose files are restored. */
  readonly at: number;
  /** The folder: the tools' folder, or another one, which then receives the files that they changed. */
  readonly root: string;
  /** Restores only changes by calls of this session. */
  readonly session?: string;
  /** Only reports what would be done. Default false. */
  readonly dryRun?: boolean;
}

/**
 * The outcome for one file. `kept`: its current content is unknown to the journal, or the old content is unavailable;
 * `why` says which.
 */
interface RestoredFile {
  readonly path: string;
  readonly how: 'as_it_was' | 'written' | 'removed' | 'kept';
  readonly why?: string;
}

/** The outcome for a folder. */
export interface Restored {
  readonly files: readonly RestoredFile[];
  /** Calls after the frame that may have changed files without recording it: none of that was undone. */
  readonly unseen: readonly UnseenCall[];
}

const RESTORE_OPTIONS: KnownOptions<RestoreOptions> = { at: true, root: true, session: aText, dryRun: aFlag };

/**
 * Restores files to their state at a frame. Pass the original world and not the fork: it knows what happened later.
 *
 * @throws RepriseError `invalid_argument` when the frame does not exist; `blob_missing`, `blob_damaged`
 * @example
 * await world.fork({ at: 40, into: sqlite('other.db'), mode: 'live', grants: { may: {} } })
 * const { files, unseen } = await restoreFiles(world.kernel, { at: 40, root: '.' })
 */
export async function restoreFiles(world: ChangeSource, options: RestoreOptions): Promise<Restored> {
  requireMethods(world, ['frames'], 'restoreFiles(world)', 'an open kernel world, such as world.kernel');
  requireKnownOptions(options, RESTORE_OPTIONS, 'restoreFiles');
  requireArgument(isFilled(options.root), 'restoreFiles(options.root)', 'the path of a folder', options.root);
  const { at, root, session, dryRun = false } = options;
  if (!isWhole(at) || at > world.head.seq) {
    throw new RepriseError('invalid_argument', 'invalid option "at": the world has no such frame', {
      where: 'at',
      expected: `0 to ${world.head.seq}`,
      actual: at,
    });
  }
  const history = await fileHistory(world);
  const isMeant = (one: { readonly session: string }) => session === undefined || one.session === session;
  const confinement = new Confinement(root);
  const files: RestoredFile[] = [];
  for (const [path, changes] of byPath(history.changes.filter(isMeant))) {
    files.push({ path, ...(await restored(world, confinement, { path, changes, at, dryRun })) });
  }
  return { files, unseen: history.unseen.filter((call) => isMeant(call) && call.seq > at) };
}

function byPath(changes: readonly RecordedChange[]): Map<string, RecordedChange[]> {
  const found = new Map<string, RecordedChange[]>();
  for (const change of changes) found.set(change.path, [...(found.get(change.path) ?? []), change]);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The state that one file should get. */
interface Wanted {
  readonly path: string;
  readonly changes: readonly RecordedChange[];
  readonly at: number;
  readonly dryRun: boolean;
}

type Become = Omit<RestoredFile, 'path'>;

async function restored(world: ChangeSource, confinement: Confinement, wanted: Wanted): Promise<Become> {
  try {
    return await become(world, confinement, wanted);
  } catch (error) {
    if (isRepriseError(error, 'path_refused')) return { how: 'kept', why: error.what };
    if (isRepriseError(error, 'blob_erased')) return { how: 'kept', why: 'its earlier content was erased' };
    throw error;
  }
}

async function become(world: ChangeSource, confinement: Confinement, wanted: Wanted): Promise<Become> {
  const { path, changes, at, dryRun } = wanted;
  const { ref: then, isScrubbed } = standing(changes, at);
  const now = await present(confinement, path);
  if (isScrubbed) return { how: 'kept', why: 'its earlier content held a secret, which is not in the journal' }; // B2
  if (hexOf(then) === now) return { how: 'as_it_was' };
  if (!isKnown(changes, now)) return { how: 'kept', why: 'it was changed since, and not by a recorded call' }; // B1
  const bytes = then === null ? undefined : await getBytes(world.content, then);
  if (dryRun) return { how: bytes === undefined ? 'removed' : 'written' };
  const place = await openPlace(confinement, path, 'make');
  try {
    if (bytes === undefined) await place.remove();
    else await place.put(bytes);
  } finally {
    await place.close();
  }
  return { how: bytes === undefined ? 'removed' : 'written' };
}

/** The content at the frame: left by the last call before it, or found by the first call after it. */
function standing(changes: readonly RecordedChange[], at: number): { ref: Ref | null; isScrubbed: boolean } {
  const last = changes.findLast(({ seq }) => seq <= at);
  if (last !== undefined) return { ref: last.after, isScrubbed: last.scrubbed.after };
  const [first] = changes;
  return { ref: first?.before ?? null, isScrubbed: first?.scrubbed.before === true };
}

/** Whether the journal holds the current content. Without a file there is nothing to lose. */
function isKnown(changes: readonly RecordedChange[], now: string | null): boolean {
  return now === null || changes.some(({ before, after }) => hexOf(before) === now || hexOf(after) === now);
}

function hexOf(ref: Ref | null): string | null {
  return ref?.hex ?? null;
}

/** The digest of the current content; null for no file. */
async function present(confinement: Confinement, path: string): Promise<string | null> {
  const { missing } = await confinement.resolve(path, 'write');
  if (missing.length > 0) return null;
  const { file } = await confinement.open(path);
  try {
    const hash = createHash('sha256');
    for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk as Uint8Array);
    return hash.digest('hex');
  } finally {
    await file.close();
  }
}
