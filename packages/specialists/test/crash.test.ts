/** The workflow of a team on a store whose process dies at each append: the end is always the same. */
import { memory, type Store } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { openWorld } from 'reprise';
import { describe, expect, it } from 'vitest';
import { DyingStore } from '../../../conformance/dying-store.js';
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
      for (let at = 1; at <= counting.appends; at++) {
        const dying = new DyingStore(memory());
        dying.dieAt(at, side);
        const last = await played(dying);
        expect([at, side, await endOf(last)]).toEqual([at, side, expected]);
        await last.world.close().catch(() => undefined);
      }
    }
  }, 240_000);
});
