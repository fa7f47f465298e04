/**
 * Folds one frame into one view: record by record, each in a savepoint of the overlay, with pure code under the guard's
 * flag. The {@link Fold} decides what a record means to a kind of view.
 */
import { isRepriseError, lineOfError, RepriseError } from '@reprise/contracts';
import { decode, encode } from '../../pure/codec/index.js';
import type { CompiledSources, EffectSeen, Entry } from '../../pure/define/index.js';
import { Exhausted, Fault, runPure } from '../../pure/engine/index.js';
import type { WorldFrame } from '../../run/world/read/reading.js';
import { emittedBy, entryOf, needsEffects } from './entries.js';
import { entryKey, PART } from './layout.js';
import type { Overlay } from './overlay.js';

/** How a kind of view folds an entry. */
export interface Fold {
  readonly name: string;
  readonly from: CompiledSources;
  readonly digest: string;
  /**
   * Runs the author's code over an entry, by {@link runFold}; may be repeated for the same entry.
   *
   * @returns the work left once the code has run: everything that must wait for the store or for content
   */
  fold(overlay: Overlay, entry: Entry): () => Promise<void>;
  /** Content was erased: copies of it are removed, whatever the author chose to fold. */
  forget?(overlay: Overlay, digests: readonly string[]): Promise<void>;
}

/** Runs an author's code over an entry. It must not be async: later writes would belong to no frame. */
export function runFold(body: () => unknown): void {
  if (runPure(body) === undefined) return;
  throw new RepriseError('invalid_value', 'a fold returned something, as async functions do', { expected: 'nothing' });
}

/**
 * Folds a frame. Either all of it is in the overlay when this resolves, or nothing of it.
 *
 * @throws RepriseError `view_failed` naming the record; the errors of the view store
 */
export async function foldFrame(fold: Fold, overlay: Overlay, frame: WorldFrame): Promise<void> {
  const withEffects = needsEffects(fold.from);
  try {
    for (const [i, record] of frame.records.entries()) {
      await foldRecord(fold, overlay, frame, i);
      if (record.kind === 'erase') await fold.forget?.(overlay, record.digests);
      if (withEffects) noteEffect(overlay, frame, i);
      overlay.keepRecord();
    }
  } catch (error) {
    overlay.dropFrame();
    throw error;
  }
  overlay.keepFrame();
}

async function foldRecord(fold: Fold, overlay: Overlay, frame: WorldFrame, i: number): Promise<void> {
  try {
    for (let done = false; !done; ) {
      const attempted = attempt(fold, overlay, frame, i);
      const missing = overlay.takeMissing();
      done = missing === undefined;
      if (missing !== undefined) {
        overlay.dropRecord(); // overlay/O2
        await overlay.load(missing);
      } else if ('thrown' in attempted) throw attempted.thrown;
      else await attempted.finish?.();
    }
  } catch (error) {
    throw failure(fold.name, frame, i, error);
  }
}

type Attempt = { readonly finish: (() => Promise<void>) | undefined } | { readonly thrown: unknown };

/** Runs the code once. Its error is looked at later: a missing entry counts even when the fold caught the symbol. */
function attempt(fold: Fold, overlay: Overlay, frame: WorldFrame, i: number): Attempt {
  try {
    const entry = entryOf(fold.from, frame, i, (effect) => readEffect(overlay, effect));
    return { finish: entry && fold.fold(overlay, entry) };
  } catch (thrown) {
    return { thrown };
  }
}

function noteEffect(overlay: Overlay, frame: WorldFrame, i: number): void {
  const record = frame.records[i];
  const emitted = record === undefined ? null : emittedBy(record);
  if (emitted === null) return;
  const { id, name, cell, plan } = emitted;
  overlay.write(entryKey(PART.effect, id), encode([name, cell, plan]));
}

function readEffect(overlay: Overlay, id: string): EffectSeen | null {
  const bytes = overlay.read(entryKey(PART.effect, id));
  if (bytes === null) return null;
  const [name, cell, plan] = decode(bytes) as unknown as [string, EffectSeen['cell'], number | null];
  return { id, name, cell, plan };
}

function failure(view: string, frame: WorldFrame, i: number, error: unknown): RepriseError {
  const why = reasonOf(error);
  return new RepriseError('view_failed', `the view ${view} cannot fold a record: ${why.what}`, {
    where: `frame ${frame.seq}, record ${i} (${frame.records[i]?.kind ?? 'none'})`,
    view,
    seq: frame.seq,
    record: i,
    hint: 'Fix its fold: a view with a changed definition is rebuilt from the journal.',
    cause: why.cause,
  });
}

function reasonOf(error: unknown): { readonly what: string; readonly cause: unknown } {
  if (error instanceof Fault) {
    const inner = error.cause;
    return isRepriseError(inner)
      ? { what: inner.message, cause: inner }
      : { what: error.detail, cause: inner ?? error };
  }
  if (error instanceof Exhausted) return { what: 'it exhausted the stack', cause: error.cause };
  return { what: error instanceof Error ? error.message : lineOfError(error), cause: error };
}
