/** What a file says waits, beside what the open world says, at random places of random teams and swarms. */
import type { WorldPart } from '@reprise/agent';
import { type ReadonlyStore, readFrame } from '@reprise/kernel';
import { type OpenEffect, OpenEffectsFold, snapshotBefore } from '@reprise/kernel/inspect';
import { describe, expect, it } from 'vitest';
import { compareHistories, type Histories, type Pair, type Place } from '../../cli/test/views/histories.js';
import { SWARMS } from '../../cli/test/views/swarms.js';
import { TEAMS } from '../../cli/test/views/teams.js';
import { REDUCERS } from '../src/names/reducers.js';
import { pendingIn } from '../src/waiting/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const PLACES = process.env.REPRISE_VIEWS === undefined ? { teams: 25, swarms: 4 } : { teams: 2_000, swarms: 200 };

/** The histories, with what a file says waits in place of their own views. */
function waitsOf<P extends WorldPart>({ part, answer, act }: Histories<P>): Histories<P> {
  return { part, answer, act, look: compareWaits };
}

async function compareWaits({ world, store, at }: Place<WorldPart>): Promise<readonly Pair[]> {
  const { seq } = at.head;
  const open = await openEffectsAt(store, seq);
  const report = await pendingIn(store);
  const pending = (await world.kernel.pending()).map(({ id }) => id).sort();
  const listed = report.waiting.filter(({ kind }) => ['approval', 'question', 'outside'].includes(kind));
  const states = await sessionStates(store, seq, (address) => at.state(address));
  return [
    [
      'the open effects',
      open.map(({ effect, name, plan, guarantee, attempt }) => [effect, name, plan[0], plan[1], guarantee, attempt]),
      at.openEffects().map((one) => [one.effect, one.name, one.cell[0], one.cell[1], one.guarantee, one.attempt]),
    ],
    ['what waits in effects', listed.map(({ id }) => id).sort(), pending],
    [
      'sessions at work',
      report.unfinished.map(({ of, lifecycle }) => `${of.session} ${lifecycle}`).sort(),
      states
        .filter(([, state]) => AT_WORK.includes(state.lifecycle))
        .map(([key, state]) => `${key} ${state.lifecycle}`),
    ],
    [
      'sessions that a person moves on',
      report.waiting
        .filter(({ kind, of }) => STILL.includes(kind) && of.session !== null)
        .map(({ of, kind }) => `${of.session} ${kind}`)
        .sort(),
      states.flatMap(([key, state]) => {
        const kind = waitOf(state);
        return kind === undefined ? [] : [`${key} ${kind}`];
      }),
    ],
  ];
}

const AT_WORK = ['Running', 'Cancelling'];
const STILL: readonly string[] = ['pause', 'input', 'limit'];

interface State {
  readonly lifecycle: string;
  readonly queued: number;
  readonly waiting: { readonly for: string } | null;
}

function waitOf({ lifecycle, queued, waiting }: State): string | undefined {
  if (lifecycle === 'Paused' || (['Failed', 'Cancelled'].includes(lifecycle) && queued > 0)) return 'pause';
  if (lifecycle !== 'WaitingInput' || waiting === null) return undefined;
  return STILL.includes(waiting.for) ? waiting.for : undefined;
}

/** The states of all sessions that were ever sent an event, in the order of their keys. */
async function sessionStates(
  store: ReadonlyStore,
  last: number,
  read: (address: [string, string]) => Promise<unknown>,
): Promise<readonly (readonly [string, State])[]> {
  const keys = new Set<string>();
  for await (const { seq, bytes } of store.journal.read(0, last))
    for (const record of readFrame(bytes, seq).all)
      if ((record.kind === 'event' || record.kind === 'request') && record.to[0] === REDUCERS.session)
        keys.add(record.to[1]);
  const found: (readonly [string, State])[] = [];
  for (const key of [...keys].sort()) {
    const state = await read([REDUCERS.session, key]);
    if (state !== undefined) found.push([key, state as State]);
  }
  return found;
}

/** The effects that are open after a frame, from the newest snapshot and the records behind it. */
async function openEffectsAt(store: ReadonlyStore, last: number): Promise<readonly OpenEffect[]> {
  const snapshot = await snapshotBefore(store, last);
  const fold = new OpenEffectsFold(snapshot.effects);
  for await (const { seq, bytes } of store.journal.read(snapshot.seq + 1, last))
    fold.take(seq, readFrame(bytes, seq).all);
  return [...fold.open.values()];
}

describe(`what waits, read from a file beside the open world (seed ${SEED})`, () => {
  it('given random teams that act, die and are opened again, when a file is read without a replay, then its open effects, items and sessions are those of the world [SPEC-52]', async () => {
    const { differences, places, died } = await compareHistories(waitsOf(TEAMS), { places: PLACES.teams, seed: SEED });
    expect(differences).toEqual([]);
    expect(places).toBe(PLACES.teams);
    expect(died).toBeGreaterThan(0);
  });

  it('given random swarms that act, die and are opened again, when a file is read without a replay, then its open effects, items and sessions are those of the world [SOC-116]', async () => {
    const { differences, places } = await compareHistories(waitsOf(SWARMS), { places: PLACES.swarms, seed: SEED });
    expect(differences).toEqual([]);
    expect(places).toBe(PLACES.swarms);
  });
});
