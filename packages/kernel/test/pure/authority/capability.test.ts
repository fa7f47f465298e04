import { type Capability, capability, DIMENSIONS_MAX, PATTERNS_MAX, type Rights, rights } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import {
  canonical,
  capabilityFits,
  EVERYTHING,
  effectiveExercise,
  effectiveGrant,
  firstExcess,
  isExpired,
  leq,
  meet,
  NOTHING,
  normalise,
  permits,
} from '../../../src/pure/authority/index.js';
import { check, compileSchema } from '../../../src/pure/schema/index.js';
import { assertProperty, SEED, vitestCommand } from '../codec/seed.js';
import { anyCapability, anyTree, judgeLattice, judgeTree, type Lattice, OURS } from './capabilities.js';

const command = vitestCommand('packages/kernel/test/pure/authority/capability.test.ts');
const RUNS = 2_000;

function lattices(lattice: Lattice): fc.IProperty<unknown> {
  return fc.property(anyCapability, anyCapability, anyCapability, (a, b, c) => judgeLattice(lattice, a, b, c));
}

function trees(lattice: Lattice): fc.IProperty<unknown> {
  return fc.property(anyTree, (tree) => {
    judgeTree(lattice, tree);
  });
}

describe(`capabilities (seed ${SEED})`, () => {
  it('capabilities meet and compare as the sets that they describe [GATE-1, GATE-3]', () => {
    assertProperty(lattices(OURS), { numRuns: RUNS / stepOf(4), command });
  });

  it('a chain of capabilities permits what the whole chain leaves, and a revocation or a hold takes effect everywhere below at once [GATE-4, GATE-33]', () => {
    assertProperty(trees(OURS), { numRuns: RUNS / stepOf(4), command });
  });
});

describe('the capability that permits nothing', () => {
  it.each(['effect', 'send', 'settle', 'read'])('the empty capability permits no %s', (dimension) => {
    expect(permits(NOTHING, dimension, 'anything')).toBe(false);
    expect(permits(EVERYTHING, dimension, 'anything')).toBe(true);
  });

  it('the empty capability is within every other, and its meet with any other permits nothing more', () => {
    const one: Capability = { may: { effect: ['a*'], send: ['*'] }, max_parallel: 2 };
    expect(leq(NOTHING, { may: one.may })).toBe(true);
    expect(permits(meet(one, NOTHING), 'effect', 'a')).toBe(false);
  });
});

/** An exercise and a grant computed once for each holder and kept: what comes of copying rights. */
function copying(): Pick<Lattice, 'effectiveGrant'> {
  const copies = new WeakMap<Rights, Capability>();
  const effective = (chain: readonly Rights[], root?: Capability): Capability => {
    const own = chain[0] as Rights;
    const copy = copies.get(own) ?? effectiveGrant(chain, root);
    copies.set(own, copy);
    return copy;
  };
  return { effectiveGrant: effective };
}

describe('the laws', () => {
  const without = <K extends keyof Capability>(key: K, { ...all }: Capability): Capability => {
    delete (all as Partial<Capability>)[key];
    return all as Capability;
  };
  const joined = (a: Capability, b: Capability): Capability => {
    const both = meet(a, b);
    const names = Object.keys(both.may);
    const may = names.map((name) => [name, normalise([...(a.may[name] ?? []), ...(b.may[name] ?? [])])]);
    return { ...both, may: Object.fromEntries(may) };
  };
  const latticeMutants: readonly (readonly [string, Partial<Lattice>])[] = [
    ['joins instead of meeting', { meet: joined }],
    ['meets instead of joining', { join: meet }],
    ['forgets how many at once', { meet: (a, b) => without('max_parallel', meet(a, b)) }],
    [
      'lets the later end hold',
      { meet: (a, b) => ({ ...meet(a, b), expires_at: Math.max(a.expires_at ?? 9, b.expires_at ?? 9) }) },
    ],
    [
      'takes what is absent for nothing',
      { permits: (a, name, text) => Object.hasOwn(a.may, name) && permits(a, name, text) },
    ],
    ['answers with what objects inherit', { permits: (a, name, text) => name in a.may && permits(a, name, text) }],
    [
      'compares the dimensions of the child alone',
      {
        leq: (a, b) =>
          leq(a, {
            ...b,
            may: Object.fromEntries(Object.entries(b.may).filter(([name]) => Object.hasOwn(a.may, name))),
          }),
      },
    ],
    ['compares no numbers', { leq: (a, b) => leq({ may: a.may }, { may: b.may }) }],
    [
      'keeps a dimension that is everything',
      {
        canonical: (a) => ({
          ...canonical(a),
          may: {
            ...canonical(a).may,
            ...Object.fromEntries(Object.entries(a.may).filter(([, list]) => list.includes('*'))),
          },
        }),
      },
    ],
    ['takes lists as they are written', { canonical: (a) => a }],
    ['lets a capability hold in the moment of its end', { isExpired: (a, at) => isExpired(a, at - 1) }],
  ];

  it.each(latticeMutants)('mutant: the laws find a lattice that %s', (_, mutant) => {
    expect(() => assertProperty(lattices({ ...OURS, ...mutant }), { numRuns: RUNS, command })).toThrow();
  });

  const treeMutants: readonly (readonly [string, () => Partial<Lattice>])[] = [
    [
      'asks the parent and nobody above it',
      () => ({ effectiveGrant: (chain, root) => effectiveGrant(chain.slice(0, 2), root) }),
    ],
    ['forgets what the root was given', () => ({ effectiveGrant: (chain) => effectiveGrant(chain) })],
    ['exercises what it may hand on', () => ({ effectiveExercise: (chain, root) => effectiveGrant(chain, root) })],
    [
      'exercises what its parent may do',
      () => ({
        effectiveExercise: (chain, root) =>
          effectiveExercise(
            chain.map(({ exercise }) => ({ exercise })),
            root,
          ),
      }),
    ],
    [
      'trusts its own rights alone',
      () => ({ effectiveExercise: ([own], root) => meet(own?.exercise ?? EVERYTHING, root ?? EVERYTHING) }),
    ],
    ['copies rights when they are granted', copying],
    [
      'meets no hold of those above',
      () => ({
        effectiveExercise: ([own, ...above], root) =>
          effectiveExercise(
            [...(own === undefined ? [] : [own]), ...above.map(({ hold: _, ...sides }) => sides)],
            root,
          ),
      }),
    ],
    [
      'meets a hold with what a holder does and not with what it hands on',
      () => ({
        effectiveGrant: (chain, root) =>
          effectiveGrant(
            chain.map(({ hold: _, ...sides }) => sides),
            root,
          ),
      }),
    ],
  ];

  it.each(treeMutants)('mutant: the laws find a chain that %s', (_, mutant) => {
    expect(() => assertProperty(trees({ ...OURS, ...mutant() }), { numRuns: RUNS, command })).toThrow();
  });
});

describe('a capability', () => {
  const parent: Capability = { may: { effect: ['llm.*', 'fs.read@1'], tool: [] }, expires_at: 1_000, max_parallel: 2 };

  it.each<[string, Capability, object | undefined]>([
    ['lies in itself', parent, undefined],
    ['may narrow what the parent leaves open', { ...parent, may: { ...parent.may, send: ['shop/*'] } }, undefined],
    [
      'may not leave open what the parent narrows',
      { ...parent, may: { tool: [] } },
      { where: 'may.effect', expected: ['llm.*', 'fs.read@1'], actual: '*' },
    ],
    [
      'names the first pattern that goes beyond',
      { ...parent, may: { effect: ['llm.x', 'fs.*', 'net.*'], tool: [] } },
      { where: 'may.effect', expected: ['llm.*', 'fs.read@1'], actual: 'fs.*' },
    ],
    [
      'gives nothing where the parent has nothing',
      { ...parent, may: { effect: [], tool: ['a'] } },
      { where: 'may.tool', expected: [], actual: 'a' },
    ],
    ['ends no later', { ...parent, expires_at: 1_001 }, { where: 'expires_at', expected: 1_000, actual: 1_001 }],
    [
      'ends when the parent does',
      { may: parent.may, max_parallel: 2 },
      { where: 'expires_at', expected: 1_000, actual: null },
    ],
    ['has no more at once', { ...parent, max_parallel: 3 }, { where: 'max_parallel', expected: 2, actual: 3 }],
  ])('%s [GATE-1]', (_, child, excess) => {
    expect(firstExcess(child, parent)).toEqual(excess);
    expect(leq(child, parent)).toBe(excess === undefined);
  });

  it('the capability of an unknown holder is that of the root', () => {
    const root = { may: { effect: ['b', 'a', 'a'] } };
    expect(effectiveExercise([], root)).toEqual({ may: { effect: ['a', 'b'] } });
    expect(effectiveGrant([])).toEqual(EVERYTHING);
  });

  it('a coordinator can pass on a tool that it cannot call itself', () => {
    const coordinator: Rights = { exercise: { may: { tool: [] } }, grant: { may: { tool: ['web.*'] } } };
    const worker: Rights = { exercise: { may: { tool: ['*'] } } };
    expect(effectiveExercise([coordinator])).toEqual({ may: { tool: [] } });
    expect(effectiveExercise([worker, coordinator])).toEqual({ may: { tool: ['web.*'] } });
  });

  it('the meet of two capabilities has at most as many patterns as both together', () => {
    const numbered = (name: string) => Array.from({ length: PATTERNS_MAX - 1 }, (_, i) => `${name}${i}`);
    const [a, b] = [{ may: { tool: ['p*', ...numbered('q')] } }, { may: { tool: ['q*', ...numbered('p')] } }];
    expect(meet(a, b).may.tool).toHaveLength(2 * (PATTERNS_MAX - 1));
  });

  it('a capability narrows the largest number of dimensions and not one more', () => {
    const narrowing = (count: number) => ({
      may: Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i}`, []])),
    });
    expect(capabilityFits(narrowing(DIMENSIONS_MAX))).toBe(true);
    expect(capabilityFits(narrowing(DIMENSIONS_MAX + 1))).toBe(false);
  });
});

describe('the schema of rights', () => {
  const node = compileSchema(rights);
  const accepts = (exercise: unknown) => check(node, { exercise } as never).ok;

  it('the schema of rights accepts journaled data', () => {
    expect(compileSchema(capability).type).toBe('object');
    expect(accepts({ may: { effect: ['llm.*'], 'group.x': [] }, expires_at: 0, max_parallel: 1 })).toBe(true);
    expect(check(node, { exercise: { may: {} }, grant: { may: {} } }).ok).toBe(true);
  });

  it.each<[string, unknown]>([
    ['a star in the middle', { may: { effect: ['a*b'] } }],
    ['an empty pattern', { may: { effect: [''] } }],
    ['a space', { may: { effect: ['a b'] } }],
    ['a dimension in capitals', { may: { Effect: [] } }],
    ['a dimension of a long name', { may: { ['d'.repeat(33)]: [] } }],
    ['too many patterns', { may: { effect: Array.from({ length: PATTERNS_MAX + 1 }, (_, i) => `t${i}`) } }],
    ['a fraction of a time', { may: {}, expires_at: 0.5 }],
    ['none at once', { may: {}, max_parallel: 0 }],
    ['another key', { may: {}, also: 1 }],
    ['no dimensions at all', {}],
  ])('the schema of rights refuses %s', (_, given) => {
    expect(accepts(given)).toBe(false);
  });

  it('the schema of rights accepts a list with the largest number of patterns', () => {
    expect(accepts({ may: { effect: Array.from({ length: PATTERNS_MAX }, (_, i) => `t${i}`) } })).toBe(true);
  });
});
