/** `reprise waiting` and `reprise cost`, on a world with a conversation, a tree and a team. */
import { costOf, costReport, waitingReport } from '@reprise/operators';
import { sqlite } from '@reprise/store-sqlite';
import { TreeRecords, treesAt, treeUsedSoFar, usedSoFar } from '@reprise/tree';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, runOn } from '../run.js';
import { freshFolder } from '../worlds.js';
import { makeScene, openScene } from './scene.js';

const folder = freshFolder();
const path = folder.file('scene.db');
beforeAll(() => makeScene(path));
afterAll(() => folder.remove());

/** The text with ids and ages replaced. */
function steady(text: string): string {
  return text
    .replaceAll(path, 'scene.db')
    .replace(/'[0-9a-f]{12}'/g, "'ID'")
    .replace(/for \d+ (s|min|h|d)\b/g, 'for AGE');
}

describe('reprise waiting', () => {
  it('reprise waiting lists an approval of a conversation, one of a specialist and a question of a node, each with the line that answers it', async () => {
    const { code, out, err } = await run('waiting', path);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(steady(out)).toMatchInlineSnapshot(`
      "scene.db: 3 things wait
      approval: book {"table":"two, at eight"}
        main (host), by human:*, for AGE
        await world.decide('ID', { approve: true }, { as: 'human:NAME' })
      question: Keep the old parser? [yes, no]
        node #1 of upgrade, by human:*, for AGE
        reprise tree answer upgrade/2 VALUE --world scene.db
      approval: book {"table":"four"}
        clerk, result 1 of party, by human:*, for AGE
        await world.decide('ID', { approve: true }, { as: 'human:NAME' })
      "
    `);
  });

  it.each([60, 80])('reprise waiting fits its lines to a terminal of %i columns', async (columns) => {
    const { out } = await runOn(columns, 'waiting', path);
    expect(out.split('\n').filter((line) => line.length > columns)).toEqual([]);
  });

  it('reprise waiting --json prints the report of pendingIn, with whole ids', async () => {
    const { out } = await run('waiting', path, '--json');
    const report = waitingReport.parse(JSON.parse(out));
    expect(report.process).toBe('closed');
    expect(report.waiting.map(({ kind, what }) => [kind, what])).toEqual([
      ['approval', 'book {"table":"two, at eight"}'],
      ['question', 'Keep the old parser?'],
      ['approval', 'book {"table":"four"}'],
    ]);
    expect(report.waiting[0]?.answer.line).toMatch(
      /^await world\.decide\('[0-9a-f]{64}', \{ approve: true \}, \{ as: 'human:NAME' \}\)$/,
    );
  });

  it('reprise waiting --at lists what waited after an earlier frame', async () => {
    const report = JSON.parse((await run('waiting', path, '--json', '--at', '3')).out);
    expect(report).toMatchObject({ frame: 3, process: null, waiting: [] });
    const none = await run('waiting', path, '--at', '99999');
    expect(none).toMatchObject({ code: 2, err: expect.stringContaining('there is no such frame') });
  });
});

describe('reprise waiting beside a writer', () => {
  it('given a world that a process has open, when its printed line is copied into the program, then the item is decided and waits no more', async () => {
    const open = folder.file('open.db');
    const { world, settled } = await openScene(open);
    const { out } = await run('waiting', open);
    const [, id = ''] =
      /world\.decide\('([0-9a-f]{12})', \{ approve: true \}, \{ as: 'human:NAME' \}\)/.exec(out) ?? [];
    expect(await world.decide(id, { approve: true }, { as: 'human:ann' })).toEqual({ status: 'applied' });
    await settled();
    expect((await run('waiting', open)).out).not.toContain(id);
    expect(await world.decide(id, { approve: true })).toEqual({ status: 'already_settled' });
    await world.close();
  });
});

describe('reprise log and reprise diff', () => {
  it.each([0, 1, 5, 20, 1_000])('the last %i lines of the log are those of the whole log', async (n) => {
    const { out: all } = await run('log', path);
    const lines = all.split('\n').slice(0, -1);
    const { out } = await run('log', path, '-n', String(n));
    expect(out).toBe(
      lines
        .slice(Math.max(lines.length - n, 0))
        .map((line) => `${line}\n`)
        .join(''),
    );
  });

  it('reprise diff prints what changed between two frames in one cell and in all, and refuses them in the wrong order', async () => {
    const cell = 'aos.agent/SessionReducer@1/main';
    const last = JSON.parse((await run('waiting', path, '--json')).out).frame;
    const one = await run('diff', path, '0', String(last), cell);
    expect(one).toMatchObject({ code: 0, err: '' });
    expect(one.out).toContain(`from frame 0 to frame ${last}: 1 cell\n${cell} (made)\n  add     (the state) {`);
    const all = JSON.parse((await run('diff', path, '0', String(last), '--json')).out);
    expect(all.cells.map((found: { readonly cell: string }) => found.cell)).toContain('tree/Tree@1/upgrade');
    expect((await run('diff', path, String(last), String(last))).out).toBe(
      `nothing changed from frame ${last} to frame ${last}\n`,
    );
    expect(await run('diff', path, '3', '1')).toMatchObject({ code: 2 });
    const narrow = await runOn(60, 'diff', path, '0', String(last));
    expect(narrow.out.split('\n').filter((line) => line.length > 60)).toEqual([]);
  });
});

describe('reprise cost', () => {
  it('reprise cost sums calls, tokens and money by agent, and says how many calls state no price', async () => {
    const { code, out, err } = await run('cost', path);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatchInlineSnapshot(`
      "agent             calls    in  out      cost
      clerk                 1  1000  100    0.0030
      coordinator-crew      2  2000  200    0.0060
      host                  1  1000  100    0.0030
      surveyor              1  1000  100    0.0030
      thinker               1  1000  100  0.0000+?
      all                   6  6000  600  0.0150+?
      1 of 6 model calls state no price: the sum of money leaves them out.
      "
    `);
  });

  it('reprise cost sums by node and by task, with a row for what belongs to none', async () => {
    expect((await run('cost', path, '--by', 'node,task')).out).toMatchInlineSnapshot(`
      "node       task            calls    in  out      cost
      upgrade/1  –                   1  1000  100    0.0030
      –          party/result 1      1  1000  100    0.0030
      –          –                   4  4000  400  0.0090+?
      all                            6  6000  600  0.0150+?
      1 of 6 model calls state no price: the sum of money leaves them out.
      "
    `);
  });

  it('given a node whose run has not ended, when its tree is shown, then it has cost what its calls have cost so far', async () => {
    const store = await sqlite(path).openReadonly();
    const { rows } = await costOf(store, { by: ['node'] });
    const tree = (await treesAt(store)).trees.get('upgrade');
    const node = tree?.nodes.get(1);
    if (tree === undefined || node === undefined) throw new Error('the scene has no tree');
    expect(node).toMatchObject({ run: 'waiting', spent: { tokens: 0, micro_money: 0 } });
    expect(rows[0]).toMatchObject({
      keys: ['upgrade/1'],
      ...{ tokens_in: 1_000, tokens_out: 100, micro_money: 3_000 },
    });
    expect(usedSoFar(node)).toEqual({ tokens: 1_100, micro_money: 3_000 });
    expect(treeUsedSoFar(tree)).toEqual({ tokens: 1_100, micro_money: 3_000 });
    const { out } = await run('tree', 'show', '--world', path);
    expect(out.split('\n').find((line) => line.includes('#1 ['))).toMatch(/\$0\.003/);
    const { seq } = await store.journal.head();
    expect((await new TreeRecords().at(store, seq)).trees).toEqual((await treesAt(store)).trees);
    await store.close();
  });

  it('given a node whose run has ended, when its tree is shown, then no call is counted twice', async () => {
    const file = folder.file('answered.db');
    const { world, settled } = await openScene(file);
    const item = (await world.pending()).find(({ kind }) => kind === 'question');
    if (item === undefined) throw new Error('the scene has no question');
    await world.answer(item, 'yes', { as: 'human:ann' });
    await settled();
    await world.close();
    const store = await sqlite(file).openReadonly();
    const node = (await treesAt(store)).trees.get('upgrade')?.nodes.get(1);
    if (node === undefined) throw new Error('the scene has no tree');
    const { rows } = await costOf(store, { by: ['node'] });
    const [sums] = rows.filter(({ keys }) => keys[0] === 'upgrade/1');
    expect(node).toMatchObject({ status: 'complete', using: { tokens: 0, micro_money: 0 } });
    expect(sums?.calls).toBeGreaterThan(1);
    expect(usedSoFar(node).micro_money).toBe(sums?.micro_money);
    await store.close();
  });

  it.each([60, 80])('reprise cost fits its table to a terminal of %i columns', async (columns) => {
    const { out } = await runOn(columns, 'cost', path, '--by', 'agent,day,node,task,model');
    expect(out.split('\n').filter((line) => line.length > columns)).toEqual([]);
  });

  it('reprise cost --json prints the report of costOf, and refuses another key', async () => {
    const report = costReport.parse(JSON.parse((await run('cost', path, '--json', '--by', 'model,day')).out));
    expect(report.by).toEqual(['model', 'day']);
    expect(report.rows.reduce((sum, { calls }) => sum + calls, 0)).toBe(report.total.calls);
    const wrong = await run('cost', path, '--by', 'colour');
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('cost cannot be summed by this') });
  });

  it('reprise cost counts only the calls of a time', async () => {
    const all = JSON.parse((await run('cost', path, '--json')).out);
    const day = JSON.parse((await run('cost', path, '--json', '--from', '2026-01-02', '--to', '2026-01-03')).out);
    expect(day.total).toEqual(all.total);
    expect(JSON.parse((await run('cost', path, '--json', '--to', '2026-01-02')).out).rows).toEqual([]);
  });
});
