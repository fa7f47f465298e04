import fc from 'fast-check';
import { produce } from 'immer';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { anySchedule, PROGRAM_CELLS } from '../../../../testkit/src/arbitraries/index.js';
import { reduce } from '../../../src/pure/reduce/index.js';
import { hold, rerun, SEED } from '../../support/laws/hold.js';
import { holdReduce } from './reduce-law.js';

/** No crash, no second fold: the spy sees each delivery once. */
const schedules = anySchedule({ breaks: false, stepsMax: 12 });

describe(`reduce() on immer (seed ${SEED})`, () => {
  it('reduce() returns the engine’s bytes at every delivery of random programs [RED-2]', async () => {
    const seen = { deliveries: 0, dropped: 0 };
    const law = fc.asyncProperty(schedules, async (schedule) => {
      const spied = await holdReduce(schedule);
      seen.deliveries += spied.deliveries();
      seen.dropped += spied.dropped();
    });
    await hold(law, { numRuns: 120 / stepOf(2), command: rerun('reduce.test.ts') });
    expect(seen.deliveries).toBeGreaterThan(500 / stepOf(2));
    expect(seen.dropped).toBeGreaterThan(20);
  });

  const write = (ops: object[], payload: unknown = null) => ({
    step: 'request',
    to: PROGRAM_CELLS[0],
    creates: true,
    ops,
    payload,
  });
  const set = (at: string[], value: unknown) => ({ do: 'set', at, value });
  const look = { do: 'look' };

  it.each<[string, object[]]>([
    [
      'keys added in odd orders',
      [write([{ do: 'keys', at: ['zz'], keys: ['zz', '10', '9', 'a'] }, look]), write([look])],
    ],
    [
      'one map under two names, then written',
      [
        write([set(['a'], { n: 1 }), { do: 'alias', from: ['a'], at: ['b'] }, look]),
        write([{ do: 'touch', at: ['a'], value: 1 }, look]),
      ],
    ],
    [
      'a payload that is stored and then written',
      [write([{ do: 'keep', at: ['a'] }, { do: 'spoil', value: 1 }, look], { p: {} })],
    ],
    ['−0 and undefined', [write([{ do: 'minus_zero', at: ['a'] }, { do: 'blank', at: ['b'] }, look]), write([look])]],
    [
      'a throw half-way',
      [write([set(['a'], 1)]), write([set(['a'], 2), { do: 'throw', what: 'error' }]), write([look])],
    ],
    ['a throw that is swallowed', [write([{ do: 'try', ops: [set(['a'], 2), { do: 'throw', what: 'text' }] }, look])]],
    ['a key with a default that is deleted', [write([{ do: 'unmark' }, look]), write([look])]],
  ])('the traces it is for: %s [RED-1]', async (_, schedule) => {
    const spied = await holdReduce(schedule as never);
    expect(spied.deliveries()).toBe(schedule.length);
  });

  it.each<[string, typeof reduce]>([
    [
      'keeps what a faulted recipe wrote',
      (reducer, state, event, ctx) => {
        let last: unknown = state;
        try {
          return reduce(reducer, state, event, ctx);
        } catch {
          try {
            produce(state as object, (draft) => {
              last = draft;
              try {
                reducer.reduce(draft, event, ctx);
              } catch {}
              last = JSON.parse(JSON.stringify(draft));
            });
          } catch {}
          return { state: last as never, patches: [] };
        }
      },
    ],
    [
      'leaves keys in the order in which they were written',
      (reducer, state, event, ctx) => {
        const next = produce(
          state ?? (reducer.init('a', event) as object),
          (draft) => void reducer.reduce(draft, event, ctx),
        );
        return { state: next as never, patches: [] };
      },
    ],
  ])('a mutant that %s is found', async (_, mutant) => {
    const find = hold(
      fc.asyncProperty(schedules, async (schedule) => void (await holdReduce(schedule, mutant))),
      {
        numRuns: 200,
        command: '',
        shrink: false,
      },
    );
    await expect(find).rejects.toThrow(/the engine has|ends otherwise/);
  });
});
