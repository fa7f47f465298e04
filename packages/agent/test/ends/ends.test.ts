import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everyNth, stepOf } from '../../../../conformance/part.js';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import type { DefinitionPlan, Happening } from '../histories/happenings.js';
import { appOf, MUTANTS } from './mutants.js';
import { anyEndedHistory, playToEnd } from './play-ends.js';

const command = 'npx vitest run packages/agent/test/ends';

const PLAIN: DefinitionPlan = {
  ...{ afterAnswer: 'complete', onLimit: 'fail', loop: null, repair: false, grace: 500, small: 5, tokens: null },
  ...{ money: null, wall: null, depth: 0, children: 0, window: null, keep: null, denies: false },
};

describe('everything that a session accepted, in random histories', () => {
  it('all accepted requests, commands, inputs, runs, steers, calls and questions end once, and a close ends all of them [SES-4, SES-8, SES-11, SES-23, SES-26, SES-27]', async () => {
    const ended = new Set<string>();
    const kept = fc.asyncProperty(anyEndedHistory, async (history) => {
      const { counts } = await playToEnd(history);
      for (const what of counts.keys()) ended.add(what);
    });
    await hold(kept, { numRuns: 120 / stepOf(4), seed: SEED, command });
    for (const kind of ['request', 'command', 'input', 'run', 'call', 'result', 'question'])
      expect(ended).toContain(`${kind} accepted`);
  });

  it('no person is asked about a toolset that was being refreshed when the session was closed [SES-4]', async () => {
    const command = { step: 'command', who: 0, epoch: 'none' } as const;
    const happenings: readonly Happening[] = [
      { step: 'input', who: 0, priority: 0, again: false },
      { ...command, type: 'Resume' },
      { ...command, type: 'Close' },
      { step: 'answer', which: 0, again: false, calls: [], finish: null, returns: null, tokens: null, money: null },
    ];
    const { met, counts } = await playToEnd({ history: { definition: PLAIN, happenings }, toolset: true, asks: null });
    expect([met.get('ToolsetChanged'), counts.get('question accepted')]).toEqual([1, undefined]);
  });

  it.each(everyNth(4, Object.entries(MUTANTS)))(
    'mutant: the law finds the reducer in which %s [SES-11, SES-23, SES-26]',
    async (_what, mutant) => {
      const app = appOf(mutant);
      const broken = fc.asyncProperty(anyEndedHistory, async (history) => {
        await playToEnd(history, app);
      });
      await expect(hold(broken, { numRuns: 300, seed: SEED, command, shrink: false })).rejects.toThrow(
        /has no end|an end too many|which is not open|was not open|nobody asked for/,
      );
    },
  );
});
