import { pathToFileURL } from 'node:url';
import { wakePlan } from '@reprise/specialists';
import { describe, expect, it } from 'vitest';
import { everyNth } from '../part.js';
import { inputOf } from '../staged-values.js';
import { COMPLETED, Desk, FAILED } from './desk.js';
import { launchGraphs } from './graphs.js';
import { MUTANTS, SLOT_FIRST } from './mutants.js';
import { inFolder, programIn } from './run.js';
import { holdSchedules, play } from './schedule.js';
import { type StagedSession, TEXT } from './stage.js';

const COMMAND = 'npx tsx --conditions=@reprise/source conformance/team.ts --schedules';

describe('projects by random schedules', () => {
  it('400 random schedules of a project go as plain lists say, and none of them is stuck [seed 11]', () => {
    const { tasks, results } = holdSchedules({ runs: 400, seed: 11, command: `${COMMAND} 400 --seed 11` });
    expect(tasks).toBeGreaterThan(400);
    expect(results).toBeGreaterThan(200);
  });

  it.each(everyNth(10, Object.entries(MUTANTS)))('random schedules find the mistake that %s', async (_, planted) => {
    await inFolder(async (folder) => {
      const program = await programIn(folder, 'schedule', planted);
      const broken = (await import(pathToFileURL(program).href)) as { readonly holdSchedules: typeof holdSchedules };
      expect(() => broken.holdSchedules({ runs: 4_000, seed: 1, command: COMMAND, shrinks: false })).toThrow('rerun');
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

  it('a wake that holds only a decision is tried three times when its text cannot be composed, and again for a person [SPEC-24]', () => {
    const desk = new Desk({ dispatch: 'coordinator', on_failed: 'wait', slots: 1 }, () => undefined);
    const { stage } = desk;
    /** Does what there is to do, until only time passes. @returns how many wakes were refused */
    const goOn = ({ isRefusing = false } = {}): number => {
      let refused = 0;
      for (let round = 0; round < 40; round++) {
        const [plan] = stage.plans;
        const run = [desk.coordinator('p')].find((one) => one !== undefined && one.run !== null);
        const [worker] = desk.workers();
        const waking = plan === undefined ? undefined : inputOf(plan, wakePlan);
        if (plan !== undefined && waking !== undefined && isRefusing) {
          refused++;
          const { id, epoch, results } = waking;
          stage.drop(plan);
          if (id !== null) stage.raise(plan, 'specialists/TeamRead@1', { id, seen: null, code: 'boom' });
          stage.raise(plan, 'specialists/WakeComposed@1', { epoch, results, text_ref: null, code: 'boom' });
        } else if (plan !== undefined) desk.answer(plan);
        else if (run !== undefined) stage.endRun(run, COMPLETED);
        else if (worker !== undefined) stage.endRun(worker, FAILED);
        else stage.later(1_000);
      }
      return refused;
    };
    const say = (command_id: string): unknown =>
      desk.tell('p', 'specialists/Say@1', { command_id, parts: [{ kind: 'text', text_ref: TEXT }] });
    const tasks = ['a', 'b'].map((key) => ({
      ...{ key, title: key, context_ref: TEXT, context_bytes: 300, pointers: [], skill: 'worker', depends_on: [] },
    }));
    desk.tell('p', 'specialists/Plan@1', { command_id: 'plan', tasks });
    goOn();
    say('m1');
    for (let [plan] = stage.plans; plan !== undefined; [plan] = stage.plans) desk.answer(plan);
    stage.call(desk.coordinator('p') as StagedSession, 'c1', 'spawn_agent', { task_id: 1 });
    goOn();
    // The failure was shown while the other task was ready. Without it, only a decision is left.
    desk.tell('p', 'specialists/Cancel@1', { task: 2, reason: 'not needed' });
    const refuseWakes = (): number => goOn({ isRefusing: true });
    expect(refuseWakes()).toBe(3);
    expect(stage.cell('specialists/Project@1', 'p')?.state).toMatchObject({ status: 'needs_decision' });
    say('m1');
    expect(refuseWakes()).toBe(3);
  });

  it.each([
    ['by itself', ['wake'], false],
    ['at the next event, when the timer behind it was put aside as well', ['wake', 'wake_lost'], true],
  ])('a project whose timer was put aside wakes the coordinator %s [SPEC-28]', (_, lost, needsEvent) => {
    const desk = new Desk({ dispatch: 'auto', on_failed: 'wait', slots: 1 }, () => undefined);
    const { stage } = desk;
    const answerAll = (): void => {
      for (let [plan] = stage.plans; plan !== undefined; [plan] = stage.plans) desk.answer(plan);
    };
    const tasks = [{ key: 'a', title: 'a', context_ref: TEXT, context_bytes: 300, pointers: [], depends_on: [] }];
    const plan = { command_id: 'plan', tasks: tasks.map((one) => ({ ...one, skill: 'worker' })) };
    desk.tell('p', 'specialists/Plan@1', plan);
    answerAll();
    stage.endRun(desk.workers()[0] as StagedSession, COMPLETED);
    const project = stage.cell('specialists/Project@1', 'p');
    expect([...(project?.timers ?? [])].map(([name]) => name)).toEqual(['wake', 'wake_lost']);
    for (const name of lost) project?.timers.delete(name);
    stage.later(10_000);
    if (needsEvent) desk.tell('p', 'specialists/Open@1', {});
    answerAll();
    stage.later(needsEvent ? 1 : 500);
    answerAll();
    expect(stage.project('p')?.wake).toMatchObject({ phase: 'shown', results: [1] });
  });

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
