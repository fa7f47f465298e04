/** All that must hold of a random world once it is closed. */
import { isRepriseError, type RepriseError } from '@reprise/contracts';
import { PROGRAM_CELLS, type ScheduleStep } from '../../../../testkit/src/arbitraries/index.js';
import { type App, encode, equalBytes, readFrame, verifyStore, type World, worldAt } from '../../../src/index.js';
import { type HeldReplay, holdReplay } from '../../replay/verify/replay-law.js';
import { type RandomWorld, runSchedule } from './run-schedule.js';

/** Refusals that no pure program may cause. */
const NEVER = ['nondeterminism', 'internal_error', 'replay_divergence', 'journal_damaged', 'blob_missing'];

/** The counts of checks, for figures. */
export interface HeldWorld extends HeldReplay {
  readonly acks: number;
  readonly refused: number;
  readonly records: number;
}

/**
 * Runs a schedule and holds what is left of it to the laws: it verifies with its app and without, every
 * acknowledged head is in it, its last state is that of a replay, and replay from every frame gives the same.
 */
export async function holdWorld(schedule: readonly ScheduleStep[], app: App): Promise<HeldWorld> {
  let seen: Seen = { seq: 0, states: [] };
  const run = await runSchedule(schedule, {
    app,
    lastly: async (world) => {
      seen = await look(world);
      await world.snapshot();
    },
  });
  for (const code of NEVER) if (run.refusals.has(code)) throw new Error(`a pure program was refused as ${code}`);
  const records = await holdAcks(run, app);
  const store = await run.store.openReadonly();
  const held = await holdReplay(store, { app });
  const at = await worldAt(store, app, seen.seq);
  for (const [i, cell] of PROGRAM_CELLS.entries()) {
    const [live, replayed] = [seen.states[i], await at.state(cell)];
    if (!sameState(live, replayed))
      throw new Error(`${cell.join('/')}: live ${JSON.stringify(live)}, replayed ${JSON.stringify(replayed)}`);
  }
  const refused = [...run.refusals.values()].reduce((sum, count) => sum + count, 0);
  return { ...held, acks: run.acks.length, refused, records };
}

/** The states of all cells at one frame. */
export interface Seen {
  readonly seq: number;
  readonly states: readonly unknown[];
}

/** The states of all cells at one frame: effects may be under way, so it is asked again until none came between. */
export async function look(world: World): Promise<Seen> {
  for (;;) {
    const { seq } = world.head;
    const states: unknown[] = [];
    for (const cell of PROGRAM_CELLS) states.push(await world.state(cell));
    if (world.head.seq === seq) return { seq, states };
  }
}

/** Every head that was acknowledged is in the journal, at its place; the journal verifies with its app and without. */
async function holdAcks(run: RandomWorld, app: App): Promise<number> {
  const store = await run.store.openReadonly();
  const heads: string[] = [];
  for await (const { seq, head, bytes } of store.journal.read(0)) {
    heads.push(head);
    readFrame(bytes, seq);
  }
  for (const { seq, head } of run.acks) {
    if (heads[seq] !== head) throw new Error(`the head acknowledged for frame ${seq} is not there`);
  }
  const expect = run.acks[run.acks.length >> 1]?.head;
  await verifyStore(store, expect === undefined ? {} : { expect });
  const { records } = await verifyStore(store, expect === undefined ? { app } : { app, expect });
  const forged = await refusalOf(verifyStore(store, { app, expect: 'ab'.repeat(32) }));
  if (forged?.code !== 'head_mismatch')
    throw new Error(`a head that was never acknowledged was found: ${forged?.code}`);
  return records;
}

function sameState(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  return equalBytes(encode(one), encode(other));
}

/** The error of a rejected promise; undefined when it resolves. */
export async function refusalOf(promise: Promise<unknown>): Promise<RepriseError | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    if (isRepriseError(error)) return error;
    throw error;
  }
}
