/**
 * Folds one frame into one view: record by record, each in a savepoint of the overlay, with pure code under the guard's
 * flag. The {@link Fold} decides what a record means to a kind of view.
 */
import { isRepriseError, type JournalRecord, lineOfError, RepriseError } from '@reprise/contracts';
import { decode, encode } from '../../pure/codec/index.js';
import type { CompiledSources, EffectSeen, Entry } from '../../pure/define/index.js';
import { Exhausted, Fault, runPure } from '../../pure/engine/index.js';
import type { WorldFrame } from '../../run/world/read/reading.js';
import { chosenOf, emittedBy, entryOf } from './entries.js';
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
   * @returns the work left once the code has run: everything that must wait for the store or for content; undefined when
   *   nothing is left
   */
  fold(overlay: Overlay, entry: Entry): (() => Promise<void>) | undefined;
  /** Content was erased: copies of it are removed, whatever the author chose to fold. */
  forget?(overlay: Overlay, digests: readonly string[]): Promise<void>;
}

/** Runs an author's code over an entry. It must not be async: later writes would belong to no frame. */
export function runFold(body: () => unknown): void {
  if (runPure(body) === undefined) return;
  throw new RepriseError('invalid_value', 'a fold returned something, as async functions do', { expected: 'nothing' });
}

/**
 * Folds a frame. Either all of it is in the overlay when this resolves, or nothing of it. It waits only for the store and
 * for content: a promise for each record would cost more than the records, of which a view chooses few.
 *
 * @throws RepriseError `view_failed` naming the record; the errors of the view store
 */
export async function foldFrame(fold: Fold, overlay: Overlay, frame: WorldFrame): Promise<void> {
  const chosen = chosenOf(fold.from);
  const { records } = frame;
  try {
    for (let i = 0; i < records.length; i++) {
      const record = records[i] as JournalRecord;
      const left = chosen.mayBe(record.kind) ? attempt(fold, overlay, frame, i) : undefined;
      if (left !== undefined) await finish(fold, overlay, { frame, i, left });
      if (record.kind === 'erase') await fold.forget?.(overlay, record.digests);
      if (chosen.needsEffects) noteEffect(overlay, record);
      overlay.keepRecord();
    }
  } catch (error) {
    overlay.dropFrame();
    throw error;
  }
  overlay.keepFrame();
}

/** What is left when the code has run once: an entry that it missed, its error, or work that waits. */
type Left = { readonly missing: Uint8Array } | { readonly thrown: unknown } | { readonly rest: () => Promise<void> };

/** Runs the code once. @returns undefined when the record is folded */
function attempt(fold: Fold, overlay: Overlay, frame: WorldFrame, i: number): Left | undefined {
  const left = run(fold, overlay, frame, i);
  const missing = overlay.takeMissing(); // it counts even when the fold caught the symbol
  return missing === undefined ? left : { missing };
}

function run(fold: Fold, overlay: Overlay, frame: WorldFrame, i: number): Left | undefined {
  try {
    const entry = entryOf(fold.from, frame, i, (effect) => readEffect(overlay, effect));
    const rest = entry && fold.fold(overlay, entry);
    return rest && { rest };
  } catch (thrown) {
    return { thrown };
  }
}

/** A record that is folded in part. */
interface Unfinished {
  readonly frame: WorldFrame;
  readonly i: number;
  readonly left: Left;
}

async function finish(fold: Fold, overlay: Overlay, { frame, i, left: first }: Unfinished): Promise<void> {
  try {
    for (let left: Left | undefined = first; left !== undefined; left = attempt(fold, overlay, frame, i)) {
      if ('thrown' in left) throw left.thrown;
      if ('rest' in left) return await left.rest();
      overlay.dropRecord(); // overlay/O2
      await overlay.load(left.missing);
    }
  } catch (error) {
    throw failure(fold.name, frame, i, error);
  }
}

function noteEffect(overlay: Overlay, record: JournalRecord): void {
  const emitted = emittedBy(record);
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
