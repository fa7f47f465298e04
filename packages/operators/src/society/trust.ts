/** Trust over time: for each pair of observer and author, the score after each verdict that moved it. */
import type { OptionKind } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { namesAt } from '../names/names-at.js';
import { frameOf } from '../page/frames.js';
import { type PageOptions, pageOf } from '../page/page.js';
import { AT_OPTIONS, PAGE_OPTIONS, requireQuestion } from '../page/require.js';
import { skimFrames, textsIn } from '../skim/index.js';
import { HOLDING_VERDICTS, verdictsIn } from '../verdicts/index.js';
import type { TrustPair, TrustReport } from './trust-report.js';

/** When trust is read, and which part of a long answer is wanted. */
export interface TrustOfOptions extends PageOptions {
  /** The frame up to which it is read; the newest one when absent. */
  readonly at?: number;
  readonly signal?: AbortSignal;
}

const KNOWN: Readonly<Record<keyof TrustOfOptions, true | OptionKind>> = { ...AT_OPTIONS, ...PAGE_OPTIONS };

/**
 * Reads how trust came to be what it is after a frame: the verdicts of each observer on the items of each author, and the
 * score after each. It needs no app: the journal states every change. A fork tells what changed in it.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame, or no pair has the cursor
 */
export async function trustOf(store: ReadonlyStore, options: TrustOfOptions = {}): Promise<TrustReport> {
  requireQuestion('trustOf', store, options, KNOWN);
  const { signal } = options;
  const frame = await frameOf(store, options.at);
  const changes = await changesUpTo(store, frame, signal);
  const names = await namesAt(store, frame, signal);
  const named = (id: string) => ({ id, name: names.entityName(id) ?? id });
  const pairs = [...changes.values()].flatMap(({ observer, agent, all }): TrustPair[] => {
    const last = all.at(-1);
    if (last === undefined) return [];
    const { ppm: score_ppm, observations, tier } = last.trust;
    return [{ observer: named(observer), agent: named(agent), score_ppm, observations, tier, changes: all }];
  });
  const { items, next } = pageOf(pairs.sort(byNames), options, cursorOf);
  return { frame, pairs: [...items], next };
}

type Changes = { readonly observer: string; readonly agent: string; readonly all: TrustPair['changes'] };

async function changesUpTo(
  store: ReadonlyStore,
  last: number,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Changes>> {
  const changes = new Map<string, Changes>();
  await skimFrames(store, { from: 0, to: last, holding: textsIn(HOLDING_VERDICTS), signal }, (frame, at, records) => {
    for (const { observer, agent, trust, item, verdict, basis, by } of verdictsIn(records)) {
      if (agent === null || trust === null) continue;
      const pair = changes.get(`${observer} ${agent}`) ?? { observer, agent, all: [] };
      changes.set(`${observer} ${agent}`, pair);
      pair.all.push({ frame, at, item, verdict, basis, by, trust });
    }
  });
  return changes;
}

function cursorOf({ observer, agent }: TrustPair): string {
  return `${observer.id} ${agent.id}`;
}

/** By the author, since that is whom one asks about, and then by the observer. */
function byNames(a: TrustPair, b: TrustPair): number {
  const [one, other] = [sortKey(a), sortKey(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

function sortKey({ observer, agent }: TrustPair): string {
  return `${agent.name} ${agent.id} ${observer.name} ${observer.id}`;
}
