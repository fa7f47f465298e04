/** Projects of which a cell has failed, without a terminal: the exit code of `reprise team run` and `continue`, and what to do. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Delivered, defective } from '../../../specialists/test/support/failing.js';
import { run } from '../run.js';
import { freshFolder } from '../worlds.js';

/** The defect of the team that the command runs: the same at each replay of its world. */
const planted = vi.hoisted(() => ({ isDefect: (_: Delivered): boolean => false }));
vi.mock(import('@reprise/specialists'), async (original) => {
  const actual = await original();
  const team: typeof actual.team = (...given) =>
    defective(actual.team(...given), (delivered) => planted.isDefect(delivered));
  return { ...actual, team };
});

const folder = freshFolder();
afterAll(() => folder.remove());

const PROJECT = 'specialists/Project@1';
let folders = 0;
let at = '';
beforeEach(() => {
  at = folder.file(`at-${folders++}`);
  mkdirSync(at);
});

/** The command, for a world that this test alone has. */
const team = (...args: string[]) => run('team', ...args, '--folder', at, '--world', join(at, 'team.db'));
const lastOf = (out: string) => JSON.parse(out.trimEnd().split('\n').at(-1) ?? '');

/** The same words each time: which cell, on what it failed, and the command that revives it. */
const saysOf = (event: string) =>
  new RegExp(
    `${event} ended in the fault threw, in frame \\d+\n +what to do +Fix the cause, then revive it: .*\`reprise revive WORLD ${PROJECT}/main\``,
  );

describe('a project of which a cell has failed, without a terminal', () => {
  it.each([
    ['before its coordinator works', 'aos.agent/ChildNotice@1'],
    ['while a specialist works', 'work/JobChanged@1'],
    ['of the timer that it waited for', 'sys/TimerFired@1'],
    ['when its coordinator is woken', 'specialists/WakeComposed@1'],
  ])(
    'reprise team run and continue end with 5 when the project fails %s, and each says how it is revived [SPEC-51] [RED-39]',
    async (_, event) => {
      planted.isDefect = (delivered) => delivered.reducer === PROJECT && delivered.event === event;
      const ran = await team('run', 'Look');
      expect([ran.code, ran.err]).toEqual([5, expect.stringMatching(saysOf(event))]);
      const gone = await team('continue');
      expect([gone.code, gone.err]).toEqual([5, expect.stringMatching(saysOf(event))]);
      const another = await team('run', 'Look again');
      expect([another.code, another.err]).toEqual([5, expect.stringMatching(saysOf(event))]);
      const json = await team('continue', '--json');
      expect([json.code, lastOf(json.out)]).toMatchObject([
        5,
        { ok: false, error: { code: 'cell_failed', fault: 'threw', where: `${PROJECT}/main` } },
      ]);
    },
  );

  it.each([
    ['a job', 'work/Job@1', 'aos.agent/ChildNotice@1', 'cell_failed'],
    ['the pool', 'flow/Queue@1', 'flow/Enqueue@1', 'pool/faulted'],
  ])(
    'reprise team run ends when %s fails: the result says so, the coordinator is told, and nobody waits for it [SPEC-51]',
    async (_, reducer, event, code) => {
      planted.isDefect = (delivered) => delivered.reducer === reducer && delivered.event === event;
      const ran = await team('run', 'Look');
      expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/result 1 \[failed\].* · /) });
      expect(ran.out).toContain(` · ${code}\n`);
      expect(ran.err).toMatch(new RegExp(`^the event ${event} failed in ${reducer}/`));
      const gone = await team('continue', '--json');
      expect([gone.code, lastOf(gone.out)]).toMatchObject([0, { status: 'done', processed: 1, waits: [], exit: 0 }]);
    },
  );
});
