import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import { anyConversation } from './histories.js';
import { holdPages, PAGES, type Pages } from './pages-law.js';

const command = 'npx vitest run packages/ui/test/law';

/** Pages that look right and are not. */
const MUTANTS: Readonly<Record<string, Partial<Pages>>> = {
  'it shows parts that are superseded': { visible: ({ parts }) => parts },
  'it does not hand decisions on': { handsOn: false },
  'it keeps chunks behind the last event': { kept: (lines, place) => lines.slice(0, place + 2) },
  'it drops the last chunk that it has': { kept: (lines, place) => lines.slice(0, place) },
};

describe('chat pages', () => {
  it(`pages that reconnect at any time have what a page has that stayed, to the byte, valid for the AI SDK (seed ${SEED}) [EVT-3, EVT-7]`, async () => {
    const kept = fc.asyncProperty(anyConversation, async (conversation) => {
      await holdPages(conversation);
    });
    await hold(kept, { numRuns: Number(process.env.RUNS ?? 40 / stepOf(2)), seed: SEED, command });
  });

  for (const [what, mutant] of Object.entries(MUTANTS)) {
    it(`the law of pages detects a wrong page: ${what}`, async () => {
      const kept = fc.asyncProperty(anyConversation, async (conversation) => {
        await holdPages(conversation, { ...PAGES, ...mutant });
      });
      await expect(hold(kept, { numRuns: 200, seed: SEED, command, shrink: false })).rejects.toThrow(
        /differs|not valid/,
      );
    });
  }
});
