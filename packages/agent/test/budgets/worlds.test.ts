import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sqlite } from '@reprise/store-sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quickMemory } from '../../../../conformance/quick-memory.js';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import { appOf, CUT_MUTANTS, MUTANTS } from './mutants.js';
import { anyTree } from './play-tree.js';
import { playWorlds } from './play-worlds.js';

const command = 'npx vitest run packages/agent/test/budgets/worlds.test.ts';

/** The mutants that are looked for here: the others take no part in what stores, crashes and forks add. */
const PLANTED = {
  ...CUT_MUTANTS,
  ...Object.fromEntries(
    [
      'what is set aside does not count for the run itself',
      'a call of which nobody told what it used counts nothing',
    ].map((name) => [name, MUTANTS[name] ?? {}]),
  ),
};

describe('budgets, in random trees of sessions on real stores whose processes die and whose worlds are forked', () => {
  it('budgets hold at every model call, in the original and in its forks, in memory and in SQLite files [CHILD-10, LIM-11, LIM-12, LIM-14]', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'reprise-budgets-'));
    const sum = { asks: 0, forks: 0, crashes: 0 };
    let files = 0;
    let trees = 0;
    const kept = fc.asyncProperty(anyTree, async (tree) => {
      const onDisk = trees++ % 4 === 3;
      const store = () => (onDisk ? sqlite(path.join(folder, `${files++}.world`)) : quickMemory());
      const { asks, worlds, crashes } = await playWorlds(tree, { store, verify: trees % 8 === 0 });
      sum.asks += asks;
      sum.forks += worlds - 1;
      sum.crashes += crashes;
    });
    try {
      await hold(kept, { numRuns: 16, seed: SEED, command });
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect([sum.asks > 80, sum.forks > 8, sum.crashes > 8]).toEqual([true, true, true]);
  });

  it.each(Object.entries(PLANTED))(
    'mutant: the law finds the reducer in which %s [CHILD-10]',
    async (_what, mutant) => {
      const app = appOf(mutant);
      const broken = fc.asyncProperty(anyTree, async (tree) => {
        await playWorlds(tree, { store: quickMemory, app });
      });
      await expect(hold(broken, { numRuns: 400, seed: SEED, command, shrink: false })).rejects.toThrow(/ of \d+ when /);
    },
  );
});
