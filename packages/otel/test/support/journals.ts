/** Journals of random histories: of sessions with children, of trees, of teams and of swarms, as the frames that a store holds. */
import type { WorldPart } from '@reprise/agent';
import { memory, type ReadonlyStore } from '@reprise/kernel';
import fc from 'fast-check';
import { Differs } from '../../../../conformance/tree/follow.js';
import { playWorld } from '../../../../conformance/tree/worlds/play.js';
import { worldSchedules } from '../../../../conformance/tree/worlds/schedule.js';
import { anyHistory } from '../../../agent/test/histories/happenings.js';
import { playHistory } from '../../../agent/test/histories/play-history.js';
import { compareHistories, type Histories } from '../../../cli/test/views/histories.js';
import { SWARMS } from '../../../cli/test/views/swarms.js';
import { TEAMS } from '../../../cli/test/views/teams.js';
import { skimFrame } from '../../../kernel/src/ports/journal/frame.js';
import type { TraceFrame } from '../../src/trace/tracer.js';

/** The kinds of histories. */
export const KINDS = ['sessions', 'trees', 'teams', 'swarms'] as const;

/** The frames of a store. */
export async function framesIn(store: ReadonlyStore): Promise<TraceFrame[]> {
  const frames: TraceFrame[] = [];
  for await (const { seq, at, bytes } of store.journal.read(0))
    frames.push({ seq, at, records: skimFrame(bytes, seq) });
  return frames;
}

const made = new Map<string, Promise<TraceFrame[]>>();

/** One random journal of a kind, the same for the same seed. The first ones are made once for all tests. */
export function journalOf(kind: (typeof KINDS)[number], seed: number): Promise<TraceFrame[]> {
  const key = `${kind} ${seed}`;
  const known = made.get(key) ?? makeJournal(kind, seed);
  if (made.size < 64) made.set(key, known);
  return known;
}

async function makeJournal(kind: (typeof KINDS)[number], seed: number): Promise<TraceFrame[]> {
  if (kind === 'sessions') return sessionsJournal(seed);
  if (kind === 'trees') return treeJournal(seed);
  return kind === 'teams' ? played(TEAMS, seed, 24) : played(SWARMS, seed, 9);
}

async function sessionsJournal(seed: number): Promise<TraceFrame[]> {
  const [history] = fc.sample(anyHistory, { seed, numRuns: 1 });
  const frames: TraceFrame[] = [];
  if (history !== undefined) await playHistory(history, false, { onFrame: (frame) => frames.push(frame) });
  return frames;
}

async function treeJournal(seed: number): Promise<TraceFrame[]> {
  const [schedule] = fc.sample(worldSchedules, { seed, numRuns: 1 });
  const store = memory();
  // What the tree should have done is for its own laws: here its journal counts, whatever it did.
  if (schedule !== undefined)
    await playWorld(schedule, store).catch((error: unknown) => {
      if (!(error instanceof Differs)) throw error;
    });
  return framesIn(await store.openReadonly());
}

/** The last look at a history has all of its frames. */
async function played<P extends WorldPart>(
  { part, answer, act }: Histories<P>,
  seed: number,
  places: number,
): Promise<TraceFrame[]> {
  let frames: TraceFrame[] = [];
  const look: Histories<P>['look'] = async ({ store }) => {
    frames = await framesIn(store);
    return [['the frames', true, true]];
  };
  const used: Histories<P>['answer'] = (draw, request) => ({
    ...answer(draw, request),
    ...(draw(3) === 0 ? {} : { usage: { tokens_in: draw(900), tokens_out: draw(90) } }),
  });
  await compareHistories({ part, answer: used, act, look }, { places, seed });
  return frames;
}
