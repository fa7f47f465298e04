import { readFileSync } from 'node:fs';
import path from 'node:path';
import { compileRights, type RightsSource, TIERS, type Tier } from '@reprise/society/contracts';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../part.js';
import { type Judged, judgeTrees, OURS } from './trees.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20);
const TREES = 3_000 / stepOf(3);

/** Compilers that are wrong in one place. */
const MUTANTS: Readonly<Record<string, Judged>> = {
  'a child has the whole rights of its parent, as one whose rights were set while it was made': {
    ...OURS,
    effective: ([own, ...above]) => OURS.effective(above.length === 0 && own !== undefined ? [own] : above),
  },
  'rights that were compiled are not met with those above': {
    ...OURS,
    effective: (chain) => OURS.effective(chain.slice(0, 1)),
  },
  'an ancestor hands on what it may use, not what it may grant': {
    ...OURS,
    effective: (chain) => OURS.effective(chain.map(({ exercise, hold }) => ({ exercise, grant: exercise, hold }))),
  },
  'a viewer writes': changed((of) => ({
    ...of,
    memberships: of.memberships.map(({ group, tier }) => ({ group, role: 'member' as const, tier })),
  })),
  'the promise of trust is ignored': changed((of) => ({ ...of, trust_floor: 'untrusted' })),
  'a promise of the parent outranks the owner of a group': changed((of) => ({
    ...of,
    memberships: of.memberships.map(({ group, role, tier }) => ({
      group,
      role,
      tier: tier === undefined ? tier : higher(tier, of.trust_floor),
    })),
  })),
  'a claude-code agent reads the private store of its parent without a grant': changed((of) =>
    of.kind === 'claude-code'
      ? { ...of, declared: { memory_read: EVERYTHING_READ, memory_write: EVERYTHING_READ, ...of.declared } }
      : of,
  ),
  'trust is not asked': changed((of) => ({ ...of, tier: 'high' })),
  'the verdicts of the owner of a group are not asked': changed((of) => ({
    ...of,
    memberships: of.memberships.map(({ group, role }) => ({ group, role })),
  })),
  'a swarm-worker reaches the groups of a custom agent': changed((of) => ({
    ...of,
    kind: of.kind === 'swarm-worker' ? 'custom' : of.kind,
  })),
  'a deactivated agent keeps its rights': changed((of) => ({ ...of, status: 'active' })),
  'what is cut from a failed agent is not met with its rights': { ...OURS, hold: () => undefined },
  'what is cut from a failed agent counts for itself and not for those below': {
    ...OURS,
    effective: ([own, ...above]) =>
      OURS.effective([...(own === undefined ? [] : [own]), ...above.map((one) => ({ ...one, hold: undefined }))]),
  },
  'the last cut undoes those before': { ...OURS, hold: (cuts) => OURS.hold(cuts.slice(-1)) },
  'an end is forgotten when something else is cut': {
    ...OURS,
    hold: (cuts) => OURS.hold(cuts.filter(({ ended }) => ended !== true)),
  },
  'time does not end rights': changed((of) => ({ ...of, expires_at: null })),
};

const EVERYTHING_READ = {
  layers: ['l1' as const, 'l2' as const],
  groups: ['*'],
  visibility: ['private' as const, 'group' as const, 'public' as const],
};

function higher(a: Tier, b: Tier): Tier {
  return TIERS.indexOf(a) > TIERS.indexOf(b) ? a : b;
}

function changed(change: (of: RightsSource) => RightsSource): Judged {
  return { ...OURS, compile: (of) => compileRights(change(of)) };
}

describe('compiled rights in random trees', () => {
  it(`Compiled rights and holds permit what the rules say, in ${TREES} trees from seed ${SEED} [CAP-1] [CAP-14] [SOC-76]`, () => {
    const found = judgeTrees(TREES, SEED);
    expect(found.first ?? '').toBe('');
    expect(found.trees).toBe(TREES);
    expect(found.allowed / found.questions).toBeGreaterThan(0.05);
  });

  it.each(Object.entries(MUTANTS))('A disagreement is found when %s', (_name, mutant) => {
    expect(judgeTrees(20_000, SEED, mutant).disagreements).toBe(1);
  });

  it('The oracle imports nothing', () => {
    const source = readFileSync(path.join(import.meta.dirname, 'oracle.ts'), 'utf8');
    expect(source).not.toMatch(/\bimport\b/);
  });
});
