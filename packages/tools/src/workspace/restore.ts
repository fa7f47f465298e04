/**
 * Sets the files of a folder to how they stood at a frame of a world, as far as the journal knows.
 *
 * Files are outside of a world: a fork goes back in the journal, and the folder stays as it is. What tools of the
 * workspace changed is known, content included, and can be set back; what programs changed, and people, is not.
 *
 * Invariant
 * B1  Nothing is overwritten or removed that the journal does not hold: content that somebody else put there is kept,
 *     and told.
 * B2  Content that held a secret is not put back: the journal has it without the secret.
 */
import { createHash } from 'node:crypto';
import { isRepriseError, type Ref, RepriseError } from '@reprise/contracts';
import { getBytes } from '@reprise/kernel';
import { Confinement } from './confine.js';
import { type ChangeSource, fileHistory, type RecordedChange, type UnseenCall } from './recorded-changes.js';
import { openPlace } from './write-place.js';

/** What {@link restoreFiles} takes. */
export interface RestoreOptions {
  /** The frame. */
  readonly at: number;
  /** The folder: that of the tools, or another one, which gets the files that they changed. */
  readonly root: string;
  /** Only what calls of this session changed. */
  readonly session?: string;
  /** Only tells what would be done. Default false. */
  readonly dryRun?: boolean;
}

/** What becomes of a file. `kept`: it is not as it was, and stays, for the reason that is given. */
export interface RestoredFile {
  readonly path: string;
  readonly how: 'as_it_was' | 'written' | 'removed' | 'kept';
  readonly why?: string;
}

/** What a folder was set to. */
export interface Restored {
  readonly files: readonly RestoredFile[];
  /** Calls behind the frame that may have changed files without noting it: nothing of that was set back. */
  readonly unseen: readonly UnseenCall[];
}

/**
 * Sets files to how they stood at a frame. Give the world that was forked and not the fork: it knows what came later.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame; `blob_missing`, `blob_damaged`
 * @example
 * await world.fork({ at: 40, into: sqlite('other.db'), mode: 'live', grants: { may: {} } })
 * const { files, unseen } = await restoreFiles(world.kernel, { at: 40, root: '.' })
 */
export async function restoreFiles(world: ChangeSource, options: RestoreOptions): Promise<Restored> {
  const { at, root, session, dryRun = false } = options;
  if (!Number.isSafeInteger(at) || at < 0 || at > world.head.seq) {
    throw new RepriseError('invalid_argument', 'there is no such frame', {
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

/** What is to become of one file. */
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
    if (isRepriseError(error, 'blob_erased')) return { how: 'kept', why: 'its content of then was erased' };
    throw error;
  }
}

async function become(world: ChangeSource, confinement: Confinement, wanted: Wanted): Promise<Become> {
  const { path, changes, at, dryRun } = wanted;
  const { ref: then, isScrubbed } = standing(changes, at);
  const now = await present(confinement, path);
  if (isScrubbed) return { how: 'kept', why: 'its content of then held a secret, which is not in the journal' }; // B2
  if (hexOf(then) === now) return { how: 'as_it_was' };
  if (!isKnown(changes, now)) return { how: 'kept', why: 'it was changed by somebody else since' }; // B1
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

/** What stood there: what the last call before left, or what the first one behind found. */
function standing(changes: readonly RecordedChange[], at: number): { ref: Ref | null; isScrubbed: boolean } {
  const last = changes.findLast(({ seq }) => seq <= at);
  if (last !== undefined) return { ref: last.after, isScrubbed: last.scrubbed.after };
  const [first] = changes;
  return { ref: first?.before ?? null, isScrubbed: first?.scrubbed.before === true };
}

/** Whether the journal holds what stands there now. Where nothing stands, nothing can be lost. */
function isKnown(changes: readonly RecordedChange[], now: string | null): boolean {
  return now === null || changes.some(({ before, after }) => hexOf(before) === now || hexOf(after) === now);
}

function hexOf(ref: Ref | null): string | null {
  return ref?.hex ?? null;
}

/** The digest of what stands there now; null for nothing. */
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
