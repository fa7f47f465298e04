/**
 * The law of forks over random worlds: at every frame at which a world may be forked, a dry fork asks nobody, settles
 * what is open as the original settled it, and, fed what was asked of the original, comes to the same states; where
 * time and the order of several outcomes do not come between.
 */
import { isRepriseError, type Value } from '@reprise/contracts';
import type fc from 'fast-check';
import {
  anySchedule,
  PROGRAM_CELLS,
  PROGRAM_EVENTS,
  programAdapters,
  programApp,
  type ScheduledRequest,
} from '../../../../testkit/src/arbitraries/index.js';
import {
  encode,
  equalBytes,
  type ForkReport,
  forkReport,
  forkWorld,
  memory,
  openKernelWorld,
  type ReadonlyStore,
  readFrame,
  type Store,
  verifyStore,
  type World,
} from '../../../src/index.js';
import { turn } from '../../support/judge.js';
import { nativeHash } from '../../support/laws/run-schedule.js';
import { TestClock } from '../../support/test-clock.js';

/** Figures of a law. */
export interface HeldForks {
  forks: number;
  /** Forks of which the last states were compared with the original's. */
  compared: number;
  matched: number;
  settled: number;
}

/** Any world that is forked: requests with programs that break no rule. */
export function anyForkedWorld(requestsMax: number): fc.Arbitrary<readonly ScheduledRequest[]> {
  return anySchedule({ stepsMax: requestsMax, breaks: false, faults: false }).map((schedule) =>
    schedule.flatMap((step): ScheduledRequest[] => (step.step === 'request' ? [step] : [])),
  );
}

const work = { app: programApp, recheckEvery: 1, drive: 'manual' } as const;

/** Runs requests one after another, each until nothing is left to do, and holds every fork of what they leave. */
export async function holdForks(requests: readonly ScheduledRequest[], held: HeldForks): Promise<void> {
  const store = memory({ hash: nativeHash });
  const adapters = programAdapters();
  const world = await openKernelWorld({ store, clock: new TestClock(), adapters, ...work });
  for (const [i, { to, creates, ops, payload }] of requests.entries()) {
    const name = creates ? PROGRAM_EVENTS.made : PROGRAM_EVENTS.ran;
    await world.request(to, { name, value: { ops, payload } }, { id: `r${i}` }).catch(refusalsOnly);
    await workOut(world, adapters);
  }
  const [states, head] = [await statesOf(world), world.head.seq];
  const open = (await world.openEffects()).length;
  const source = await store.openReadonly();
  const kinds = await kindsOf(source);
  for (let at = 0; at <= head; at++) {
    if (kinds[at + 1] === 'continue') continue;
    const later = kinds.slice(at + 1);
    // A timer that is due at once meets receipts that were under way: in the fork they are there before it.
    const comparable = open === 0 && !later.includes('timer');
    await holdFork(source, at, comparable ? states : undefined, held);
  }
  await world.close();
}

async function holdFork(
  source: ReadonlyStore,
  at: number,
  states: readonly Value[] | undefined,
  held: HeldForks,
): Promise<void> {
  const into = memory({ hash: nativeHash });
  const { settled } = await forkWorld(source, { app: programApp, at, into });
  const adapters = programAdapters();
  const fork = await openKernelWorld({ store: into, clock: new TestClock(), adapters, ...work });
  await fork.feed(source);
  const own = states === undefined ? [] : await statesOf(fork);
  await fork.close();
  if (adapters.some(({ executions }) => executions.size > 0)) throw new Error(`the fork at ${at} asked the outside`);
  const { matched, unmatched, unused } = await reportOf(into);
  held.forks++;
  held.matched += matched.length;
  held.settled += settled;
  // The cut settles all at once what the original got one after another: a plan may see the second where it gave up.
  if (states === undefined || settled > 1) return;
  held.compared++;
  if (unmatched.length + unused.length > 0) {
    throw new Error(`the fork at ${at}: ${JSON.stringify(unmatched)} unmatched, ${JSON.stringify(unused)} unused`);
  }
  for (const [i, cell] of PROGRAM_CELLS.entries()) {
    if (equalBytes(encode(own[i] ?? null), encode(states[i] ?? null))) continue;
    throw new Error(
      `the fork at ${at}, ${cell.join('/')}: ${JSON.stringify(own[i])}, not ${JSON.stringify(states[i])}`,
    );
  }
}

/** Works until nothing is left to do; whatever hangs outside is answered. */
async function workOut(world: World, adapters: ReturnType<typeof programAdapters>): Promise<void> {
  let quiet = false;
  const pumped = world.pump().finally(() => {
    quiet = true;
  });
  while (!quiet) {
    await turn();
    for (const adapter of adapters) adapter.releaseAll();
  }
  await pumped;
}

async function reportOf(store: Store): Promise<ForkReport> {
  const readonly = await store.openReadonly();
  await verifyStore(readonly, { app: programApp });
  return forkReport(readonly);
}

async function statesOf(world: World): Promise<Value[]> {
  const states: Value[] = [];
  for (const cell of PROGRAM_CELLS) states.push((await world.state(cell)) ?? null);
  return states;
}

async function kindsOf(store: ReadonlyStore): Promise<string[]> {
  const kinds: string[] = [];
  for await (const { bytes, seq } of store.journal.read(0)) kinds.push(readFrame(bytes, seq).ingress.kind);
  return kinds;
}

function refusalsOnly(error: unknown): void {
  if (!isRepriseError(error)) throw error;
}
