/** Questions of an operator that name what is not there, and answers that come in pages. The adversary is a mistyped word. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../run.js';
import { freshFolder } from '../worlds.js';
import { host, makeScene, openScene, thinker } from './scene.js';

const folder = freshFolder();
const path = folder.file('scene.db');
beforeAll(() => makeScene(path));
afterAll(() => folder.remove());

const last = async () => JSON.parse((await run('waiting', path, '--json')).out).frame as number;

describe('a question about what is not there', () => {
  it.each(['aos.agent/SessionReducer@1/nosuch', 'foo/Bar@1/x'])(
    'reprise diff refuses the cell %s, which is at neither frame, and does not say that nothing changed',
    async (cell) => {
      const { code, out, err } = await run('diff', path, '0', String(await last()), cell);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain('there is no such cell at either frame');
    },
  );

  it.each(['cell:aos.agent/SessionReducer@1/nosuch', 'cell:foo/Bar@1/x'])(
    'reprise rights refuses the holder %s, which is not there, and does not say that it may do everything',
    async (holder) => {
      const { code, out, err } = await run('rights', path, holder);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain('there is no such cell at this frame');
    },
  );

  it('reprise rights answers for a cell without rights of its own, for the operator and for a person', async () => {
    for (const holder of ['cell:aos.agent/SessionReducer@1/main', 'operator', 'human:ann'])
      expect(await run('rights', path, holder)).toMatchObject({ code: 0, err: '' });
  });

  it('reprise waiting refuses to follow what waited at an earlier frame: it cannot change', async () => {
    const { code, err } = await run('waiting', path, '--at', '3', '--follow');
    expect(code).toBe(2);
    expect(err).toContain('either --at or --follow');
  });
});

/** All entries of an answer that is asked for page by page. */
async function paged(list: string, ...question: readonly string[]): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for (let after: readonly string[] = []; ; ) {
    const { code, out } = await run(...question, '--json', '--limit', '1', ...after);
    expect(code).toBe(0);
    const report = JSON.parse(out);
    all.push(...report[list]);
    if (report.next === null) return all;
    after = ['--after', report.next];
  }
}

describe('an answer in pages', () => {
  it('the pages of reprise diff, of reprise waiting and of reprise cost together are the whole answer, and a page says that it is one', async () => {
    const frames = ['0', String(await last())];
    const cells = JSON.parse((await run('diff', path, ...frames, '--json')).out).cells;
    expect(JSON.stringify(await paged('cells', 'diff', path, ...frames))).toBe(JSON.stringify(cells));
    const { waiting } = JSON.parse((await run('waiting', path, '--json')).out);
    const pages = (await paged('waiting', 'waiting', path)) as readonly {
      readonly id?: string;
      readonly of: unknown;
    }[];
    expect(JSON.stringify(pages)).toBe(JSON.stringify(waiting));
    const sums = ['cost', path, '--by', 'agent,model'];
    const { rows } = JSON.parse((await run(...sums, '--json')).out);
    expect(rows.length).toBeGreaterThan(1);
    expect(JSON.stringify(await paged('rows', ...sums))).toBe(JSON.stringify(rows));
    expect((await run('diff', path, ...frames, '--limit', '1')).out).toMatch(/: the first 1 cell\n[\s\S]*--after\.\n$/);
    expect((await run('waiting', path, '--limit', '1')).out).toMatch(/--after\.\n/);
  });
});

describe('a line that is copied', () => {
  it('given a session whose key holds a long id, no line names it by a part of its key, which would be another session', async () => {
    const place = folder.file('long.db');
    const { world, settled } = await openScene(place);
    const key = `${'ab'.repeat(32)}/notes`;
    await world.session(key, host).send('A table for three.');
    await settled();
    await world.session(key, host).pause();
    await settled();
    const { waiting } = JSON.parse((await run('waiting', place, '--json')).out);
    const lines = waiting.map((item: { readonly answer: { readonly line: string } }) => item.answer.line);
    const { out } = await run('waiting', place);
    expect(out).not.toMatch(/world\.session\('ab/);
    for (const line of lines.filter((one: string) => one.includes(key))) expect(out).not.toContain(line);
    expect(lines.filter((one: string) => one.includes(key))).toHaveLength(1);
    expect(out).toContain('--json prints it');
    await world.close();
  });

  it('given the first step of a later run, reprise prompt names the run of the step before', async () => {
    const place = folder.file('runs.db');
    const { world } = await openScene(place);
    await (await world.session('thoughts', thinker).send('And now?')).result;
    await world.close();
    expect((await run('prompt', place, 'last')).out).toMatch(/NEW since step 1 of run 0\b/);
  });
});
