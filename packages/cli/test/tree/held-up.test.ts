/** What `reprise tree show` says of nodes that troubles hold up, and of a tree whose process is gone. */
import { isBelow } from '@reprise/agent';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calls, complete, forest } from '../../../tree/test/api/forest.js';
import { partTroubles } from '../../src/world/failed-cells.js';
import { run } from '../run.js';
import { freshFolder } from '../worlds.js';

const folder = freshFolder();
const world = folder.file('tree.db');
const show = async (...more: string[]) => (await run('tree', 'show', ...more, '--world', world)).out;
const shown = async (...more: string[]) => JSON.parse(await show(...more, '--json'));

/** A tree `t`, whose first child has given its result and whose second never does; and a tree `u` that has ended. */
beforeAll(async () => {
  const never = { text: 'Late.', delayMs: 600_000 };
  await forest(
    ({ n, step, prompt }) => {
      if (prompt.includes('Short')) return complete('All.');
      if (n === 2) return complete('Yes.');
      if (n === 3) return never;
      return step === 0 ? calls(['spawn', node('first')], ['spawn', node('second')]) : { text: 'I wait.' };
    },
    async ({ trees }) => {
      await (await trees.start('u', { goal: 'Short' })).result();
      const tree = await trees.start('t', { goal: 'Long' });
      for await (const event of tree.events()) if (event.type === 'launched' && event.node === 3) break;
    },
    { store: sqlite(world), goesOn: true },
  );
});
afterAll(() => folder.remove());

const node = (goal: string) => ({ goal, prompt: goal });

describe('reprise tree show of what does not go on', () => {
  it('tree show says of a tree that has not ended, and whose world no process has open, that no process runs it, and how it goes on [TREE-67]', async () => {
    const picture = await show('t');
    expect(picture).toMatch(/^ t · ○ no process runs it · /);
    expect(picture).toContain(`no process runs tree t; to go on with it: reprise tree continue t\n`);
    expect(await shown('t')).toMatchObject({ mark: '○', state: 'no process runs it', process: 'closed' });
    expect(await show('u')).not.toContain('no process');
    expect(await show('--all')).toMatch(
      / t · ○ no process runs it · [\s\S]* u · ✓ complete · | u · ✓ complete · [\s\S]* t · ○ no process runs it/,
    );
    expect(await show('t', '--at', '40')).not.toContain('no process');
    const store = await sqlite(world).openReadonly();
    const asked = { world, seq: 0, isMeant: isBelow(['t']) };
    const unowned = async (writer: 'open' | 'closed' | 'died' | 'unknown') =>
      (await partTroubles({ ...store, status: async () => ({ writer }) }, asked)).isUnowned;
    expect([await unowned('died'), await unowned('open'), await unowned('unknown')]).toEqual([true, false, false]);
    await store.close();
  });

  it('marks exactly the nodes that a trouble holds up, in the picture, in the node and as JSON [TREE-68]', async () => {
    const { nodes } = await shown('t');
    const { session } = nodes.find(({ n }: { readonly n: number }) => n === 3);
    const open = await sqlite(world).open();
    try {
      const cells = [['aos.agent/SessionReducer@1', `${session}.c1`]];
      const failing = { kind: 'service_failing', where: 'models.example', code: 'provider_error_retryable/network' };
      await open.post?.(JSON.stringify([{ ...failing, since: 1_700_000_000_000, waiting: 1, cells }]));
      const picture = await show('t');
      expect(picture).toMatch(/^ t · ● running · /);
      expect(picture.split('\n').filter((line) => / ?!/.test(line) && line.includes('#'))).toEqual([
        expect.stringMatching(/^ +●! #3 \[active\] SPAWN second +! provider_error_retryable\/network/),
      ]);
      expect(picture).toContain('stalled: models.example');
      const json = await shown('t');
      expect([json.process, json.state]).toEqual(['open', 'running']);
      const held = json.nodes.map(({ n, trouble }: { n: number; trouble: unknown[] }) => [n, trouble.length]);
      expect(held).toEqual([
        [1, 0],
        [2, 0],
        [3, 1],
      ]);
      expect(await show('t/3')).toMatch(/^trouble +models\.example, since 2023/m);
      expect(await shown('t/3')).toMatchObject({ trouble: [failing] });
      expect(await show('t/2')).not.toMatch(/^trouble/m);
    } finally {
      await open.close();
    }
  });
});
