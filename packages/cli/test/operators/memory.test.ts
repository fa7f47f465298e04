/** `reprise memory`, on a world in which agents keep, judge, replace, copy and erase what they know. */
import { memoryReport } from '@reprise/operators';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, runOn } from '../run.js';
import { freshFolder } from '../worlds.js';
import { makeMemories } from './memory-scene.js';

const folder = freshFolder();
const path = folder.file('memory.db');
beforeAll(() => makeMemories(path));
afterAll(() => folder.remove());

/** The text with the path, times and the beginnings of ids replaced. */
function steady(text: string): string {
  return text
    .replaceAll(path, 'memory.db')
    .replace(/2026-01-\d\dT[0-9:.]+Z/g, 'TIME')
    .replace(/after frame \d+/, 'after frame LAST')
    .replace(/\b[0-9a-f]{8}…/g, 'ID')
    .replace(/ $/gm, '');
}

describe('reprise memory', () => {
  it('reprise memory lists the items of all stores with their writers, verdicts, and what became of them', async () => {
    const { code, out, err } = await runOn(80, 'memory', path);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(steady(out)).toMatchInlineSnapshot(`
      "memory.db: 8 items in 4 stores, after frame LAST
      app#notes
        #1 note by operator, frame 40 (TIME): Ann prefers tea.
      group:crew
        #1 finding by scribe, frame 19 (TIME), superseded: Bodies
          have at most one MiB.
          replaced by group:crew#3
          changed frame 32 (TIME)
          right by ben (trust 0.65 -> 0.67, medium)
        #2 finding by cleo, frame 28 (TIME): README.md:9001: There
          are no errors.
          written before any reader had answered: swarm hard had 2 tasks and no answer
          wrong by ben (trust 0.65 -> 0.62, medium); wrong by ann (trust 0.65 -> 0.62,
          medium)
        #3 finding by scribe, frame 32 (TIME): Bodies have at most
          two MiB, not one MiB.
        #4 finding by scribe, frame 33 (TIME): The moon is near.
          changed frame 34 (TIME)
          validated by ben
        #5 note by scribe, frame 36 (TIME): Ask ann about limits.
          a copy of private:ID#1
      private:ID (of scribe)
        #1 note by scribe, frame 35 (TIME): Ask ann about limits.
        #2 note by scribe, frame 37 (TIME): (erased)
          erased frame 38 (TIME)
      "
    `);
  });

  it('reprise memory of a store lists its items alone, also on a narrow terminal', async () => {
    const { out } = await runOn(60, 'memory', path, 'group:crew');
    expect(steady(out)).toMatchInlineSnapshot(`
      "group:crew: 5 items in 1 store, after frame LAST
      group:crew
        #1 finding by scribe, frame 19 (TIME),
          superseded: Bodies have at most one MiB.
          replaced by group:crew#3
          changed frame 32 (TIME)
          right by ben (trust 0.65 -> 0.67, medium)
        #2 finding by cleo, frame 28 (TIME):
          README.md:9001: There are no errors.
          written before any reader had answered: swarm hard had 2
          tasks and no answer
          wrong by ben (trust 0.65 -> 0.62, medium); wrong by ann
          (trust 0.65 -> 0.62, medium)
        #3 finding by scribe, frame 32 (TIME):
          Bodies have at most two MiB, not one MiB.
        #4 finding by scribe, frame 33 (TIME):
          The moon is near.
          changed frame 34 (TIME)
          validated by ben
        #5 note by scribe, frame 36 (TIME):
          Ask ann about limits.
          a copy of private:ID#1
      "
    `);
  });

  it('reprise memory of an item prints all its words, the act that wrote it, where it comes from and who judged it', async () => {
    const { out } = await run('memory', path, 'group:crew#2');
    expect(steady(out)).toMatchInlineSnapshot(`
      "group:crew#2, finding, live, after frame LAST
        README.md:9001: There are no errors.
      written by cleo, frame 28 (TIME): a request by operator (28.0)
      written before any reader had answered: swarm hard had 2 tasks and no answer
      revision 1, score 0, 2 uses, until TIME
      comes from:
        message 1 write 1, frame 28
      judged:
        wrong by ben (operator), frame 30 (TIME), by cross reference (trust 0.65 -> 0.62, medium)
        wrong by ann (operator), frame 31 (TIME), by cross reference (trust 0.65 -> 0.62, medium)
      who may read it: reprise readers memory.db group:crew#2
      "
    `);
  });

  it('reprise memory takes the name of a store that has a # of its own, and of an item in it', async () => {
    expect((await run('memory', path, 'app#notes')).out).toContain('app#notes: 1 item in 1 store');
    const { out } = await run('memory', path, 'app#notes#1');
    expect(out).toMatch(/^app#notes#1, note, live/);
    expect(out).toContain('Remember that I prefer tea.');
    expect((await run('readers', path, 'app#notes#1')).out).toMatch(/^app#notes#1, written by people/);
  });

  it.each([60, 80])('reprise memory fits its lines to a terminal of %i columns', async (columns) => {
    for (const item of [[], ['group:crew#2']]) {
      const { out } = await runOn(columns, 'memory', path, ...item);
      expect(out.split('\n').filter((line) => line.length > columns)).toEqual([]);
      expect(out.match(/[0-9a-f]{32,}/g)).toBeNull();
    }
  });

  it('reprise memory --json prints the report of memoryOf, whose pages together are the whole list', async () => {
    const whole = memoryReport.parse(JSON.parse((await run('memory', path, '--json')).out));
    expect(whole).toMatchObject({ stores: 4, next: null });
    const paged = [];
    for (let after: readonly string[] = []; ; ) {
      const page = memoryReport.parse(JSON.parse((await run('memory', path, '--json', '--limit', '3', ...after)).out));
      paged.push(...page.rows);
      if (page.next === null) break;
      after = ['--after', page.next];
    }
    expect(paged).toEqual(whole.rows);
    expect((await run('memory', path, '--limit', '3')).out).toContain('There are more items');
  });

  it('reprise memory --at lists what was kept after an earlier frame, with the verdicts until then', async () => {
    const report = async (...more: string[]) =>
      memoryReport.parse(JSON.parse((await run('memory', path, 'group:crew#1', '--json', ...more)).out)).rows[0];
    const now = await report();
    expect(now).toMatchObject({ state: 'superseded', replaced_by: 'group:crew#3', verdicts: [{ verdict: 'right' }] });
    const then = await report('--at', String(now?.frame));
    expect(then).toMatchObject({ state: 'live', replaced_by: null, changed: null, verdicts: [] });
  });

  it.each([
    [['group:nosuch'], 'there is no such store'],
    [['group:crew#99'], 'no such item'],
    [['group:crew#0'], 'names no item'],
    [['#'], 'names no item'],
    [['--after', 'group:crew#99'], 'no entry has this cursor'],
    [['--after', 'nonsense'], 'no entry has this cursor'],
    [['--limit', '0'], 'limit'],
    [['--at', '99999'], 'there is no such frame'],
  ])('reprise memory refuses %j, which is not there, with what can be named', async (words, said) => {
    const { code, out, err } = await run('memory', path, ...words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(said);
  });
});
