/** What `reprise trouble` says of effects that may have run twice, and its exit code. */
import { fileURLToPath } from 'node:url';
import { openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, once, start } from '../../../kernel/test/support/lab.js';
import { outside } from '../../../kernel/test/support/outside.js';
import { app } from '../apps/payments.js';
import { run, runOn } from '../run.js';
import { freshFolder } from '../worlds.js';

const folder = freshFolder();
const APP = ['--app', fileURLToPath(new URL('../apps/payments.ts', import.meta.url))];
const bare = folder.file('bare.db');
const later = folder.file('later.db');

/** A world with a payment whose outcome is unknown. */
async function pay(path: string, afterwards: { readonly snapshot: boolean }): Promise<void> {
  const adapter = outside(once);
  adapter.answerAll(() => ({ status: 'outcome_unknown' }));
  await using world = await openKernelWorld({ store: sqlite(path), app, adapters: [adapter] });
  await ask(world, 'x', [start('pay', { to: 'the landlord of the house by the river, in the third week' })]);
  await world.pump();
  if (afterwards.snapshot) await world.snapshot();
}

beforeAll(async () => {
  await pay(bare, { snapshot: false });
  await pay(later, { snapshot: true });
});
afterAll(() => folder.remove());

describe('what may have run twice', () => {
  it('given a payment with an unknown outcome, when its line is printed, then nothing says that there is no trouble, and the exit code is 1', async () => {
    for (const args of [[bare], [bare, '--all'], [later, '--all']]) {
      const { code, out } = await run('trouble', ...args, ...APP);
      expect([code, out]).toEqual([1, expect.stringContaining('has no recorded outcome')]);
      expect(out).not.toContain('no trouble');
    }
    expect((await run('trouble', bare, '--json', ...APP)).code).toBe(1);
  });

  it('given a payment with an unknown outcome before the newest snapshot, when trouble is asked without --all, then it says from which frame on it read', async () => {
    const { code, out } = await run('trouble', later, ...APP);
    const { attempts } = JSON.parse((await run('trouble', later, '--json', ...APP)).out);
    expect(attempts.from).toBeGreaterThan(0);
    expect([code, out]).toEqual([
      0,
      `${later}: no trouble; what may have run twice was read since frame ${attempts.from}: --all reads everything\n`,
    ]);
  });

  it.each([60, 80])(
    'given a terminal of %i columns, when what may have run twice is printed, then its lines fit',
    async (columns) => {
      const { out } = await runOn(columns, 'trouble', bare, ...APP);
      expect(out).toContain('What may have run twice');
      expect(out.split('\n').filter((line) => line.length > columns)).toEqual([]);
    },
  );
});

describe('the time of reprise cost', () => {
  it.each([
    [['--from', '2026-01-03', '--to', '2026-01-02'], 'the time ends before it begins'],
    [['--from', '2026-02-31'], 'Expected a day'],
    [['--to', '2026-04-31T09:00Z'], 'Expected a day'],
  ])('given the time %j, when the cost is asked, then it is refused', async (args, words) => {
    expect(await run('cost', bare, ...args)).toMatchObject({ code: 2, err: expect.stringContaining(words) });
  });

  it('given a time or a frame, when no model call has ended, then the words say in which time or up to which frame', async () => {
    const words = async (...args: string[]) => (await run('cost', bare, ...args)).out;
    expect(await words()).toBe(`${bare}: no model call has ended\n`);
    expect(await words('--from', '2024-02-29')).toBe(`${bare}: no model call has ended in this time\n`);
    expect(await words('--at', '1')).toBe(`${bare}: no model call has ended up to frame 1\n`);
  });
});
