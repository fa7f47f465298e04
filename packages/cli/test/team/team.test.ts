/** Whole teams from the command line, on the model of rules: run, look from outside, kill, go on. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RepriseError } from '@reprise/contracts';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyNth } from '../../../../conformance/part.js';
import { runCli } from '../../src/index.js';
import { command, ended, run, start } from '../run.js';
import { freshFolder } from '../worlds.js';

const SMALL = fileURLToPath(new URL('../../../ui', import.meta.url));
const QUESTION = 'What does this code do?';
const folder = freshFolder();
afterAll(() => folder.remove());

let folders = 0;

/** An empty working folder, so that each test has its own `.reprise/team.db`. */
function workplace(): string {
  const path = folder.file(`at-${folders++}`);
  mkdirSync(path);
  return path;
}

const SKILL = (name: string, tools: string): string =>
  `---\nname: ${name}\ndescription: The skill ${name}\ntriggers: [${name}]\ntools: ${tools}\n---\nBODY OF ${name}\n`;

describe('reprise team, after a run', () => {
  const at = workplace();
  const world = join(at, '.reprise/team.db');
  const show = (...what: string[]) => run('team', 'show', ...what, '--world', world);
  let out = '';

  beforeAll(async () => {
    const done = await command(at, 'team', 'run', QUESTION, '--folder', SMALL, '--model', 'rules', '--plain');
    expect({ code: done.code, err: done.err }).toEqual({ code: 0, err: '' });
    out = done.out;
  });

  it('a question is surveyed, planned, worked out and answered, and every file that the answer names exists', () => {
    expect(out).toContain('+ 3 tasks planned\n');
    expect(out).toContain('main [done] tasks completed 3/3, results processed 5/5\n');
    const files = [...out.slice(out.indexOf('\nmain [done]')).matchAll(/^- `([^`]+)` \(/gm)].map(
      ([, path = '']) => path,
    );
    expect(files.length).toBeGreaterThan(8);
    for (const file of files) expect({ file, exists: existsSync(join(SMALL, file)) }).toEqual({ file, exists: true });
  });

  it('the world verifies without --app, and without the skills [SPEC-16]', async () => {
    expect(await run('verify', world)).toMatchObject({
      code: 0,
      out: expect.stringContaining('replayed, identical\n'),
    });
  });

  it('show prints tasks, graph, results, one result, the narrative and the memories', async () => {
    expect((await show()).out).toMatch(/^main \[done\], tasks completed 3\/3.*\n(?:✓ \d \[completed\] .*\n){3}$/);
    expect((await show('graph')).out).toMatch(/✓ 3 \[completed\] writer: Write the report · result 5 {2}← 1, 2\n$/);
    expect((await show('results')).out).toContain('✓ 3 [ok] reader: Look at src of task 1\n');
    expect((await show('result', '5')).out).toContain('- `src/history.ts`');
    expect((await show('narrative')).out).toContain(`1. For "${QUESTION}": result 1, `);
    expect((await show('memories')).out).toMatch(/^1\. \(0\) `\.`: \d+ files/m);
  });

  it('show prints JSON of each part [SPEC-22]', async () => {
    const json = async (...what: string[]) => JSON.parse((await show(...what, '--json')).out);
    expect(await json()).toMatchObject({ project: 'main', status: 'done', counts: { completed: 3 }, failed_cells: [] });
    expect((await json('graph')).tasks[2]).toMatchObject({ id: 3, depends_on: [{ task: 1 }, { task: 2 }] });
    expect((await json('results')).results.map((one: { processed: boolean }) => one.processed)).toEqual(
      Array(5).fill(true),
    );
    expect(await json('result', '1')).toMatchObject({
      id: 1,
      skill: 'survey',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect((await json('narrative')).narrative[1]).toMatchObject({ n: 2, previous: 1 });
    expect((await json('memories')).memories[0]).toMatchObject({ id: 1, score: 0, state: 'live' });
  });

  it("why goes from a memory to the user's words [SPEC-37]", async () => {
    const { code, out: why } = await run('team', 'why', '3', '--world', world);
    expect(code).toBe(0);
    expect(why).toMatch(/^memory 3 .*\nresult 4: Look at test /);
    expect(why).toMatch(/^message 1 by operator · frame \d+$/m);
    expect(why.trimEnd().split('\n').at(-1)).toBe(`“${QUESTION}”`);
    const json = JSON.parse((await run('team', 'why', '3', '--world', world, '--json')).out);
    expect(json).toMatchObject({
      words: QUESTION,
      chain: expect.arrayContaining([expect.objectContaining({ kind: 'task' })]),
    });
  });

  it('wrong use ends with 2, and says what would be right', async () => {
    const wrong: readonly (readonly [readonly string[], string])[] = [
      [['show', 'nothing'], 'tasks, graph, results, result N, narrative or memories'],
      [['show', 'result'], 'tasks, graph, results, result N, narrative or memories'],
      [['show', 'result', '9'], 'a number from 1 to 5'],
      [['show', '--project', 'other'], 'main'],
      [['why', '99'], 'reprise team show memories'],
      [['why', 'x'], 'the number of a memory'],
      [['run', ' '], 'what the team is to do'],
      [['run', 'Look', '--skills', 'absent'], 'the folder of skills does not exist'],
      [['run', 'Look', '--dispatch', 'fast'], 'auto'],
      [['run', 'Look', '--project', 'A b'], '1 to 100 of'],
      [['run', 'absent.md'], 'the file with the message does not exist'],
    ];
    for (const [args, words] of wrong) {
      const { code, err } = await run('team', ...args, '--world', world);
      expect({ args, code }).toEqual({ args, code: 2 });
      expect(err).toContain(words);
    }
  });

  it('the same words again send nothing, and --again sends them', async () => {
    const again = await command(at, 'team', 'run', QUESTION, '--folder', SMALL);
    expect(again.err).toContain('This message was sent before.');
    expect(again.out).toContain('main [done] tasks completed 3/3, results processed 5/5\n');
    const json = await command(at, 'team', 'run', 'Skip task 1', '--folder', SMALL, '--again', '--json');
    const events = json.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({
      event: 'outcome',
      status: 'done',
      exit: 0,
      text: expect.stringContaining('task_final'),
    });
  });
});

describe('reprise team run', () => {
  it('a run that is killed goes on with the same command, and every result comes once [SPEC-28]', async () => {
    const at = workplace();
    const args = ['team', 'run', QUESTION, '--folder', SMALL, '--plain'];
    for (const words of everyNth(2, ['result 1 [ok]', 'task 1 [running]'])) {
      const child = start(at, ...args);
      let seen = '';
      await new Promise<void>((resolve) => {
        child.stdout?.on('data', (text) => {
          seen += String(text);
          if (seen.includes(words)) resolve();
        });
        child.once('close', () => resolve());
      });
      child.kill('SIGKILL');
      await ended(child).catch(() => undefined);
    }
    const { code, out } = await command(at, ...args);
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining('tasks completed 3/3, results processed 5/5\n'),
    });
  });

  it('Ctrl-C leaves a project that works with exit code 130, and the same command goes on', async () => {
    const at = workplace();
    const args = ['team', 'run', QUESTION, '--folder', SMALL, '--plain'];
    const child = start(at, ...args);
    const left = ended(child);
    await new Promise<void>((resolve) => {
      let seen = '';
      child.stdout?.on('data', (text) => {
        seen += String(text);
        if (seen.includes('task 1 [running]')) resolve();
      });
      child.once('close', () => resolve());
    });
    child.kill('SIGINT');
    expect(await left).toMatchObject({ code: 130, err: 'Leaving: the same command goes on.\n' });
    const { code, out, err } = await command(at, ...args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('tasks completed 3/3, results processed 5/5\n');
    expect(out).not.toContain('result 1 [ok]');
  });

  it('a run whose output cannot be written ends with that error, and does not wait for the project', async () => {
    const world = join(workplace(), 'team.db');
    const full = async (): Promise<void> => {
      throw new RepriseError('store_failed', 'the output cannot be written');
    };
    const sink = { isTTY: false, closed: false };
    const io = { out: { ...sink, write: full }, err: { ...sink, write: async () => undefined } };
    const argv = ['team', 'run', QUESTION, '--folder', SMALL, '--plain', '--world', world];
    const done = runCli(argv, { ...io, interrupted: () => new AbortController().signal });
    await expect(done).rejects.toThrow('the output cannot be written');
  });

  it('a project is looked at while another process runs it, and a second run of its world is refused', async () => {
    const at = workplace();
    const world = join(at, '.reprise/team.db');
    const child = start(at, 'team', 'run', QUESTION, '--folder', SMALL, '--plain');
    const end = ended(child);
    await new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
    expect(await run('team', 'show', '--world', world)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^main \[/),
    });
    expect((await end).code).toBe(0);
  });

  it('a world that another process has is refused, and says what can be done', async () => {
    const at = workplace();
    mkdirSync(join(at, '.reprise'));
    const held = await sqlite(join(at, '.reprise/team.db')).open(); // this process has it, for as long as the command runs
    try {
      const { code, err } = await command(at, 'team', 'run', QUESTION, '--folder', SMALL);
      expect(code).toBe(2);
      expect(err).toContain('world_locked: another process has this world and runs its team\n');
    } finally {
      await held.close();
    }
  });

  it('skills of a folder do the work, auto dispatch starts the tasks, and several projects are told apart', async () => {
    const at = workplace();
    mkdirSync(join(at, 'team'));
    const reads = '[list_files, read_file, grep]';
    for (const [name, tools] of [
      ['explore', reads],
      ['plan-maker', '[plan_write]'],
      ['checker', reads],
      ['broken', 'Read'],
    ] as const)
      writeFileSync(join(at, 'team', `${name}.md`), SKILL(name, tools));
    const args = ['--skills', 'team', '--planner', 'plan-maker', '--dispatch', 'auto', '--max', '2', '--folder', SMALL];
    const done = await command(at, 'team', 'run', QUESTION, '--project', 'one', ...args);
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(done.out).toContain('one [done] tasks completed 2/2, results processed 4/4\n');
    expect(done.out).toMatch(/\[running\] (?:checker|explore): Look at src/);
    expect((await command(at, 'team', 'run', QUESTION, '--project', 'two', ...args)).code).toBe(0);
    const several = await command(at, 'team', 'show');
    expect(several.code).toBe(2);
    expect(several.err).toContain('the world has several projects');
    expect((await command(at, 'team', 'show', '--project', 'two')).out).toMatch(/^two \[done\]/);
  });

  it('a budget in money without a price is refused with what to do', async () => {
    const { code, err } = await command(workplace(), 'team', 'run', 'Look', '--budget', '1', '--folder', SMALL);
    expect(code).toBe(2);
    expect(err).toContain('--price IN,OUT');
  });
});
