/** Waits for a tree whose cell fails: each ends, whether it began before or after the fault. */
import { isRepriseError } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { complete, forest } from './forest.js';

/** Trees with `broken` in their name fail when a run of a node ends. */
const isDefect = ({ name, value }: { readonly name: string; readonly value: unknown }, tree: string) => {
  const { news } = value as { readonly news?: { readonly kind: string } };
  return tree.includes('broken') && name === 'aos.agent/ChildNotice@1' && news?.kind === 'settled';
};

const outcome = (asked: Promise<unknown>) =>
  asked.then(
    (value) => value,
    (error: unknown) => {
      if (!isRepriseError(error)) throw error;
      return { code: error.code, where: error.details.where, fault: error.details.fault };
    },
  );

const FAILED = { code: 'cell_failed', where: 'tree/Tree@1/broken', fault: 'threw' };

describe('a tree whose cell fails', () => {
  it('a failed tree ends result() and events(), at the fault and after it, is listed as trouble, and is whole when it is revived [RED-39]', async () => {
    await forest(
      () => complete('Done.'),
      async ({ world, trees }) => {
        const tree = await trees.start('broken', { goal: 'Fail.' });
        expect(await outcome(tree.result())).toEqual(FAILED);
        expect(await outcome(tree.result())).toEqual(FAILED);
        const all = async () => {
          for await (const _ of tree.events());
        };
        expect(await outcome(all())).toEqual(FAILED);
        expect(await outcome(tree.waits())).toEqual(FAILED);
        expect(await outcome(tree.stop(1))).toMatchObject({ code: 'cell_failed' });
        expect(await world.trouble()).toMatchObject([{ where: tree.address, code: 'threw' }]);
        await tree.revive();
        expect(await world.trouble()).toEqual([]);
        expect(await tree.stop(1)).toMatchObject({ status: 'accepted' });
        expect(await tree.result()).toMatchObject({ status: 'cancelled' });
      },
      { isDefect },
    );
  });
});
