/** Capabilities of few texts, what they mean as sets, and the laws that every lattice of them keeps. */
import type { Capability, Patterns, Rights } from '@reprise/contracts';
import fc from 'fast-check';
import * as authority from '../../../src/pure/authority/index.js';
import { encode, toHex } from '../../../src/pure/codec/index.js';
import { must } from './must.js';
import { Meaning, patternsOf, textsOf } from './texts.js';

/** The functions that the laws judge; a mutant replaces some. */
export interface Lattice {
  readonly canonical: (capability: Capability) => Capability;
  readonly meet: (a: Capability, b: Capability) => Capability;
  readonly join: (a: Capability, b: Capability) => Capability;
  readonly leq: (a: Capability, b: Capability) => boolean;
  readonly permits: (capability: Capability, dimension: string, text: string) => boolean;
  readonly isExpired: (capability: Capability, at: number) => boolean;
  readonly effectiveGrant: (chain: readonly authority.HeldRights[], root?: Capability) => Capability;
  readonly effectiveExercise: (chain: readonly authority.HeldRights[], root?: Capability) => Capability;
}

/** The lattice of the kernel. */
export const OURS: Lattice = authority;

/** A name that every object inherits is a dimension like any other; the last one is narrowed by nobody. */
const DIMENSIONS = ['effect', 'send', 'constructor', 'settle'] as const;
const LETTERS = ['!', 'a'] as const;
const TIMES = [0, 1, 2, 3] as const;
const meaning = new Meaning(textsOf([...LETTERS, ' '], 3));

const patterns = fc.array(fc.constantFrom('*', ...patternsOf(LETTERS, 2)), { maxLength: 4 });
const small = fc.constantFrom(1, 2, 3);

/** A capability over few dimensions and texts, written in any order, with repetitions. */
export const anyCapability: fc.Arbitrary<Capability> = fc.record(
  {
    may: fc.record(
      { effect: patterns, send: patterns, constructor: patterns } satisfies Partial<
        Record<(typeof DIMENSIONS)[number], fc.Arbitrary<Patterns>>
      >,
      { requiredKeys: [] },
    ),
    expires_at: small,
    max_parallel: small,
  },
  { requiredKeys: ['may'] },
) as fc.Arbitrary<Capability>;

const anyRights: fc.Arbitrary<Rights> = fc.record(
  { exercise: anyCapability, grant: anyCapability },
  { requiredKeys: ['exercise'] },
) as fc.Arbitrary<Rights>;

/** What a capability means: a set of texts for each dimension, and the two numbers. */
interface Extent {
  readonly sets: readonly bigint[];
  readonly expires: number;
  readonly parallel: number;
}

function extentOf({ may, expires_at, max_parallel }: Capability): Extent {
  const own = new Map(Object.entries(may));
  const sets = DIMENSIONS.map((name) => (own.has(name) ? meaning.of(own.get(name) as Patterns) : meaning.everything));
  return { sets, expires: expires_at ?? Number.POSITIVE_INFINITY, parallel: max_parallel ?? Number.POSITIVE_INFINITY };
}

function both(a: Extent, b: Extent): Extent {
  const sets = a.sets.map((set, i) => set & (b.sets[i] as bigint));
  return { sets, expires: Math.min(a.expires, b.expires), parallel: Math.min(a.parallel, b.parallel) };
}

function either(a: Extent, b: Extent): Extent {
  const sets = a.sets.map((set, i) => set | (b.sets[i] as bigint));
  return { sets, expires: Math.max(a.expires, b.expires), parallel: Math.max(a.parallel, b.parallel) };
}

function same(a: Extent, b: Extent): boolean {
  return a.expires === b.expires && a.parallel === b.parallel && a.sets.every((set, i) => set === b.sets[i]);
}

function inside(a: Extent, b: Extent): boolean {
  return same(a, both(a, b));
}

const bytes = (capability: Capability): string => toHex(encode(capability));
/** Holds three capabilities to the laws of the lattice (capability/C1, capability/C2, capability/C3) and to the sets that they mean. */
export function judgeLattice(lattice: Lattice, a: Capability, b: Capability, c: Capability): void {
  const { meet, leq, canonical } = lattice;
  const [inA, inB] = [extentOf(a), extentOf(b)];
  const ab = meet(a, b);
  must(same(extentOf(ab), both(inA, inB)), 'a meet is what both permit', a, b, ab);
  must(bytes(ab) === bytes(meet(b, a)), 'meeting commutes', a, b);
  must(bytes(meet(ab, c)) === bytes(meet(a, meet(b, c))), 'meeting associates', a, b, c);
  must(bytes(meet(a, a)) === bytes(canonical(a)), 'what meets itself is itself', a);
  must(bytes(meet(a, ab)) === bytes(ab), 'what was met once is met', a, b);
  must(bytes(meet(a, authority.EVERYTHING)) === bytes(canonical(a)), 'everything changes nothing', a);
  must(bytes(canonical(canonical(a))) === bytes(canonical(a)), 'a canonical form is its own', a);
  must((bytes(canonical(a)) === bytes(canonical(b))) === same(inA, inB), 'one form for one meaning', a, b);
  must(leq(a, b) === inside(inA, inB), 'one lies in another when what it permits does', a, b);
  must(leq(a, b) === (bytes(ab) === bytes(canonical(a))), 'one lies in another when they meet in it', a, b);
  must(leq(ab, a) && leq(ab, b), 'a meet lies in both', a, b);
  must(leq(a, a), 'each lies in itself', a);
  must(!(leq(a, b) && leq(b, c)) || leq(a, c), 'lying in one another carries on', a, b, c);
  must(!(leq(c, a) && leq(c, b)) || leq(c, ab), 'a meet is the widest that lies in both', a, b, c);
  judgeJoin(lattice, a, b);
  judgeAnswers(lattice, a, inA);
}

function judgeJoin({ join, leq, canonical }: Lattice, a: Capability, b: Capability): void {
  const joined = join(a, b);
  must(same(extentOf(joined), either(extentOf(a), extentOf(b))), 'a join is what either permits', a, b, joined);
  must(bytes(joined) === bytes(canonical(joined)), 'a join has the canonical form', a, b, joined);
  must(leq(a, joined) && leq(b, joined), 'both lie in their join', a, b);
}

function judgeAnswers({ permits, isExpired }: Lattice, a: Capability, { sets, expires }: Extent): void {
  for (const [i, dimension] of DIMENSIONS.entries()) {
    const set = sets[i] as bigint;
    for (const [bit, text] of meaning.texts.entries()) {
      const expected = (set >> BigInt(bit)) % 2n === 1n;
      must(permits(a, dimension, text) === expected, 'a text is permitted when it is in the set', a, dimension, text);
    }
  }
  for (const at of TIMES) must(isExpired(a, at) === at >= expires, 'a capability ends at its time', a, at);
}

/** A tree of holders: the first is the root, others name an earlier one as their parent. */
export interface Tree {
  readonly root: Capability;
  readonly nodes: readonly { readonly parent: number; readonly rights: Rights }[];
  /** What becomes of the tree: the rights of one holder are cut, on one side or both. */
  readonly revocations: readonly {
    readonly node: number;
    readonly side: 'exercise' | 'grant' | 'both';
    readonly to: Capability;
  }[];
  /** Holds that are set, replaced and lifted afterwards: by whom, on whom, and to what; null lifts. */
  readonly holds: readonly { readonly node: number; readonly granter: number; readonly to: Capability | null }[];
}

/** Trees of up to eight holders with up to four revocations and four holds. */
export const anyTree: fc.Arbitrary<Tree> = fc.record({
  root: anyCapability,
  nodes: fc.array(fc.record({ parent: fc.nat(7), rights: anyRights }), { minLength: 1, maxLength: 8 }),
  revocations: fc.array(
    fc.record({ node: fc.nat(7), side: fc.constantFrom('exercise', 'grant', 'both'), to: anyCapability }),
    { maxLength: 4 },
  ),
  holds: fc.array(
    fc.record({ node: fc.nat(7), granter: fc.nat(2), to: fc.option(anyCapability, { nil: null, freq: 3 }) }),
    { maxLength: 4 },
  ),
});

/**
 * Holds a tree and its revocations to what rights mean (capability/C4): every holder's grant is what all grants above it leave,
 * its exercise lies in its parent's grant, and a revocation reaches all below it in that moment and nobody else.
 *
 * @returns how many effective capabilities were computed
 */
export function judgeTree(lattice: Lattice, { root, nodes, revocations, holds }: Tree): number {
  const parents = nodes.map(({ parent }, i) => (i === 0 ? undefined : parent % i));
  const reserved = nodes.map(({ rights }) => rights);
  let before = judgeNow(lattice, root, parents, reserved);
  for (const { node, side, to } of revocations) {
    const at = node % reserved.length;
    reserved[at] = cut(reserved[at] as Rights, side, to);
    const now = judgeNow(lattice, root, parents, reserved);
    for (const [i, one] of now.entries()) {
      const was = before[i] as Effective;
      must(inside(extentOf(one.grant), extentOf(was.grant)), 'a revocation gives nothing', was, one);
      must(inside(extentOf(one.exercise), extentOf(was.exercise)), 'a revocation gives nothing', was, one);
      const reached = chainOf(parents, i).includes(at);
      must(
        reached || bytes(one.grant) + bytes(one.exercise) === bytes(was.grant) + bytes(was.exercise),
        'a revocation reaches nobody beside it',
        was,
        one,
      );
    }
    before = now;
  }
  judgeHolds(lattice, { root, parents, reserved }, holds);
  return 2 * nodes.length * (1 + revocations.length + holds.length);
}

/**
 * Holds a tree to what holds mean: each is met with both sides of its holder, so it reaches all below and nobody beside, and
 * when the last one is lifted every holder has again what the sides alone give it.
 */
function judgeHolds(
  lattice: Lattice,
  { root, parents, reserved }: { readonly root: Capability } & Pick<Judged, 'parents' | 'reserved'>,
  holds: Tree['holds'],
): void {
  const held = reserved.map(() => new Map<number, Capability>());
  const sides = judgeNow(lattice, root, parents, reserved);
  for (const { node, granter, to } of holds) {
    const on = held[node % reserved.length] as Map<number, Capability>;
    if (to === null) on.delete(granter);
    else on.set(granter, to);
    const now = judgeNow(lattice, root, parents, reserved, held);
    for (const [i, one] of now.entries()) {
      const free = sides[i] as Effective;
      must(inside(extentOf(one.grant), extentOf(free.grant)), 'a hold gives nothing', free, one);
      must(inside(extentOf(one.exercise), extentOf(free.exercise)), 'a hold gives nothing', free, one);
      const reached = chainOf(parents, i).some((at) => (held[at] as Map<number, Capability>).size > 0);
      must(
        reached || bytes(one.grant) + bytes(one.exercise) === bytes(free.grant) + bytes(free.exercise),
        'a hold reaches nobody beside it, and leaves nothing behind',
        free,
        one,
      );
    }
  }
}

interface Judged {
  readonly parents: readonly (number | undefined)[];
  readonly reserved: readonly Rights[];
}

interface Effective {
  readonly grant: Capability;
  readonly exercise: Capability;
}

function cut({ exercise, grant = exercise }: Rights, side: 'exercise' | 'grant' | 'both', to: Capability): Rights {
  const less = (capability: Capability, on: 'exercise' | 'grant') =>
    side === on || side === 'both' ? authority.meet(capability, to) : capability;
  return { exercise: less(exercise, 'exercise'), grant: less(grant, 'grant') };
}

function chainOf(parents: readonly (number | undefined)[], node: number): number[] {
  const chain = [node];
  for (let up = parents[node]; up !== undefined; up = parents[up]) chain.push(up);
  return chain;
}

function judgeNow(
  lattice: Lattice,
  root: Capability,
  parents: readonly (number | undefined)[],
  reserved: readonly Rights[],
  held: readonly ReadonlyMap<number, Capability>[] = [],
): Effective[] {
  return reserved.map((own, i) => {
    const places = chainOf(parents, i);
    const chain = places.map((place): authority.HeldRights => heldOf(reserved[place] as Rights, held[place]));
    const handedOn = places.slice(1).map((place) => reserved[place] as Rights);
    const above = handedOn.map(({ exercise, grant }) => extentOf(grant ?? exercise));
    const holds = places.flatMap((place) => [...(held[place]?.values() ?? [])].map(extentOf));
    const granted = [...above, ...holds].reduce(both, extentOf(root));
    const grant = lattice.effectiveGrant(chain, root);
    const exercise = lattice.effectiveExercise(chain, root);
    must(
      same(extentOf(grant), both(extentOf(own.grant ?? own.exercise), granted)),
      'a grant is what all above it leave',
      chain,
      grant,
    );
    must(
      same(extentOf(exercise), both(extentOf(own.exercise), granted)),
      'an exercise is its own within the grants above',
      chain,
      exercise,
    );
    must(inside(extentOf(exercise), granted), 'nobody does what its parent may not hand on', chain, exercise);
    return { grant, exercise };
  });
}

/** The rights of a holder as the lattice takes them: with the holds on it as one. */
function heldOf(rights: Rights, holds: ReadonlyMap<number, Capability> = new Map()): authority.HeldRights {
  const [first, ...others] = holds.values();
  return first === undefined ? rights : { ...rights, hold: others.reduce(authority.meet, first) };
}
