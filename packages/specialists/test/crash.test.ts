/** The workflow of a team on a store whose process dies at each append: the end is always the same. */
import { memory, type Store } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { openWorld } from 'reprise';
import type { Project } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import { DyingStore } from '../../../conformance/dying-store.js';
import { everyNth, stepOf } from '../../../conformance/part.js';
import { workflowModel, workflowTeam } from './support/workflow.js';

/** How long a project may take, in steps of half a second: then it is stuck. */
const STEPS_MAX = 80;

/** Plays the workflow on a store; when its holder dies, it is opened again and the same message is sent. */
async function played(store: DyingStore) {
  const clock = new VirtualClock();
  for (;;) {
    const { deaths } = store;
    const isDead = () => store.deaths > deaths;
    const done = await playOn(store, clock, isDead).catch((error: unknown) => {
      if (!isDead()) throw error;
      return undefined;
    });
    if (done !== undefined) return done;
  }
}

async function playOn(store: Store, clock: VirtualClock, isDead: () => boolean) {
  const team = workflowTeam();
  const world = await openWorld({ store, clock, models: { main: workflowModel().model }, parts: [team] });
  const project = world.part(team).project('auth');
  const sent = project.send('Move login to OAuth', { id: 'message-1' }).catch(() => undefined);
  for (let step = 0; step < STEPS_MAX; step++) {
    await clock.settle();
    if (isDead()) break;
    const state = await project.state();
    if (state?.status === 'done') return { world, project, sent };
    await clock.advance(500);
  }
  await world.close().catch(() => undefined);
  if (!isDead()) throw new Error('the project is stuck');
  return undefined;
}

/** What is there at the end, whatever happened on the way. */
async function endOf({ world, project }: NonNullable<Awaited<ReturnType<typeof playOn>>>) {
  const narrative: string[] = [];
  for await (const { text } of project.narrative()) narrative.push(text);
  return {
    tasks: (await project.tasks()).map(({ title, status, result, attempts }) => [title, status, result, attempts]),
    results: (await project.results()).map(({ title, status, processed, memory_ids }) => [
      title,
      status,
      processed,
      memory_ids,
    ]),
    narrative,
    slots: (await world.kernel.table(['flow/Queue@1', 'specialists/dev'], 'running', {})).length,
    unverified: (await world.verify()).unverified,
  };
}

describe('given a workflow whose process dies at an append', () => {
  it('the end is the same for every append, before and after it is durable [SPEC-21, SPEC-23, SPEC-28]', async () => {
    const counting = new DyingStore(memory());
    const clean = await played(counting);
    const expected = await endOf(clean);
    await clean.world.close();
    expect(expected).toMatchObject({ slots: 0, unverified: 0 });
    expect(counting.appends).toBeGreaterThan(30);
    for (const side of ['before', 'after'] as const) {
      for (let at = 1; at <= counting.appends; at += stepOf(11)) {
        const dying = new DyingStore(memory());
        dying.dieAt(at, side);
        const last = await played(dying);
        expect([at, side, await endOf(last)]).toEqual([at, side, expected]);
        await last.world.close().catch(() => undefined);
      }
    }
  });
});

/** Where the process dies first: after that, the first 32 inputs of each process are noted. */
const FIRST_DEATHS = [1, 20, 34];

/** So many steps of half a second let a job end by its timeout of five minutes, and its lease after it. */
const PATIENCE = 2_000;

/** Plays the workflow on a store that puts one input aside, until the project waits for nobody but people. */
async function playedWithout(store: DyingStore, note: number) {
  const clock = new VirtualClock();
  for (;;) {
    const { deaths } = store;
    if (deaths === 1) store.dieAtNote(note);
    const isDead = () => store.deaths > deaths;
    const team = workflowTeam();
    const world = await openWorld({ store, clock, models: { main: workflowModel().model }, parts: [team] }).catch(
      (error: unknown) => {
        if (!isDead()) throw error;
      },
    );
    if (world === undefined) continue;
    const project = world.part(team).project('auth');
    const goOn = (message: string, id: string) => {
      project.send(message, { id }).catch(() => undefined);
      return rested(project, clock, isDead).catch((error: unknown) => {
        if (!isDead()) throw error;
      });
    };
    const state = await goOn('Move login to OAuth', 'message-1');
    // What was shown in vain is shown again when a person speaks.
    const after = state === undefined || isDead() ? undefined : await goOn('Go on.', 'message-2');
    if (after !== undefined && !isDead()) return { world, project, state: after };
    await world.close().catch(() => undefined);
  }
}

async function rested(project: Project, clock: VirtualClock, isDead: () => boolean) {
  for (let step = 0; step < PATIENCE; step++) {
    await clock.settle();
    if (isDead()) return undefined;
    const state = await project.state();
    if (state !== undefined && state.status !== 'working') return state;
    await clock.advance(500);
  }
  throw new Error(`the project is stuck: ${JSON.stringify(await project.state())}`);
}

const ENDED = ['ok', 'failed', 'timeout', 'cancelled'];

describe('given a workflow of which one input kills each process that folds it', () => {
  it.each(everyNth(4, FIRST_DEATHS))(
    'whichever input is quarantined, the project comes to rest: no job, no slot, no result is left, from append %i on [SPEC-21, SPEC-23, SPEC-28]',
    async (append) => {
      const seen: string[] = [];
      for (let note = 1; note <= 40; note += stepOf(8)) {
        const store = new DyingStore(memory());
        store.dieAt(append, 'after');
        const { world, project, state } = await playedWithout(store, note);
        if (store.poison === undefined) {
          await world.close();
          break;
        }
        seen.push(store.poison);
        const results = await project.results();
        const at = `${note}: ${store.poison}`;
        expect([at, state.jobs, state.unprocessed], at).toEqual([at, 0, 0]);
        expect([at, results.filter(({ status, processed }) => !ENDED.includes(status) || !processed)]).toEqual([
          at,
          [],
        ]);
        expect([at, (await world.kernel.table(['flow/Queue@1', 'specialists/dev'], 'running', {})).length]).toEqual([
          at,
          0,
        ]);
        expect([at, (await world.verify()).unverified]).toEqual([at, 0]);
        await world.close();
      }
      expect(seen.length).toBeGreaterThan(5 / stepOf(5));
      console.log(
        `from append ${append} on: ${seen.length} inputs quarantined, one in each world: jobs 0, slots 0, unprocessed 0`,
      );
    },
  );
});
