/** The verbs that read trees, on recorded worlds: pictures, one node, lists, reports, following, wrong use. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Facts } from '../../../tree/test/views/facts.js';
import { command, ended, run, runOn, start } from '../run.js';
import { freshFolder } from '../worlds.js';
import { makeSurvey, openRecorder, record, withoutLinks } from './recorded.js';

const folder = freshFolder();
const world = folder.file('tree.db');
const at = ['--world', world];

beforeAll(() => makeSurvey(world));
afterAll(() => folder.remove());

/** Compares with a golden file; `GOLDEN_UPDATE=1` writes it. */
function golden(name: string, text: string): void {
  const path = new URL(`./golden/${name}`, import.meta.url);
  if (process.env.GOLDEN_UPDATE === '1') writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, 'utf8'));
}

describe('reprise tree show', () => {
  it.each([80, 120])(
    'reprise tree show prints the picture of the newest tree within %i columns, as the golden file has it',
    async (columns) => {
      const { code, out, err } = await runOn(columns, 'tree', 'show', ...at);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(columns);
      golden(`survey-${columns}.txt`, out);
    },
  );

  it('reprise tree show prints each line whole into a pipe', async () => {
    const { out } = await run('tree', 'show', ...at);
    expect(out).toContain('    ✓ #2 [complete] SPAWN List what imports it   $0.04\n');
    expect(out).toContain('result: 41 files, most of them in src/read and twelve elsewhere\n');
  });

  it('reprise tree show prints the same states as JSON as in its picture [TREE-46]', async () => {
    const { out } = await run('tree', 'show', ...at, '--json');
    const { nodes, mark, state } = JSON.parse(out);
    expect({ mark, state }).toEqual({ mark: '○', state: 'no process runs it' });
    const picture = (await run('tree', 'show', ...at)).out;
    expect(picture).toContain(` · ${mark} ${state} · `);
    for (const node of nodes) expect(picture).toContain(` ${node.mark} #${node.n} [${node.state}] `);
    expect(nodes).toHaveLength(10);
  });

  it('reprise tree show prints one node: why it waits, the goals above it, what it needs and its prompt', async () => {
    const { code, out } = await run('tree', 'show', '5', ...at);
    expect(code).toBe(0);
    expect(out).toContain('survey/#5 SPAWN Remove the old one\n');
    expect(out).toContain('why      it needs #3 (active), #4 (waits for an answer)\n');
    expect(out).toContain('goals    #1 "Upgrade the parser" › #5 "Remove the old one"\n');
    expect(out).toContain('prompt   Rewrite the tests below test/read.\n');
    expect((await run('tree', 'show', 'survey/#4', ...at)).out).toContain(
      'question #8 waits for you: reprise tree answer survey/8 VALUE',
    );
    expect((await run('tree', 'show', 'survey', '#9', ...at)).out).toContain('its time ran out; to try it again: ');
    expect(JSON.parse((await run('tree', 'show', '#2', ...at, '--json')).out)).toMatchObject({
      n: 2,
      state: 'complete',
      result_text: '41 files, most of them in src/read\nand twelve elsewhere',
    });
  });

  it('reprise tree show prints what a node may do, within what the nodes above it may [TREE-46]', async () => {
    const path = folder.file('rights.db');
    const facts = new Facts('bounded')
      .start('Bounded')
      .push('tree/Rights@1', { n: 1, rights: { may: { tool: ['read_*'], send: [] } } })
      .node(1, { type: 'goal', parent: null })
      .push('tree/Rights@1', { n: 2, rights: { may: { tool: ['write_*'] }, max_parallel: 2 } })
      .node(2, {})
      .node(3, {});
    const recorder = await openRecorder(path);
    await record(recorder, withoutLinks(facts));
    await recorder.close();
    const line = async (n: number) =>
      /^rights +(.*)$/m.exec((await run('tree', 'show', String(n), '--world', path)).out)?.[1];
    expect(await line(3)).toBe('send: none · tool: read_*');
    expect(await line(2)).toBe('send: none · tool: none · max_parallel: 2');
    const { rights } = JSON.parse((await run('tree', 'show', '--world', path, '--json')).out);
    expect(rights['1']).toEqual({ may: { tool: ['read_*'], send: [] } });
  });

  it('reprise tree show prints a line for each tree with --all, and an earlier state with --at', async () => {
    const { out } = await run('tree', 'show', '--all', ...at);
    expect(out.split('\n').map((line) => line.split(' · ')[0])).toEqual([' first', ' survey', '']);
    const early = await run('tree', 'show', '--at', '6', ...at);
    expect(early.out).toContain('○ #2 [pending] SPAWN List what imports it');
    expect(early.out).not.toContain('#3');
  });
});

describe('reprise tree report', () => {
  it('reprise tree report prints the result, the nodes with their cost, the failures and the questions as Markdown', async () => {
    const { code, out } = await run('tree', 'report', ...at);
    expect(code).toBe(0);
    golden('survey-report.md', out);
    expect((await run('tree', 'report', 'first', ...at)).out).toContain('## Result\n\n41 files, most of them');
  });

  it('the report of a tree that has not ended says that no process runs it and how it goes on [TREE-67]', async () => {
    const path = folder.file('left.db');
    const recorder = await openRecorder(path);
    await record(recorder, withoutLinks(new Facts('left').start('Go').node(1, { type: 'goal', parent: null })));
    const whileOpen = await run('tree', 'report', '--world', path);
    await recorder.close();
    const afterwards = await run('tree', 'report', '--world', path);
    const shown = await run('tree', 'show', '--world', path);
    expect(whileOpen.out).toContain('Tree `left`, running.');
    const onward = 'no process runs it; to go on with it: `reprise tree continue left`.';
    expect(afterwards.out).toContain(`Tree \`left\`, ${onward}`);
    expect(shown.out).toContain('no process runs it');
  });
});

describe('reprise tree watch', () => {
  it('reprise tree watch prints the picture of a tree that has ended, and exits as the tree did', async () => {
    const { code, out } = await run('tree', 'watch', 'first', ...at);
    expect(code).toBe(0);
    expect(out).toContain('✓ #1 [complete] GOAL Say hello');
  });

  it('reprise tree watch follows a tree that another process writes, prints each change, and ends with it [TREE-41]', async () => {
    const path = folder.file('live.db');
    const live = await openRecorder(path);
    const root = { type: 'goal', parent: null, goal: 'Go' } as const;
    await record(live, withoutLinks(new Facts('live').start('Go').node(1, { ...root, status: 'active', run: 'live' })));
    const watching = start(folder.path, 'tree', 'watch', '--world', 'live.db');
    const asJson = start(folder.path, 'tree', 'watch', '--world', 'live.db', '--json');
    const ends = [ended(watching), ended(asJson)];
    await Promise.all([once(watching.stdout!, 'data'), once(asJson.stdout!, 'data')]);
    const spent = { tokens: 0, micro_money: 0 };
    const facts = new Facts('live').node(2, { goal: 'Part' }).node(2, { goal: 'Part', status: 'active', run: 'live' });
    facts
      .node(2, { goal: 'Part', status: 'failed', code: 'timeout' })
      .node(1, { ...root, status: 'failed', code: 'all_children_failed' });
    facts.push('tree/Ended@1', { status: 'failed', code: 'all_children_failed', result: null, spent });
    await record(live, withoutLinks(facts));
    const [plain, json] = await Promise.all(ends);
    await live.close();
    const unowned = 'no reprise tree runs this world; unless an app does: reprise tree continue live\n';
    expect(plain).toMatchObject({ code: 1, err: unowned });
    expect(plain?.out).toMatch(/\d\d:\d\d {2}○ #2 \[pending\] SPAWN Part\n/);
    expect(plain?.out).toContain('✗ #2 [failed] SPAWN Part · timeout\n');
    expect(plain?.out).toMatch(/✗ tree live \[failed\] all_children_failed\n[\s\S]*✗ #1 \[failed\] GOAL Go/);
    const events = json?.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events?.map(({ type }) => type)).toEqual(['started', ...Array(5).fill('node'), 'ended']);
    expect(events?.at(-1)).toMatchObject({ tree: 'live', type: 'ended', mark: '✗', state: 'failed' });
    expect(json?.code).toBe(1);
  });
});

describe('wrong use of the reading verbs', () => {
  it.each([
    [['tree', 'show', 'nothing'], 2, 'the world has no tree with this name\n  expected    one of first, survey'],
    [
      ['tree', 'show', '#99'],
      2,
      'the tree has no such node\n  expected    a number from 1 to 10\n  found       survey/#99',
    ],
    [['tree', 'show', 'Not A Name'], 2, 'this cannot be the name of a tree'],
    [['tree', 'show', 'survey/#x'], 2, 'this is not the number of a node'],
    [['tree', 'show', '--at', '9999'], 2, 'the world has no such frame'],
    [['tree', 'show', '--at', 'x'], 2, 'Expected a whole number, 0 or more.'],
    [['tree', 'report', '#3'], 2, 'this cannot be the name of a tree'],
    [['tree', 'frobnicate'], 2, "unknown command 'frobnicate'"],
    [['tree', 'watch', 'a', 'b'], 2, 'too many arguments'],
  ] as const)('%j exits with %i and says what was expected', async (args, code, words) => {
    const { code: ended, err, out } = await run(...args, ...(args[1] === 'frobnicate' ? [] : at));
    expect({ ended, out }).toEqual({ ended: code, out: '' });
    expect(err).toContain(words);
    expect(err).not.toMatch(/\n\s+at /);
  });

  it('exits with 5 for a world that is absent, with the path', async () => {
    const { code, err } = await command(folder.path, 'tree', 'show');
    expect(code).toBe(5);
    expect(err).toContain('world_absent: the file does not exist\n  where       .reprise/tree.db\n');
  });

  it('exits with 2 for a world without trees, and says how to start one', async () => {
    const empty = await openRecorder(folder.file('none.db'));
    await empty.close();
    const { code, err } = await run('tree', 'show', '--world', folder.file('none.db'));
    expect(code).toBe(2);
    expect(err).toContain('Start one: reprise tree run "GOAL"');
  });
});
