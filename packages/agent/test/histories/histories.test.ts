import fc from 'fast-check';
import { describe, it } from 'vitest';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import { anyHistory } from './happenings.js';
import { playHistory } from './play-history.js';

const command = 'npx vitest run packages/agent/test/histories';

describe('sessions, in random histories', () => {
  it('sessions in random histories satisfy every promise that their journal can show, and replay to the same bytes [SES-23, SES-25]', async () => {
    const kept = fc.asyncProperty(anyHistory, async (history) => {
      await playHistory(history, true);
    });
    await hold(kept, { numRuns: 150, seed: SEED, command });
  });
});
