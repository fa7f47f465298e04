/** Lists of sessions and runs. */
import { describe, expect, it } from 'vitest';
import { defineAgent, runs } from '../../src/index.js';
import { gate, play } from './scene.js';

const hello = defineAgent({ name: 'hello', model: 'main', instructions: 'Be brief.' });

describe('sessions', () => {
  it('sessions are found by state, by label and by the last change', async () => {
    const held = gate();
    const steps = [{ text: '1' }, { text: '2' }, { after: held.opened, text: '3' }];
    await play({ agents: [hello], steps }, async ({ world }) => {
      const open = (key: string, tenant: string) => world.session(key, hello, { labels: { tenant, tier: 'new' } });
      await (await open('a', 'acme').send('Hi')).result();
      await (await open('b', 'best').send('Hi')).result();
      const last = await open('c', 'acme').send('Hi');
      const keys = async (query: Parameters<typeof world.sessions>[0]) =>
        (await world.sessions(query)).items.map(({ key }) => key);
      expect(await keys({})).toEqual(['c', 'b', 'a']);
      expect(await keys({ status: 'Completed' })).toEqual(['a', 'b']);
      expect(await keys({ label: { tenant: 'acme' } })).toEqual(['a', 'c']);
      expect(await keys({ label: { tenant: 'acme', tier: 'old' } })).toEqual([]);
      expect(await keys({ label: { tenant: 'acme' }, status: 'Running' })).toEqual(['c']);
      expect(await keys({ agent: 'hello' })).toHaveLength(3);
      const [row] = (await world.sessions({ label: { tenant: 'best' } })).items;
      expect(row).toMatchObject({ agent: 'hello', status: 'Completed', closed: false, runs: 1, usage: { steps: 1 } });
      held.open();
      await last.result();
    });
  });

  it('sessions are listed page by page', async () => {
    await play({ agents: [hello], steps: [{ text: '1' }, { text: '2' }, { text: '3' }] }, async ({ world }) => {
      for (const key of ['a', 'b', 'c']) await (await world.session(key, hello).send('Hi')).result();
      const first = await world.sessions({ limit: 2 });
      expect(first.items.map(({ key }) => key)).toEqual(['c', 'b']);
      const second = await world.sessions({ limit: 2, ...(first.next === undefined ? {} : { after: first.next }) });
      expect(second.items.map(({ key }) => key)).toEqual(['a']);
      expect(second.next).toBeUndefined();
    });
  });
});

describe('results', () => {
  it('new results are those of runs that ended behind the last one taken', async () => {
    await play({ agents: [hello], steps: [{ text: '1' }, { text: '2' }] }, async ({ world }) => {
      await (await world.session('a', hello).send('Hi')).result();
      const view = (await world.views()).view(runs);
      const [taken] = (await view.query({ index: 'ended' })).rows;
      await (await world.session('b', hello).send('Hi')).result();
      await world.views();
      const from = [(taken?.row.ended ?? 0) + 1];
      expect((await view.query({ index: 'ended', from })).rows.map(({ row }) => row.session)).toEqual(['b']);
    });
  });
});
