/** `reprise trust`, on a world in which agents keep memories and others judge them. */
import { trustReport } from '@reprise/operators';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, runOn } from '../run.js';
import { freshFolder } from '../worlds.js';
import { makeMemories } from './memory-scene.js';
import { makeScene } from './scene.js';

const folder = freshFolder();
const path = folder.file('memory.db');
const other = folder.file('scene.db');
beforeAll(async () => {
  await makeMemories(path);
  await makeScene(other);
});
afterAll(() => folder.remove());

const steady = (text: string): string => text.replaceAll(path, 'memory.db').replace(/2026-01-\d\dT[0-9:.]+Z/g, 'TIME');

describe('reprise trust', () => {
  it('reprise trust lists each judge with each author, the score, and the verdicts that moved it', async () => {
    const { code, out, err } = await run('trust', path);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(steady(out)).toMatchInlineSnapshot(`
      "memory.db: 3 pairs of a judge and an author, after frame 43
      ann trusts cleo: 0.62, medium, by 1 verdict
        frame 31 (TIME): wrong (operator) on group:crew#2, by cross reference: 0.65 -> 0.62
      ben trusts cleo: 0.62, medium, by 1 verdict
        frame 30 (TIME): wrong (operator) on group:crew#2, by cross reference: 0.65 -> 0.62
      ben trusts scribe: 0.67, medium, by 1 verdict
        frame 20 (TIME): right (operator) on group:crew#1, by user: 0.65 -> 0.67
      "
    `);
  });

  it('reprise trust --at lists what was known after an earlier frame, and --limit with --after the pages', async () => {
    const whole = JSON.parse((await run('trust', path, '--json')).out);
    expect(trustReport.parse(whole)).toEqual(whole);
    const [first] = whole.pairs;
    const early = JSON.parse((await run('trust', path, '--json', '--at', String(first.changes[0].frame - 1))).out);
    expect(
      early.pairs.some(
        (pair: typeof first) => pair.observer.id === first.observer.id && pair.agent.id === first.agent.id,
      ),
    ).toBe(false);
    const pairs = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = JSON.parse(
        (await run('trust', path, '--json', '--limit', '1', ...(after === undefined ? [] : ['--after', after]))).out,
      );
      pairs.push(...page.pairs);
      after = page.next;
    }
    expect(pairs).toEqual(whole.pairs);
    expect((await run('trust', path, '--limit', '1')).out).toContain('There are more pairs: --json has the cursor');
  });

  it('reprise trust of a world in which nobody judges says so in a sentence, and needs no app', async () => {
    const { code, out } = await run('trust', other);
    expect(code).toBe(0);
    expect(out).toMatch(/scene\.db: nobody has judged the work of another one, after frame \d+\n$/);
  });

  it('reprise trust fits its lines to the terminal, and refuses a cursor that no pair has', async () => {
    const { out } = await runOn(60, 'trust', path);
    expect(out.split('\n').filter((line) => line.length > 60)).toEqual([]);
    const { code, err } = await run('trust', path, '--after', 'nobody');
    expect([code, err]).toEqual([2, expect.stringContaining('no entry has this cursor')]);
  });
});
