/**
 * Projects that wait, without a terminal: the exit code of `reprise team continue`, what is waited for, and what ends the wait.
 * The worlds are made by a program with tools of its own, as an app has them.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentWorld, deferred, defineTool, openAgentWorld, type Tool } from '@reprise/agent';
import type { Clock } from '@reprise/kernel';
import { llmGenerateAdapter, scriptBy } from '@reprise/providers';
import { type Project, skill, type TeamOptions, team } from '@reprise/specialists';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { command, ended, run, start } from '../run.js';
import { freshFolder } from '../worlds.js';

const folder = freshFolder();
afterAll(() => folder.remove());

const args = z.strictObject({});
const TOOLS: readonly Tool[] = [
  defineTool({ name: 'pay', description: 'Pays.', args, approval: 'always', run: () => 'Paid.' }),
  defineTool({ name: 'inquire', description: 'Asks.', args, run: () => deferred() }),
];

/** The coordinator spawns one worker, whose only call is this tool. */
const modelOf = (tool: string) =>
  scriptBy(({ system, messages }) => {
    const step = messages.filter(({ role }) => role === 'assistant').length;
    if (step > 0 || JSON.stringify(messages).includes('decision')) return { text: 'Done.' };
    if (!system.includes('Your skill'))
      return { calls: [{ tool: 'spawn_agent', args: { task: 'Work.', skill: 'worker' } }] };
    return { calls: [{ tool, args: {} }] };
  });

interface Made {
  readonly world: AgentWorld;
  readonly project: Project;
}

/** How a world is made whose project waits for something else than a person. */
interface Making {
  readonly clock?: Clock;
  /** Whether it waits for what the test is about. */
  readonly waits: (project: Project) => Promise<boolean>;
}

const FOR_A_PERSON: Making = { waits: (project) => project.standsStill() };

/** A world in which a project waits; the process that made it has left it. */
async function waitingWorld(
  name: string,
  act: (made: Made) => Promise<unknown>,
  tool = 'pay',
  options: Partial<TeamOptions> = {},
  { waits, ...host }: Making = FOR_A_PERSON,
): Promise<string> {
  const at = folder.file(name);
  mkdirSync(join(at, '.reprise'), { recursive: true });
  const model = modelOf(tool);
  const crew = team({
    name: 'team',
    skills: [skill({ name: 'worker', description: 'Works', tools: TOOLS.map((one) => one.name), body: 'Work.' })],
    tools: TOOLS,
    coordinator: { model: 'main', identity: 'You lead.' },
    ...options,
  });
  const world = await openAgentWorld({
    store: sqlite(join(at, '.reprise/team.db')),
    parts: [crew],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
    ...host,
  });
  const project = world.part(crew).project('main');
  await act({ world, project });
  while (!(await waits(project))) await new Promise((resolve) => setTimeout(resolve, 10));
  await world.close();
  return at;
}

const outcomeOf = (out: string) => JSON.parse(out.trimEnd().split('\n').at(-1) ?? '');
const goOn = (at: string, ...more: string[]) =>
  run('team', 'continue', '--world', join(at, '.reprise/team.db'), '--folder', at, ...more);
const BRIEF = 'A brief that says what is to be done, and how. '.repeat(6);

/** A clock that stands so far ahead, in milliseconds, so that no timer fires while a world is made. */
function standing(ahead: number): Clock {
  const wall = Date.now() + ahead;
  return {
    wall: () => wall,
    monotonic: () => performance.now(),
    sleep: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  };
}

/** A world that was left before its timer fired: who opens it waits for that, unless the clock stood in the past. */
function worldWithTimer(name: string, ahead: number, act: (made: Made) => Promise<unknown>): Promise<string> {
  const waits = async (project: Project) => (await project.waits()).some(({ kind }) => kind === 'timer');
  return waitingWorld(name, act, 'none', {}, { clock: standing(ahead), waits });
}

const shownWaits = async (at: string) =>
  JSON.parse((await run('team', 'show', '--json', '--world', join(at, '.reprise/team.db'))).out).waits;

describe('a project that waits, without a terminal', () => {
  it.each([
    ['approval', 'pay', 'the approval of a person'],
    ['person', 'inquire', 'an answer of a person'],
  ])(
    'reprise team continue ends with 3 when a specialist waits for an %s, and show names the wait [SPEC-51]',
    async (kind, tool, noun) => {
      const at = await waitingWorld(`job-${kind}`, ({ project }) => project.send('Go.'), tool);
      const wait = { kind, session: 'main/j1', result: 1, task: null };
      const done = await goOn(at, '--json');
      expect({ code: done.code, outcome: outcomeOf(done.out) }).toMatchObject({
        code: 3,
        outcome: { event: 'outcome', status: 'working', waits: [wait], exit: 3 },
      });
      const shown = await run('team', 'show', '--json', '--world', join(at, '.reprise/team.db'));
      expect(JSON.parse(shown.out).waits).toEqual([wait]);
      const text = await goOn(at);
      expect(text.err).toBe(
        `The project waits for ${noun}. To go on:\n  result 1 waits for ${noun} in session main/j1: in the program that runs the team\n  reprise team continue --project main\n`,
      );
    },
  );

  it('reprise team continue ends with 3 when the coordinator reached a limit [SPEC-51]', async () => {
    const coordinator = { model: 'main', identity: 'You lead.', limits: { steps: 1, on: 'pause_and_ask' } } as const;
    const at = await waitingWorld('limit', ({ project }) => project.send('Go.'), 'pay', { coordinator });
    const done = await goOn(at, '--json');
    expect(done.code).toBe(3);
    expect(outcomeOf(done.out).waits[0]).toEqual({
      kind: 'limit',
      session: 'main/coordinator',
      result: null,
      task: null,
    });
  });

  it('reprise team continue ends with 3 when a task is ready and nobody hands it out, and says what does [SPEC-51]', async () => {
    const at = await waitingWorld('input', ({ project }) =>
      project.plan([{ key: 'a', title: 'A', context: BRIEF, skill: 'worker' }]),
    );
    // Processes of their own: the first is killed while it waits, which changes nothing.
    const killed = start(at, 'team', 'continue', '--folder', at);
    const end = ended(killed);
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 700);
      killed.once('close', () => resolve());
    });
    killed.kill('SIGKILL');
    await end;
    const done = await command(at, 'team', 'continue', '--folder', at);
    expect({ code: done.code, err: done.err }).toMatchObject({
      code: 3,
      err: expect.stringContaining('reprise team run MESSAGE --project main\n'),
    });
  });

  it('reprise team continue ends with 3 when a decision is needed, 4 for a project that was cancelled, and 0 for one that is done [SPEC-51]', async () => {
    const at = await waitingWorld('decision', async ({ project }) => {
      await project.plan([
        { key: 'a', title: 'A', context: BRIEF, skill: 'worker' },
        { key: 'b', title: 'B', context: BRIEF, skill: 'worker', blockedBy: ['a'] },
      ]);
      await project.cancel(1);
    });
    const done = await goOn(at, '--json');
    expect({ code: done.code, waits: outcomeOf(done.out).waits[0] }).toEqual({
      code: 3,
      waits: { kind: 'decision', why: 'tasks', tasks: [2] },
    });
    const tried = await run('team', 'run', 'Skip task 2', '--world', join(at, '.reprise/team.db'), '--folder', at);
    expect(tried.code).toBe(0);
    expect((await goOn(at)).code).toBe(0);
  });

  it('reprise team continue does not end while a project waits for a timer: it goes on when the timer fires, and ends with 0 [SPEC-51]', async () => {
    const at = await worldWithTimer('timer', 2_500, ({ project }) => project.send('Go.'));
    const [wait, ...more] = await shownWaits(at);
    expect([wait, more]).toEqual([{ kind: 'timer', until: expect.any(Number) }, []]);
    const done = await command(at, 'team', 'continue', '--folder', at, '--json');
    expect(done.out).toContain('"event":"CoordinatorWoken"');
    const outcome = outcomeOf(done.out);
    expect({ code: done.code, err: done.err, outcome }).toMatchObject({
      ...{ code: 0, err: '' },
      outcome: { status: 'done', processed: outcome.results, waits: [], exit: 0 },
    });
  });

  it('reprise team run ends with 0 when it takes a message beside a timer that was overdue, and all results are processed [SPEC-51]', async () => {
    const at = await worldWithTimer('overdue', -60_000, ({ project }) => project.send('Go.'));
    expect(await shownWaits(at)).toMatchObject([{ kind: 'timer' }]);
    const ran = await command(at, 'team', 'run', 'Skip task 1', '--folder', at, '--json');
    const outcome = outcomeOf(ran.out);
    expect({ code: ran.code, err: ran.err, outcome }).toMatchObject({
      ...{ code: 0, err: '' },
      outcome: { status: 'done', processed: outcome.results, waits: [], exit: 0 },
    });
  });

  it('reprise team continue ends with 3 when a person has to decide once a timer has fired, and names the decision and no timer [SPEC-51]', async () => {
    const at = await worldWithTimer('both', 1_500, ({ project }) =>
      project
        .plan([
          { key: 'a', title: 'A', context: BRIEF, skill: 'worker' },
          { key: 'b', title: 'B', context: BRIEF, skill: 'worker', blockedBy: ['a'] },
        ])
        .then(() => project.cancel(1)),
    );
    const before = await shownWaits(at);
    expect(before.map(({ kind }: { readonly kind: string }) => kind)).toEqual(['dependency', 'timer']);
    const done = await command(at, 'team', 'continue', '--folder', at);
    expect(done).toMatchObject({
      code: 3,
      err: expect.stringContaining('The project waits for a decision. To go on:'),
    });
  });
});
