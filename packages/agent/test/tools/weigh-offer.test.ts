/** What an offer of a toolset comes to, over random histories of offers. */
import { Ref } from '@reprise/contracts';
import { encode, portableSha256, toHex } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { DRIFT_POLICIES, type KnownTool, type ToolEntry, toolEntryOf, weighOffer } from '../../src/index.js';

const NAMES = ['a', 'b', 'c'];

function entryOf(name: string, says: number, terms: 'theirs' | 'mine'): ToolEntry {
  const descriptor_ref = Ref.fromHex(toHex(portableSha256(encode([name, says]))), 'value');
  return toolEntryOf({
    name,
    description: `version ${says}`,
    schema: {},
    kind: 'tool',
    guarantee: terms === 'theirs' ? 'at_most_once' : 'idempotent',
    family: 'default',
    parallel: true,
    polling: false,
    on_unknown: 'tell_model',
    origin: {
      toolset: 't',
      tool: name,
      descriptor_ref,
      hints: { read_only: false, destructive: false, idempotent: false, open_world: false },
    },
  });
}

const anyOffer = fc.dictionary(fc.constantFrom(...NAMES), fc.nat({ max: 2 }));
const anyPolicy = fc.constantFrom(...DRIFT_POLICIES);
const anyHistory = fc.record({
  policy: fc.record({ on_changed: anyPolicy, on_added: anyPolicy }),
  rounds: fc.array(fc.record({ offer: anyOffer, approves: fc.boolean() }), { minLength: 1, maxLength: 8 }),
});

describe('an offer', () => {
  it('a model is shown no tool that neither its policy, a person nor the first look accepted (seed 11) [TOOL-24]', () => {
    fc.assert(
      fc.property(anyHistory, ({ policy, rounds }) => {
        const let_in = new Map<string, number>();
        const refused = new Set<string>();
        let adopted: readonly ToolEntry[] | null = null;
        let known: readonly KnownTool[] = [];
        for (const { offer, approves } of rounds) {
          const entries = NAMES.filter((name) => name in offer).map((name) =>
            entryOf(name, offer[name] ?? 0, 'theirs'),
          );
          const weighed = weighOffer(entries, { adopted, known }, policy);
          const asks: string[] = [];
          const told = entries.filter(({ name }) => {
            const says = offer[name] ?? 0;
            if (let_in.get(name) === says) return true;
            const said = adopted === null ? 'accept' : let_in.has(name) ? policy.on_changed : policy.on_added;
            if (said === 'ask' && !refused.has(`${name}${says}`)) asks.push(name);
            return said === 'accept';
          });
          expect(weighed.tools.map(({ name }) => name)).toEqual(told.map(({ name }) => name));
          expect(weighed.ask === undefined).toBe(asks.length === 0);
          for (const { name } of told) {
            let_in.set(name, offer[name] ?? 0);
            for (const says of [0, 1, 2]) refused.delete(`${name}${says}`);
          }
          const taken = weighed.ask !== undefined && approves ? weighed.ask.approved : weighed;
          adopted = taken.tools;
          known = weighed.ask !== undefined && !approves ? weighed.ask.refused : taken.known;
          for (const name of asks) {
            const says = offer[name] ?? 0;
            for (const other of [0, 1, 2]) refused.delete(`${name}${other}`);
            if (approves) let_in.set(name, says);
            else refused.add(`${name}${says}`);
          }
        }
      }),
      { seed: 11, numRuns: 1_000 / stepOf(4) },
    );
  });

  it('an offer with other terms of the author is the same offer', () => {
    const before = weighOffer([entryOf('a', 0, 'theirs')], { adopted: null, known: [] }, DENY);
    const after = weighOffer([entryOf('a', 0, 'mine')], { adopted: before.tools, known: before.known }, DENY);
    expect(after.tools).toEqual([entryOf('a', 0, 'mine')]);
    expect(after.diff).toEqual({ added: [], removed: [], changed: [], withheld: [] });
  });

  it('removed tools stay remembered up to a bound, behind the offered ones', () => {
    const names = Array.from({ length: 3_000 }, (_, n) => `t${String(n).padStart(4, '0')}`);
    const entries = (from: number) => names.slice(from, from + 500).map((name) => entryOf(name, 0, 'theirs'));
    let known: readonly KnownTool[] = [];
    for (let from = 0; from < 3_000; from += 500) {
      known = weighOffer(entries(from), { adopted: [], known }, { on_changed: 'deny', on_added: 'accept' }).known;
    }
    expect(known).toHaveLength(2_048);
    expect(known.filter(({ name }) => name >= 't2500')).toHaveLength(500);
  });
});

const DENY = { on_changed: 'deny', on_added: 'deny' } as const;
