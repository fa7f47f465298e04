/** The era that a world is in when it is opened, and the app that replays the end of it. */
import { type IngressOf, isRepriseError, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '../../ports/store/store.js';
import { type App, pinsOf } from '../../pure/define/index.js';
import { eraAt, samePins } from './eras.js';
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
  if (samePins(pins, manifest)) return { manifest, eraApp: app, same: true, edited: [], lacking: [] };
  const { eraOfOtherPins } = await import('./upgrade.js'); // most worlds are opened by the app that wrote them
  return eraOfOtherPins(store, manifest, app, legacy);
}

/** The refusal of replaying the tail, attributed to the app when it lacks definitions. */
export function refusalOfTail(error: unknown, { manifest, lacking }: CurrentEra): unknown {
  if (lacking.length === 0 || !isRepriseError(error, 'replay_divergence')) return error;
  return new RepriseError(
    'manifest_mismatch',
    'the app lacks definitions that the end of this journal was written with',
    {
      where: `the era from frame ${manifest.seq}`,
      actual: named(lacking),
      hint: 'Pass the earlier definitions: as `from` of `migrates`, as `replaces`, or their app as `legacy`. Or let the build that wrote it take a snapshot and close it first.',
      cause: error,
    },
  );
}

/** The number of things of one kind that an error names. */
const NAMED_MAX = 10;

/** The first of some names, and how many there are beyond. */
export function named(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return [...names.slice(0, NAMED_MAX), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
