/** The era that a world is in when it is opened, and the app that replays the end of it. */
import { type IngressOf, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '../../../ports/store/store.js';
import { type App, pinsOf } from '../../../pure/define/index.js';
import { eraAt, samePins } from './eras.js';
import type { FittingRecords } from './recorded-values.js';
import { requireSemantics } from './replayer.js';

/** The part of a store that is read here. */
export type ReadStore = Pick<ReadonlyStore, 'journal' | 'content' | 'hash'>;

/** The current era and the app that replays it. */
export interface CurrentEra {
  readonly manifest: IngressOf<'manifest'>;
  /** Replays the frames after the newest snapshot. */
  readonly eraApp: App;
  /** Whether the app pins exactly the same as the era. */
  readonly same: boolean;
  /** Names whose digest differs from the pin; proven to replay the era all the same. */
  readonly edited: readonly string[];
  /** What was recorded under those names and fits. */
  readonly fitting: readonly FittingRecords[];
  /** Pinned names without a given definition. */
  readonly lacking: readonly string[];
}

/**
 * The current era; undefined for a journal without frames.
 *
 * @throws RepriseError `journal_damaged`, `semantics_unknown`, `era_incompatible`
 */
export async function currentEra(store: ReadStore, app: App, legacy: readonly App[]): Promise<CurrentEra | undefined> {
  const manifest = await eraAt(store.journal, Number.MAX_SAFE_INTEGER);
  if (manifest === undefined) {
    if ((await store.journal.head()).seq < 0) return undefined;
    throw new RepriseError('journal_damaged', 'the journal has frames but no manifest', { where: 'frame 0' });
  }
  requireSemantics(manifest);
  const pins = pinsOf(app);
  if (samePins(pins, manifest)) return { manifest, eraApp: app, same: true, edited: [], fitting: [], lacking: [] };
  const { eraOfOtherPins } = await import('./upgrade.js'); // most worlds are opened by the app that wrote them
  return eraOfOtherPins(store, manifest, app, legacy);
}
