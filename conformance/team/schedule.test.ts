import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { launchGraphs } from './graphs.js';
import { MUTANTS, SLOT_FIRST } from './mutants.js';
import { inFolder, programIn } from './run.js';
import { holdSchedules, play } from './schedule.js';

const COMMAND = 'npx tsx --conditions=@reprise/source conformance/team.ts --schedules';

describe('projects by random schedules', { timeout: 120_000 }, () => {
  it('400 random schedules of a project go as plain lists say, and none of them is stuck [seed 11]', () => {
    const { tasks, results } = holdSchedules({ runs: 400, seed: 11, command: `${COMMAND} 400 --seed 11` });
    expect(tasks).toBeGreaterThan(400);
    expect(results).toBeGreaterThan(200);
  });

  it.each(Object.entries(MUTANTS))('random schedules find the mistake that %s', async (_, planted) => {
    await inFolder(async (folder) => {
      const program = await programIn(folder, 'schedule', planted);
      const broken = (await import(pathToFileURL(program).href)) as { readonly holdSchedules: typeof holdSchedules };
      expect(() => broken.holdSchedules({ runs: 4_000, seed: 1, command: COMMAND })).toThrow('rerun');
    });
  });

  it.each(['break', 'refuse'] as const)(
    'results are shown by another wake when the plan of one has come to a %s',
    (what) => {
      const team = { dispatch: 'auto', on_failed: 'wait', slots: 1 } as const;
      const begin = [
        ['answer', 0, 0, 0],
        ['turn', 0, 0, 0],
        ['plan', 0, 0, 0],
        ['answer', 0, 0, 0],
      ] as const;
      const end = [
        ['answer', 0, 0, 0],
        ['end', 0, 0, 0],
        ['later', 0, 10, 0],
        [what, 0, 0, 0],
        ['say', 0, 0, 0],
      ] as const;
      expect(play({ team, steps: [...begin, ...end] })).toMatchObject({ results: 1, wakes: 1 });
    },
  );

  it('tasks of two projects on one pool are launched in the order of a short reference [SPEC-30]', () => {
    expect(launchGraphs(6, 1)).toEqual({ lines: ['6 equal'], isRight: true });
  });

  it('a job that gives its slot back before its owner has heard of the end is found by the order of launches', async () => {
    await inFolder(async (folder) => {
      const program = await programIn(folder, 'graphs', SLOT_FIRST);
      const broken = (await import(pathToFileURL(program).href)) as { readonly launchGraphs: typeof launchGraphs };
      expect(broken.launchGraphs(6, 1).isRight).toBe(false);
    });
  });
});
