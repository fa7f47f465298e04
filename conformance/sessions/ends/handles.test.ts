import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hold, SEED } from '../../../packages/kernel/test/laws/hold.js';
import { quickMemory } from '../../quick-memory.js';
import { anyHostHistory, playHost } from './play-handles.js';

const command = 'npx vitest run conformance/sessions/ends';

describe('every handle of a run, in random histories of a host whose processes die', () => {
  it('settles with one end, taken again after a restart as well, and a close ends the session [SES-4, SES-11, SES-26, SES-27]', async () => {
    let handles = 0;
    const kept = fc.asyncProperty(anyHostHistory, async (history) => {
      handles += (await playHost(history, quickMemory())).handles;
    });
    await hold(kept, { numRuns: 15, seed: SEED, command });
    expect(handles).toBeGreaterThan(50);
  }, 240_000);
});
