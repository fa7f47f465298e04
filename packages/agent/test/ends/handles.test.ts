import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everyNth, stepOf } from '../../../../conformance/part.js';
import { quickMemory } from '../../../../conformance/quick-memory.js';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import type { Run } from '../../src/index.js';
import { anyHostHistory, playHost } from './play-handles.js';

const command = 'npx vitest run packages/agent/test/ends';

const never = () => new Promise<never>(() => undefined);
let asked = 0;

/** What `result()` of a handle does, by what is wrong with it. */
const MUTANTS: Readonly<Record<string, (run: Run) => Run['result']>> = {
  'never settles where its input was dropped': (run) => async () => {
    const outcome = await run.result();
    return outcome.stop.kind === 'Cancelled' && outcome.stop.dropped !== undefined ? never() : outcome;
  },
  'tells another end when it is taken again': (run) => async () => {
    const outcome = await run.result();
    return asked++ % 2 === 0 ? outcome : { ...outcome, stop: { kind: 'Completed' } };
  },
};

function methodsOf(run: Run): Pick<Run, 'text' | 'events' | 'stream'> {
  return { text: () => run.text(), events: (options) => run.events(options), stream: (options) => run.stream(options) };
}

describe('every handle of a run, in random histories of a host whose processes die', () => {
  it('every handle of a run settles with one end, also when taken again after a restart, and a close ends the session [SES-4, SES-11, SES-26, SES-27]', async () => {
    let handles = 0;
    const kept = fc.asyncProperty(anyHostHistory, async (history) => {
      handles += (await playHost(history, quickMemory())).handles;
    });
    await hold(kept, { numRuns: 15 / stepOf(3), seed: SEED, command });
    expect(handles).toBeGreaterThan(50);
  });

  it.each(everyNth(4, Object.entries(MUTANTS)))(
    'mutant: the law finds the handle that %s [SES-26]',
    async (_what, result) => {
      const handleOf = (run: Run): Run => Object.assign(Object.create(run), { ...methodsOf(run), result: result(run) });
      const broken = fc.asyncProperty(anyHostHistory, async (history) => {
        await playHost(history, quickMemory(), handleOf);
      });
      await expect(hold(broken, { numRuns: 60, seed: SEED, command, shrink: false })).rejects.toThrow(
        /has not settled|and as/,
      );
    },
  );
});
