/** Random conversations over AG-UI. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import { anyHistory } from './support/histories.js';
import { Stage } from './support/law.js';
import { agUiWorld } from './support/world.js';

const RUNS = Number(process.env.RUNS ?? Math.ceil(1_000 / stepOf(40)));
const command = 'npx vitest run packages/server/test/agui/streams.test.ts';

describe('streams of AG-UI', () => {
  it(`the streams of ${RUNS} random conversations, cut anywhere, are valid, and clients have the transcript in the end (seed ${SEED}) [SRV-41, SRV-42, SRV-43]`, async () => {
    const stage = new Stage();
    await using served = await agUiWorld({ model: stage.model });
    let streams = 0;
    const kept = fc.asyncProperty(anyHistory, async (history) => {
      streams += await stage.hold(served, history);
    });
    await hold(kept, { numRuns: RUNS, seed: SEED, command });
    expect(streams).toBeGreaterThan(RUNS);
    expect(served.errors).toEqual([]);
  });
});
