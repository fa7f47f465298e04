import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { anySchedule, programApp, programReducer } from '../../../../testkit/src/arbitraries/index.js';
import { type App, defineApp } from '../../../src/index.js';
import { LeafTable } from '../../../src/state/leaf-table.js';
import { hold, rerun, SEED } from '../../support/laws/hold.js';
import { runSchedule } from '../../support/laws/run-schedule.js';
import { type HeldWorld, holdWorld } from '../../support/laws/world-laws.js';
import { holdReplay, type ReplayParts } from './replay-law.js';

/** The app with another recipe in the place of its first reducer's. */
function withRecipe(reduce: typeof programReducer.reduce): App {
  const others = [...programApp.reducers.values()].filter(({ name }) => name !== programReducer.name);
  return defineApp({ reducers: [{ ...programReducer, reduce }, ...others], plans: [...programApp.plans.values()] });
}

describe(`replay (seed ${SEED})`, () => {
  it('random worlds: from genesis, and from the state after every frame, the same heads and roots [JRN-6, RED-1, RPL-1, RPL-9]', async () => {
    const worlds: HeldWorld[] = [];
    const law = fc.asyncProperty(anySchedule({ stepsMax: 20 }), async (schedule) => {
      worlds.push(await holdWorld(schedule, programApp));
    });
    await hold(law, { numRuns: 60 / stepOf(4), command: rerun('replay.test.ts') });
    const sum = (of: (world: HeldWorld) => number) => worlds.reduce((total, world) => total + of(world), 0);
    expect(sum(({ replayed }) => replayed)).toBeGreaterThan(3_000 / stepOf(4));
    expect(sum(({ acks }) => acks)).toBeGreaterThan(200 / stepOf(4));
  });

  it('worlds with a snapshot at every third frame replay to the same heads [RPL-9]', async () => {
    const law = fc.asyncProperty(anySchedule({ stepsMax: 20 }), async (schedule) => {
      const { store } = await runSchedule(schedule, { snapshotEvery: 3 });
      await holdReplay(await store.openReadonly(), { app: programApp });
    });
    await hold(law, { numRuns: 20 / stepOf(2), command: rerun('replay.test.ts') });
  });
});

describe('a mutant of replay is found [RPL-1]', () => {
  const forgetting =
    (kind: string): NonNullable<ReplayParts['openTable']> =>
    async (map, root) => {
      const table = new LeafTable(map);
      const kinds = await map.kinds(root);
      let kept = root;
      for (const one of kinds.filter((name) => name === kind)) {
        for await (const { key } of map.entries(root, one)) {
          kept = (await map.update(root, [{ key, bytes: undefined }])).ref;
          break;
        }
      }
      await table.openAt(kept);
      return table;
    };

  it.each<[string, Partial<ReplayParts>]>([
    ['forgets a cell', { openTable: forgetting('cell') }],
    ['forgets a plan', { openTable: forgetting('plan') }],
    ['forgets a timer', { openTable: forgetting('timer') }],
    ['forgets a log', { openTable: forgetting('log') }],
    ['forgets a node of a table', { openTable: forgetting('table') }],
    ['forgets an effect', { openTable: forgetting('effect') }],
    ['replays another reducer', { app: withRecipe(() => undefined) }],
    [
      'replays a reducer that writes one key more',
      {
        app: withRecipe((draft, event, ctx) => {
          programReducer.reduce(draft, event, ctx);
          (draft as { bag: Record<string, unknown> }).bag.more = 1;
        }),
      },
    ],
  ])('the law finds a replay that %s', async (_, mutant) => {
    const law = fc.asyncProperty(anySchedule(), async (schedule) => {
      const { store } = await runSchedule(schedule);
      await holdReplay(await store.openReadonly(), { app: programApp, ...mutant });
    });
    const found = hold(law, { numRuns: 200, shrink: false, command: '' });
    await expect(found).rejects.toThrow(/instead of|replay_divergence|is not open|no such timer/);
  });
});
