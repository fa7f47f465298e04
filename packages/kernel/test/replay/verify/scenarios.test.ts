/**
 * Scenarios of the conformance suite, replayed from the state after every frame: all come to the same head and the same
 * root. All scenarios on every protocol: `scripts/long/scenarios.ts`.
 */
import { agentApp } from '@reprise/agent';
import { describe, expect, it } from 'vitest';
import { freshOf, SAMPLED, titled } from '../../../../../conformance/modes/cases.js';
import { spread } from '../../../../../conformance/part.js';
import { holdReplay } from './replay-law.js';

describe('a world of agents', () => {
  it.each(titled(spread(3, SAMPLED)))(
    '%s comes to one root, from whichever frame it is replayed [RPL-9]',
    async (_, one) => {
      const { store } = await freshOf(one);
      const { frames } = await holdReplay(await store.openReadonly(), { app: agentApp });
      expect(frames).toBeGreaterThan(2);
    },
  );
});
