/** Whole trees from the command line, on the model of rules: run, wait for a person, answer, go on, act from outside. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deep } from '../../../../conformance/part.js';
import { command, type Ended, ended, run, start } from '../run.js';
import { freshFolder } from '../worlds.js';

const SMALL = fileURLToPath(new URL('../../../ui', import.meta.url));
const folder = freshFolder();
const { XDG_STATE_HOME: home } = process.env;
process.env.XDG_STATE_HOME = folder.file('home');
afterAll(() => {
  if (home === undefined) delete process.env.XDG_STATE_HOME;
  else process.env.XDG_STATE_HOME = home;
  folder.remove();
});

let folders = 0;

/** An empty working folder, so that each test has its own `.reprise/tree.db`. */
function workplace(): string {
  const path = folder.file(`at-${folders++}`);
  mkdirSync(path);
  return path;
}

/** Starts a command whose output can be waited for. */
function following(
  cwd: string,
  ...args: string[]
): { child: ChildProcess; end: ReturnType<typeof ended>; until: (words: string) => Promise<string> } {
  const child = start(cwd, ...args);
  let seen = '';
  const hears = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text) => {
      seen += String(text);
      for (const hear of hears) hear();
    });
  const until = (words: string): Promise<string> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (seen.includes(words)) resolve(seen);
      };
      hears.add(look);
      look();
    });
  return { child, end: ended(child), until };
}

/** The options of a command without a terminal to an owner that has printed its token. */
function withToken(at: string, printed: string): readonly string[] {
  const file = join(at, 'token');
  writeFileSync(file, /^token (\S+)$/m.exec(printed)?.[1] ?? '', { mode: 0o600 });
  return ['--token-file', file];
}

/**
 * Runs the command in this process, in a folder: for what does not depend on a process of its own, since a process for
 * each line takes longer than all else in this file.
 */
async function here(cwd: string, ...args: string[]): Promise<Ended> {
  const before = process.cwd();
  process.chdir(cwd);
  try {
    return await run(...args);
  } finally {
    process.chdir(before);
  }
}

const ASK = 'Say what is here. Ask me which part matters.';

describe('reprise tree run', () => {
  it('a goal about a folder is split into its parts, and each file that the report names exists; the world verifies without --app [TREE-44]', async () => {
    const at = workplace();
    const { code, out, err } = await command(
      at,
      'tree',
      'run',
      'What does this code do?',
      '--folder',
      SMALL,
      '--model',
      'rules',
      '--plain',
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^00:00 {2}● tree what-does-this-code \[running\] What does this code do\?\n/);
    expect(out).toContain('✓ tree what-does-this-code [complete]\n');
    const report = out.slice(out.lastIndexOf('\n# '));
    const files = [...report.matchAll(/^- `([^`]+)`/gm)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(8);
    for (const file of files) expect({ file, exists: existsSync(join(SMALL, file)) }).toEqual({ file, exists: true });
    expect(await command(at, 'verify', '.reprise/tree.db')).toMatchObject({
      code: 0,
      out: expect.stringContaining('.reprise/tree.db: replayed, identical\n'),
    });
    const again = await here(at, 'tree', 'run', 'What does this code do?', '--folder', SMALL, '--json');
    const events = again.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ type: 'started', tree: 'what-does-this-code-2' });
    expect(events.at(-1)).toMatchObject({
      type: 'outcome',
      status: 'complete',
      exit: 0,
      text: expect.stringContaining('# What'),
    });
    const all = await here(at, 'tree', 'show', '--all');
    expect(all.out.match(/✓ complete/g)).toHaveLength(2);
  });

  deep('tree run: question', () => {
    it('a question to people without a terminal ends the command with 3; answered, the tree goes on, and a second answer is refused [TREE-25, TREE-28]', async () => {
      const at = workplace();
      const run = await command(at, 'tree', 'run', ASK, '--folder', SMALL, '--name', 'asks');
      expect(run.code).toBe(3);
      expect(run.out).toMatch(
        /\? #2 \[open\] #1 asks people: Which part shall I look at\? {2}\[1\] all of them {2}\[2\] src/,
      );
      expect(run.err).toContain('  reprise tree answer asks/2 VALUE\n  reprise tree continue asks\n');
      const wrong = await here(at, 'tree', 'answer', '2', 'nowhere');
      expect(wrong).toMatchObject({
        code: 2,
        err: expect.stringContaining('expected    1 or "all of them", 2 or "src", 3 or "test"'),
      });
      expect(await here(at, 'tree', 'answer', '1', 'x')).toMatchObject({
        code: 2,
        err: expect.stringContaining('this node is no question'),
      });
      const blocked = await here(at, 'tree', 'run', 'Another goal', '--folder', SMALL);
      expect(blocked).toMatchObject({
        code: 2,
        err: expect.stringContaining('another tree of this world has not ended'),
      });
      const answers = ['tree', 'answer', '#2', '2', '--as', 'human:ann', '--id', 'once'];
      expect(await here(at, ...answers)).toMatchObject({
        code: 0,
        out: expect.stringContaining('asks/#2 answered'),
      });
      expect(await command(at, ...answers)).toMatchObject({ code: 0 });
      expect(await here(at, 'tree', 'answer', '2', '1')).toMatchObject({
        code: 2,
        err: expect.stringContaining('already_settled: the question was answered by ann'),
      });
      const rest = await here(at, 'tree', 'continue');
      expect(rest.code).toBe(0);
      expect(rest.out).toContain('[complete] SPAWN Look at src');
      expect(rest.out).not.toContain('Look at test');
      expect(await here(at, 'tree', 'continue')).toMatchObject({
        code: 0,
        err: expect.stringContaining('has ended: complete'),
      });
    });
  });

  deep('tree run: two answers', () => {
    it('two processes that answer one question at once get one answer done, and the other names who was first [TREE-52]', async () => {
      const at = workplace();
      const owner = following(at, 'tree', 'run', ASK, '--folder', SMALL, '--name', 'both', '--json', '--print-token');
      const token = withToken(at, await owner.until('"type":"asked"'));
      const names = ['ann', 'bob'] as const;
      const said = await Promise.all(
        names.map((name, i) => command(at, 'tree', 'answer', 'both/2', `${i + 1}`, '--as', `human:${name}`, ...token)),
      );
      const won = said.findIndex(({ code }) => code === 0);
      expect(said.map(({ code }) => code).sort()).toEqual([0, 2]);
      expect(said[1 - won]?.err).toContain(`already_settled: the question was answered by ${names[won]}`);
      await owner.end;
      expect((await here(at, 'tree', 'show', 'both/2')).out).toContain(`answered by ${names[won]}: `);
    });
  });

  it('commands to a world that another command holds wait until it is free, and the second answer names who was first [TREE-58]', async () => {
    const at = workplace();
    const file = join(at, '.reprise/tree.db');
    expect((await here(at, 'tree', 'run', ASK, '--folder', SMALL, '--name', 'held')).code).toBe(3);
    const held = await sqlite(file).open(); // this process has it, as a command that is about to end
    const names = ['ann', 'bob'] as const;
    const answering = names.map((name, i) =>
      command(at, 'tree', 'answer', 'held/2', `${i + 1}`, '--as', `human:${name}`),
    );
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    await held.close();
    const said = await Promise.all(answering);
    const won = said.findIndex(({ code }) => code === 0);
    expect(said.map(({ code }) => code).sort()).toEqual([0, 2]);
    expect(said[1 - won]?.err).toContain(`already_settled: the question was answered by ${names[won]}`);
  });

  deep('tree run: another process', () => {
    it('another process answers, adds, tells, pauses, resumes and stops while the tree runs, watches it, and reads who did what [TREE-42] [TREE-53]', async () => {
      const at = workplace();
      const owner = following(at, 'tree', 'run', ASK, '--folder', SMALL, '--name', 'live', '--json', '--print-token');
      const token = withToken(at, await owner.until('"type":"asked"'));
      const watch = following(at, 'tree', 'watch', '--json');
      await watch.until('"type":"asked"');
      // Each of these finds the owner at its socket, or the world alone after it has left.
      expect(await here(at, 'tree', 'tell', '1', 'Look for "queue" as well', ...token)).toMatchObject({
        code: 0,
        out: 'live/#1 was told\n',
      });
      expect(await here(at, 'tree', 'pause', '1', '--as', 'human:ann', ...token)).toMatchObject({ code: 0 });
      expect((await here(at, 'tree', 'show', '1')).out).toContain('it is paused by ann: reprise tree resume');
      expect((await here(at, 'tree', 'show')).out).toContain('⏸ #1 [paused]');
      expect(await here(at, 'tree', 'resume', '1', ...token)).toMatchObject({ code: 0 });
      const stop = await here(at, 'tree', 'stop', '1', '--as', 'human:ann', '--program', 'nightly', '--json', ...token);
      expect(JSON.parse(stop.out)).toMatchObject({ status: 'accepted', verb: 'stop', tree: 'live', node: 1 });
      expect((await watch.end).code).toBe(4);
      await owner.end;
      const ended = (await here(at, 'tree', 'show', '1')).out;
      expect(ended).toContain('it was stopped by program nightly');
      expect(ended).toMatch(/tell by operator at frame \d+\n.*pause by ann at frame \d+/);
      const shown = JSON.parse((await here(at, 'tree', 'show', '1', '--json')).out);
      expect(shown).toMatchObject({ stopped_by: { kind: 'program', id: 'nightly' } });
      expect(await here(at, 'tree', 'continue', '--plain')).toMatchObject({ code: 4 });
      expect(await here(at, 'tree', 'stop', '1')).toMatchObject({
        code: 2,
        err: expect.stringContaining('what to do  reprise tree show live/1'),
      });
      expect(await here(at, 'tree', 'retry', '1', '--agent', 'claude')).toMatchObject({
        code: 2,
        err: expect.stringMatching(/unknown_agent: the tree has no such agent[\s\S]*expected +worker\n/),
      });
      expect(await here(at, 'tree', 'retry', '1', '--agent', 'worker')).toMatchObject({
        code: 0,
        out: 'live/#1 is tried again\n',
      });
      expect((await here(at, 'tree', 'show', '1')).out).toContain('agent    worker');
    });
  });

  it('a tree whose budget is spent fails with 1, and continue with a larger budget goes on', async () => {
    const at = workplace();
    const priced = ['--price', '3,15', '--tree-budget', '0.01', '--name', 'poor'];
    const poor = await here(at, 'tree', 'run', 'What is here?', '--folder', SMALL, ...priced);
    expect(poor).toMatchObject({ code: 1, out: expect.stringContaining('✗ tree poor [failed] max_cost\n') });
    expect((await here(at, 'tree', 'continue')).code).toBe(1);
    const rich = await here(at, 'tree', 'continue', 'poor', '--tree-budget', '5');
    expect(rich.out.split('\n').filter((line) => line.startsWith(' poor · '))).toEqual([
      expect.stringMatching(/^ poor · ✓ complete · .* of \$5\.00/),
    ]);
    expect(rich.code).toBe(0);
  });

  it('a goal in a file gives its first line as the goal and all of it as the task', async () => {
    const at = workplace();
    writeFileSync(join(at, 'goal.md'), '# Find the queue\n\nSay in which files "queue" stands.\n');
    const { code, out } = await here(at, 'tree', 'run', 'goal.md', '--folder', SMALL, '--returns', 'boolean');
    expect(code).toBe(0);
    expect(out).toContain('[complete] GOAL Find the queue');
    expect(out.trim().endsWith('true')).toBe(true);
    expect((await here(at, 'tree', 'show', '1')).out).toContain('prompt   # Find the queue\n');
  });
});

describe('wrong use of reprise tree run', () => {
  const at = workplace();
  mkdirSync(join(at, 'a-folder'));
  writeFileSync(join(at, 'empty.md'), '\n\n');
  writeFileSync(join(at, 'bytes.md'), Buffer.from([0x23, 0xff, 0xfe]));
  writeFileSync(join(at, 'large.md'), 'x'.repeat(1_000_001));
  writeFileSync(join(at, 'wide.md'), 'y'.repeat(501));
  writeFileSync(join(at, 'not-a-world.db'), 'Dear diary,\n'.repeat(200));

  // In this process: only the arguments matter, and a process for each row takes longer than all of them.
  const before = process.cwd();
  beforeAll(() => process.chdir(at));
  afterAll(() => process.chdir(before));

  it.each([
    [['   '], 2, 'the goal is empty'],
    [['z'.repeat(501)], 2, 'at most 500 bytes in its first line\n  found       501 bytes'],
    [['absent.md'], 2, 'the file with the goal does not exist\n  where       absent.md'],
    [['a-folder'], 2, 'the goal is a folder\n  where       a-folder'],
    [['empty.md'], 2, 'the file with the goal is empty\n  where       empty.md'],
    [['bytes.md'], 2, 'the file with the goal is not UTF-8\n  where       bytes.md'],
    [['large.md'], 2, 'at most 1000000 bytes\n  found       1000001 bytes'],
    [['wide.md'], 2, 'at most 500 bytes in its first line'],
    [['Go', '--folder', 'nowhere'], 2, 'the folder does not exist\n  where       --folder\n  found       nowhere'],
    [['Go', '--agent', 'nobody'], 2, 'unknown value of --agent\n  where       --agent\n  expected    worker, opencode'],
    [['Go', '--returns', 'a list of files'], 2, 'expected    text, boolean, list, structured, file'],
    [['Go', '--asks', 'me'], 2, 'expected    human, default, fail'],
    [['Go', '--model', 'gpt-x'], 2, 'OPENAI_API_KEY is not set'],
    [['Go', '--model', 'm', '--base-url', 'ftp://x'], 2, 'this is not an http address'],
    [['Go', '--tree-budget', '1'], 2, 'no_price: '],
    [['Go', '--budget', '-1'], 2, 'Expected an amount in dollars above zero'],
    [['Go', '--parallel', '0'], 2, 'Expected a whole number, 1 or more.'],
    [['Go', '--parallel', '129'], 2, 'parallel'],
    [['Go', '--name', 'My Tree'], 2, 'this cannot be the name of a tree'],
    [['Go', '--agent', 'codex'], 2, 'the program codex-acp cannot be started'],
    [['Go', '--world', 'not-a-world.db'], 5, 'not-a-world.db'],
    [['Go', '--world', 'no/such/folder/tree.db'], 5, 'the folder of the world cannot be made\n  where       '],
    [[], 2, "missing required argument 'goal'"],
  ] as const)('reprise tree run %j exits with %i and says what was expected', async (args, code, words) => {
    const result = await run('tree', 'run', ...args);
    expect({ code: result.code, out: result.out }).toEqual({ code, out: '' });
    expect(result.err).toContain(words);
    expect(result.err).not.toMatch(/\n\s+at /);
  });

  deep('tree run: owner', () => {
    it('reprise tree run on a world that another process has exits with 2 and names that process', async () => {
      const mine = workplace();
      mkdirSync(join(mine, '.reprise'));
      const held = await sqlite(join(mine, '.reprise/tree.db')).open(); // this process has it, for as long as the command runs
      try {
        const { code, err } = await here(mine, 'tree', 'run', 'What is here?', '--folder', SMALL);
        expect({ code, named: err.includes(String(process.pid)) }).toEqual({ code: 2, named: true });
        expect(err).toContain('world_locked');
      } finally {
        await held.close();
      }
    });
  });

  it('reprise tree run in a folder that cannot be written exits with 5 and names the world', async () => {
    const mine = workplace();
    writeFileSync(join(mine, '.reprise'), 'a file where the folder of the world would be\n'); // holds for root, too
    const { code, out, err } = await here(mine, 'tree', 'run', 'Go', '--folder', SMALL);
    expect({ code, out }).toEqual({ code: 5, out: '' });
    expect(err).toContain('.reprise');
    expect(err).not.toMatch(/\n\s+at /);
  });
});
