/** `reprise prompt`: every model call of a conversation, a tree and a team. */
import { createHash } from 'node:crypto';
import { readFrame } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, runOn } from '../run.js';
import { freshFolder } from '../worlds.js';
import { makeScene } from './scene.js';

const folder = freshFolder();
const world = folder.file('scene.db');
const calls: string[] = [];

beforeAll(async () => {
  await makeScene(world);
  const store = await sqlite(world).openReadonly();
  for await (const { seq, bytes } of store.journal.read(0))
    for (const [i, record] of readFrame(bytes, seq).all.entries())
      if (record.kind === 'effect' && record.name === 'llm.generate@2') calls.push(`${seq}.${i}`);
  await store.close();
});
afterAll(() => folder.remove());

describe('reprise prompt', () => {
  it('given each call of a conversation, a tree and a team, --as sent prints the bytes that have the recorded digest', async () => {
    expect(calls.length).toBeGreaterThan(4);
    for (const call of calls) {
      const { sent } = JSON.parse((await run('prompt', world, call, '--json')).out);
      const { code, out } = await run('prompt', world, call, '--as', 'sent');
      const digest = createHash('sha256').update(out.slice(0, -1)).digest('hex');
      expect([call, code, digest, sent.isSame]).toEqual([call, 0, sent.recorded, true]);
    }
  });

  it.each([80, 60])(
    'given a terminal of %i columns, each line fits it and no line holds a long id',
    async (columns) => {
      for (const call of calls) {
        const { code, out } = await runOn(columns, 'prompt', world, call);
        expect(code).toBe(0);
        expect(out.split('\n').filter((line) => line.length > columns)).toEqual([]);
        expect(out).not.toMatch(/[0-9a-f]{32}/);
      }
    },
  );

  it('the text says which step it is, what is new, where each part came from and what was left out', async () => {
    const { out } = await runOn(80, 'prompt', world, 'last');
    expect(out).toMatch(/^step 1 of run 0 of .* · script\/script · 1000 tokens in, 100 out\n/);
    expect(out).toContain('same digest as recorded ✓');
    expect(out).toMatch(/^system +\d+ B · set in frame \d+$/m);
    expect(out).toMatch(/^tools +\d+ B · \d+ · set in frame \d+$/m);
    expect(out).toMatch(/^user +\d+ B · frame \d+/m);
    expect(out).toMatch(/^left out +0 items$/m);
  });

  it('given --as sent for bytes that nobody here can write, it refuses with the reason and exits with 1', async () => {
    const { code, err } = await run('prompt', world, 'last', '--as', 'bytes');
    expect([code, err.includes('invalid_argument')]).toEqual([2, true]);
  });

  it('a name that means no call is refused with what names one', async () => {
    const { code, err } = await run('prompt', world, '0');
    expect(code).toBe(2);
    expect(err).toContain('no model call is meant by this');
  });
});
