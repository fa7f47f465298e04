/** Verifies a world from genesis: chain, shape, content, and, for each era whose app is at hand, every derivation. */
import { type IngressOf, Ref, RepriseError } from '@reprise/contracts';
import { readInputs } from '../../ports/journal/frame.js';
import type { Head } from '../../ports/journal/port.js';
import type { ReadonlyStore } from '../../ports/store/store.js';
import {
  requireApp,
  requireApps,
  requireDigest,
  requireFunction,
  requireObject,
} from '../../pure/arguments/arguments.js';
import { requireReadable } from '../../pure/arguments/stores.js';
import { type App, pinsOf } from '../../pure/define/index.js';
import { pinsLacking } from './era/eras.js';
import type { Sandbox } from './era/sandbox.js';
import { ALL_BLOBS, readBlobs, requireAccounted } from './walk/content-walk.js';
import type { VerifiedEra } from './walk/era-walk.js';
import { Erasures, wasErasedAfter } from './walk/erasures.js';
import { checkLandmarks } from './walk/indexes.js';
import { readInShares, verifyInRanges } from './walk/parallel.js';
import { Progress, type VerifyProgress } from './walk/progress.js';
import type { RangeFound, VerifyWorkers } from './walk/range.js';
import { RangeWalk } from './walk/range-walk.js';

/** With which apps and code a journal is verified, and the head that it must have. */
export interface VerifyOptions {
  /** The pure code of the app. Without it only the chain, the records' shape, the receipts and the content are checked. */
  readonly app?: App;
  /** Earlier apps: each era is replayed by the app that has exactly its definitions. */
  readonly legacy?: readonly App[];
  /**
   * Replays eras with the code that the journal itself carries, before any app is tried. This runs code from the file;
   * without it no such code runs.
   */
  readonly code?: Sandbox;
  /**
   * Folds every frame with all leaves decoded from their bytes and all plans rebuilt. Without it one frame in 256 is
   * folded so, and the others use what was kept from the frames before them. Workers are told by their maker.
   */
  readonly thorough?: boolean;
  /** An acknowledged or published head digest: detects truncation and rollback, which a chain alone cannot show. */
  readonly expect?: string;
  /**
   * Verifies ranges between snapshots at once, elsewhere, and reads the blobs there. They use the same apps and the same
   * code; the report and the errors are those of a verification without them.
   */
  readonly workers?: VerifyWorkers;
  /** Called a few times a second with the progress; with workers at least once a second, however long a frame takes. */
  readonly onProgress?: (progress: VerifyProgress) => void;
}

/** What a verification that found no divergence covered. */
export interface VerifyReport {
  /** Frames whose derivations were replayed. */
  readonly replayed: number;
  /** Frames of which only the chain, the shape and the receipts were checked, since no given app has their definitions. */
  readonly unverified: number;
  /** The eras of the journal, in its order. */
  readonly eras: readonly VerifiedEra[];
  readonly frames: number;
  readonly records: number;
  readonly blobs: number;
  /** Erased blobs that the journal's tombstones name. */
  readonly erased: number;
  /** Blobs that were erased and exist again: put since, or restored from a copy. */
  readonly returned: number;
  readonly head: Head;
}

/**
 * Verifies a world. Needs no adapter, key or network, and writes nothing.
 *
 * @throws RepriseError the first defect, naming its place: `journal_damaged`, `replay_divergence`,
 *   `manifest_mismatch`, `semantics_unknown`, `blob_missing`, `blob_damaged`, `erase_unfinished`, `head_mismatch`;
 *   `code_mismatch`, `code_failed` for code that the journal carries; `invalid_argument` for an invalid store, app,
 *   sandbox or expected head
 * @example
 * const store = await sqlite('world.db').openReadonly()
 * const { replayed, unverified, head } = await verifyStore(store, { app, legacy: [lastYears], expect: publishedHead })
 */
export async function verifyStore(store: ReadonlyStore, options: VerifyOptions = {}): Promise<VerifyReport> {
  const apps = requireVerifiable(store, options);
  const { workers, expect } = options;
  const of = (await store.journal.head()).seq + 1;
  const progress = new Progress(of, options.onProgress);
  const inRanges = workers && (await verifyInRanges(store, { workers, expect, progress }));
  const walk = inRanges === undefined ? await verifyWhole(store, { ...options, apps }, progress) : undefined;
  const found = inRanges?.found ?? (walk as RangeWalk).found;
  const { erased, returned } = await judge(store, found, { ...options, apps });
  const inShares = workers && inRanges && (await readInShares(workers, inRanges.begun, progress));
  const blobs = inShares ?? (await readAll(store, progress, walk));
  const { eras, records, end } = found;
  const [replayed, unverified] = [framesOf(eras, 'replayed'), framesOf(eras, 'unverified')];
  const head = { seq: end.seq, digest: end.head };
  return { replayed, unverified, eras, frames: end.seq + 1, records, blobs, erased, returned, head };
}

/** Verifies all frames in one piece. @returns the walk, ended: what it found, and which blobs it has read */
async function verifyWhole(
  store: ReadonlyStore,
  {
    apps,
    code,
    expect,
    thorough = false,
  }: Pick<VerifyOptions, 'code' | 'expect' | 'thorough'> & {
    readonly apps: readonly App[];
  },
  progress: Progress,
): Promise<RangeWalk> {
  const walk = new RangeWalk(store, { apps, thorough, ...(code === undefined ? {} : { code }) }, expect);
  try {
    await walk.through(undefined, progress);
    return walk;
  } finally {
    await walk.close();
  }
}

/** Judges what the frames together show: the landmarks, the apps, the expected head, and what was erased. */
async function judge(
  store: ReadonlyStore,
  found: RangeFound,
  { apps, expect }: Pick<VerifyOptions, 'expect'> & { readonly apps: readonly App[] },
): Promise<Awaited<ReturnType<Erasures['check']>>> {
  const { eras, end } = found;
  const head = { seq: end.seq, digest: end.head };
  if (head.seq < 0)
    throw new RepriseError('world_absent', 'the journal has no frame', {
      hint: 'Check that this is the file of a world.',
    });
  await checkLandmarks(store.journal, new Map(found.newest), head.seq);
  // An app that replays nothing is the wrong app; its eras must not just be called unverified.
  if (framesOf(eras, 'replayed') === 0 && apps.length > 0) await requireOneFits(store, end.manifest, apps);
  const isExpected = expect === undefined || found.isExpected;
  if (!isExpected) throw headMismatch(expect, head);
  const erasures = new Erasures(found.erased, found.lastErase);
  const gone = found.gone.map(({ hex, kind, where }) => ({ ref: Ref.fromHex(hex, kind), where }));
  await requireAccounted(gone, async (ref) => erasures.has(ref.hex) || wasErasedAfter(head.seq, store, ref));
  return erasures.check(store.content);
}

async function readAll(store: ReadonlyStore, progress: Progress, walk: RangeWalk | undefined): Promise<number> {
  const tick = (blobs: number) => progress.step({ blobs });
  return readBlobs(store, ALL_BLOBS, tick, (hex) => walk?.hasRead(hex) === true);
}

function requireVerifiable(store: ReadonlyStore, options: VerifyOptions): readonly App[] {
  requireReadable(store, 'verifyStore');
  requireObject(options, 'the options');
  const { app, legacy = [], code, expect, workers, onProgress } = options;
  if (expect !== undefined) requireDigest(expect);
  if (onProgress !== undefined) requireFunction(onProgress, 'onProgress');
  if (code !== undefined) requireFunction((code as Partial<Sandbox> | null)?.load, 'code.load');
  if (workers !== undefined) requireFunction((workers as Partial<VerifyWorkers> | null)?.verify, 'workers.verify');
  requireApps(legacy);
  if (app === undefined) return legacy;
  requireApp(app);
  return [app, ...legacy];
}

function framesOf(eras: readonly VerifiedEra[], status: VerifiedEra['status']): number {
  return eras.filter((era) => era.status === status).reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/**
 * The pinned definitions that an app lacks or has with another digest.
 *
 * @returns their names; empty when the app can replay the era
 */
export function missingDefinitions(manifest: IngressOf<'manifest'>, app: App): string[] {
  return pinsLacking(manifest, pinsOf(app));
}

/** Refuses apps that cannot replay an era: the first of them that cannot. */
async function requireOneFits({ journal }: ReadonlyStore, seq: number, apps: readonly App[]): Promise<void> {
  for await (const { bytes } of journal.read(seq, seq)) {
    const { ingress } = readInputs(bytes, seq);
    if (ingress.kind === 'manifest') for (const app of apps) requireDefinitions(ingress, app);
  }
}

/** Refuses an app that cannot replay an era. */
function requireDefinitions(manifest: IngressOf<'manifest'>, app: App): void {
  const missing = missingDefinitions(manifest, app);
  if (missing.length === 0) return;
  throw new RepriseError('manifest_mismatch', 'the app lacks definitions that this journal was written with', {
    where: `frame ${manifest.seq}`,
    actual: missing.join(', '),
    hint: 'Load the app that wrote it. A changed schema needs a new version of its name.',
  });
}

function headMismatch(expected: string, head: Head): RepriseError {
  return new RepriseError('head_mismatch', 'no frame of this journal has the expected head', {
    expected: `sha256:${expected}`,
    actual: `sha256:${head.digest} at frame ${head.seq}`,
    hint: 'The journal was cut or rolled back, or it is another journal.',
  });
}
