import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anySchedule } from '../../../../testkit/src/arbitraries/index.js';
import type { ViewStore } from '../../../src/serve/views/index.js';
import { hold, SEED } from '../../support/laws/hold.js';
import { type HeldViews, holdViews } from './view-laws.js';

const COMMAND = 'npx vitest run packages/kernel/test/serve/views/view-laws.test.ts';

describe(`views (seed ${SEED})`, () => {
  it('random worlds: views of processes that die at commits equal the views of one process [VIEW-1]', async () => {
    const held: HeldViews[] = [];
    const law = fc.asyncProperty(anySchedule({ stepsMax: 18 }), async (schedule) => {
      held.push(await holdViews(schedule));
    });
    await hold(law, { numRuns: 40, command: COMMAND });
    const sum = (of: (views: HeldViews) => number) => held.reduce((total, views) => total + of(views), 0);
    expect(sum(({ frames }) => frames)).toBeGreaterThan(250);
    expect(sum(({ crashes }) => crashes)).toBeGreaterThan(120);
  });
});

describe('a mutant of a view store is found', () => {
  const mutants: Record<string, (inner: ViewStore) => ViewStore> = {
    'that writes the mark before the entries, and dies between': (inner) => ({
      ...inner,
      open: async () => {
        const open = await inner.open();
        return {
          ...open,
          commit: (commits) => open.commit(commits.map((commit) => ({ ...commit, changes: commit.changes.slice(1) }))),
        };
      },
    }),
    'that writes the entries before the mark, and dies between': (inner) => ({
      ...inner,
      open: async () => {
        const open = await inner.open();
        return {
          ...open,
          commit: async (commits) =>
            open.commit(commits.map((one) => ({ ...one, mark: one.expected ?? { ...one.mark, seq: -1 } }))),
        };
      },
    }),
    'that says it is a frame behind what it holds': (inner) => ({
      ...inner,
      open: async () => {
        const open = await inner.open();
        return {
          ...open,
          mark: async (view) => {
            const mark = await open.mark(view);
            return mark && { ...mark, seq: mark.seq - 1 };
          },
          commit: (commits) =>
            open.commit(commits.map((one) => ({ ...one, clear: false, expected: undefined as never }))),
        };
      },
    }),
  };

  it.each(Object.keys(mutants))('mutant: the law finds a view store %s [VIEW-1]', async (name) => {
    const law = fc.asyncProperty(anySchedule({ stepsMax: 12 }), async (schedule) => {
      const mutant = mutants[name];
      await holdViews(schedule, mutant === undefined ? {} : { store: mutant });
    });
    await expect(hold(law, { numRuns: 60, shrink: false, command: '' })).rejects.toThrow(/differ|stale_head/);
  });
});
