/** The attempts of one call, against places that an adversary leads: it answers, sends elsewhere, fails and is silent at will. */
import { type ErrorCode, RepriseError } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tryEverywhere } from '../src/call.js';
import { askedElsewhere } from '../src/routes.js';
import { type Outcome, REASONS } from '../src/wire/outcome.js';

const output = Uint8Array.of(7);
const again = fc.constantFrom(...REASONS).map((reason): Outcome => ({ kind: 'again', reason }));
const elsewhere = fc
  .constantFrom('http://a', 'http://b', undefined)
  .map((address): Outcome => ({ kind: 'elsewhere', address }));
const without = fc.array(fc.oneof(again, elsewhere), { maxLength: 12 });

/** Plays outcomes one after the other; when there are no more, the time of the caller is over. */
async function play(outcomes: readonly Outcome[], known?: string) {
  const tried: (string | undefined)[] = [];
  let [atOnce, longest] = [0, 0];
  const over = new AbortController();
  const next = async (address: string | undefined): Promise<Outcome> => {
    longest = Math.max(longest, ++atOnce);
    const outcome = outcomes[tried.length];
    tried.push(address);
    if (outcome === undefined) over.abort();
    return outcome ?? { kind: 'again', reason: 'slow' };
  };
  const ended = await tryEverywhere(
    {
      known,
      found: () => undefined,
      here: () => next(undefined),
      there: (address) => next(address),
      pause: async () => {
        atOnce = 0;
      },
    },
    'a call',
    over.signal,
  ).catch((error: unknown) => error as RepriseError);
  return { tried, ended, longest };
}

describe('a call', () => {
  it('a call is tried until an attempt has an answer or an error, and ends with it [FLEET-4]', async () => {
    await fc.assert(
      fc.asyncProperty(without, fc.boolean(), async (outcomes, isAnswer) => {
        const error = new RepriseError('cell_absent', 'no cell');
        const last: Outcome = isAnswer ? { kind: 'answer', output } : { kind: 'error', error };
        const { tried, ended } = await play([...outcomes, last]);
        expect([tried.length, ended]).toEqual([outcomes.length + 1, isAnswer ? output : error]);
      }),
    );
  });

  it('a call whose time is over ends with call_unanswered and the reason of what was found last [FLEET-4]', async () => {
    await fc.assert(
      fc.asyncProperty(without, async (outcomes) => {
        const { ended } = await play(outcomes);
        const error = ended as RepriseError;
        expect(error.code).toBe('call_unanswered' satisfies ErrorCode);
        const found = outcomes.filter((one) => one.kind === 'again').at(-1);
        expect(error.details.reason).toBe(found?.reason ?? 'slow');
      }),
    );
  });

  it('an attempt goes to an address only when the attempt before named it: after all else the world is looked for again [FLEET-5]', async () => {
    await fc.assert(
      fc.asyncProperty(without, fc.constantFrom('http://a', undefined), async (outcomes, known) => {
        const { tried, longest } = await play(outcomes, known);
        tried.forEach((address, i) => {
          const before = outcomes[i - 1];
          expect(address).toBe(i === 0 ? known : before?.kind === 'elsewhere' ? before.address : undefined);
        });
        expect(longest).toBeLessThanOrEqual(5); // then it waits: two places that name each other are no storm
      }),
    );
  });

  it('a world that the app of a process refuses is asked for at each other living process in turn, and its error is shown when no other lives [FLEET-8]', () => {
    const error = new RepriseError('manifest_mismatch', 'another release');
    const refused = { kind: 'again', reason: 'wrong_release', error } as const;
    const host = (address: string, leaseMs = 1, leaving = false) => ({ address, leaseMs, leaving });
    const unfit = [host('http://own'), host('http://dead', 0), host('http://leaving', 1, true)];
    const hosts = [...unfit, host('http://a'), host('http://b')];
    const isOther = (address: string): boolean => address !== 'http://own';
    const asked = [0, 1, 2].map((turn) => askedElsewhere(refused, { hosts, isOther, turn }));
    expect(asked).toEqual(['http://a', 'http://b', 'http://a'].map((address) => ({ kind: 'elsewhere', address })));
    expect(askedElsewhere(refused, { hosts: unfit, isOther, turn: 0 })).toEqual({ kind: 'error', error });
  });
});
