import { firstExcess, permits } from '@reprise/kernel/authority';
import { describe, expect, it } from 'vitest';
import { compileRights, ENTITY_EFFECTS, memoryScope, NO_RIGHTS, type RightsSource } from '../../src/pure/index.js';

const ID = 'a'.repeat(64);

/** The capabilities of the specification that this layer implements. */
const DECLARED = {
  memory_read: { layers: ['l1', 'l2'], groups: ['seed-drill', 'swarm-*'], visibility: ['private', 'group'] },
  memory_write: { layers: ['l1', 'l2'], groups: ['seed-drill'], visibility: ['private', 'group'] },
  tools: ['memory_read_hot', 'memory_write_hot', 'memory_search'],
  max_parallel_ops: 5,
  ttl_seconds: 3600,
  autonomous: false,
} as const;

function agent(changes: Partial<RightsSource> = {}): RightsSource {
  return {
    agent_id: ID,
    kind: 'claude-code',
    declared: DECLARED as unknown as RightsSource['declared'],
    tier: 'medium',
    trust_floor: 'untrusted',
    bonus_groups: [],
    memberships: [
      { group: 'seed-drill', role: 'member' },
      { group: 'swarm-one', role: 'admin' },
      { group: 'other', role: 'owner' },
    ],
    status: 'active',
    expires_at: 3_600_000,
    parent_entity_id: 'ann',
    ...changes,
  };
}

const reads = (changes: Partial<RightsSource>) => compileRights(agent(changes)).exercise.may.mem_read;
const writes = (changes: Partial<RightsSource>) => compileRights(agent(changes)).exercise.may.mem_write;

describe('compiled rights', () => {
  it('The eight dimensions of capabilities stand in both sides [CAP-3]', () => {
    const { exercise, grant } = compileRights(agent());
    expect(exercise).toEqual({
      may: {
        effect: ENTITY_EFFECTS,
        group: ['seed-drill', 'swarm-*'],
        mem_read: [
          'group:seed-drill',
          'group:swarm-one',
          `l1-notes:${ID}`,
          `private:${ID}`,
          'private:ann',
          `staging:${ID}.*`,
        ],
        mem_write: ['group:seed-drill', `l1-notes:${ID}`, `private:${ID}`, 'private:ann'],
        tool: ['memory_read_hot', 'memory_search', 'memory_write_hot'],
        unwatched: [],
      },
      expires_at: 3_600_000,
      max_parallel: 5,
    });
    expect(grant.may).toEqual({
      ...exercise.may,
      mem_read: ['group:seed-drill', 'group:swarm-*', 'l1-notes:*', 'private:*', 'staging:*'],
      mem_write: ['group:seed-drill', 'l1-notes:*', 'private:*', 'staging:*'],
    });
  });

  it('The matrix decides by type which stores a member reaches [SOC-29]', () => {
    const group = ['group:seed-drill', 'group:swarm-one'];
    const own = [`l1-notes:${ID}`];
    const staged = `staging:${ID}.*`;
    expect(reads({ kind: 'custom' })).toEqual([...group, ...own, `private:${ID}`, staged]);
    expect(reads({ kind: 'autonomous' })).toEqual([...group, ...own, `private:${ID}`, staged]);
    expect(reads({ kind: 'swarm-worker', swarm_group: 'swarm-one' })).toEqual(['group:swarm-one', ...own, staged]);
    expect(reads({ kind: 'swarm-worker' })).toEqual([...own, staged]);
    expect(writes({ kind: 'swarm-worker', swarm_group: 'seed-drill' })).toEqual(['group:seed-drill', ...own]);
  });

  it('A low tier reads groups that are named exactly, and an untrusted agent none [SOC-33]', () => {
    const own = `l1-notes:${ID}`;
    expect(reads({ tier: 'low' })).toEqual(['group:seed-drill', own, `staging:${ID}.*`]);
    expect(writes({ tier: 'low' })).toEqual([own]);
    expect(reads({ tier: 'untrusted' })).toEqual([own, `staging:${ID}.*`]);
    expect(writes({ tier: 'untrusted' })).toEqual([own]);
    expect(compileRights(agent({ tier: 'untrusted', trust_floor: 'medium' }))).toEqual(compileRights(agent()));
  });

  it('A high tier adds the promised groups in which the agent is a member [SOC-33]', () => {
    const promised = { bonus_groups: ['other', 'far'] };
    expect(writes({ ...promised, tier: 'medium' })).not.toContain('group:other');
    expect(writes({ ...promised, tier: 'high' })).toContain('group:other');
    expect(reads({ ...promised, tier: 'high' })).not.toContain('group:far');
    const { exercise, grant } = compileRights(agent({ ...promised, tier: 'high' }));
    expect(exercise.may.group).toEqual(['far', 'other', 'seed-drill', 'swarm-*']);
    expect(grant.may.group).toEqual(['seed-drill', 'swarm-*']);
  });

  it('A viewer reads its group and does not write it [SOC-31]', () => {
    const memberships = [{ group: 'seed-drill', role: 'viewer' }] as const;
    expect(reads({ memberships })).toContain('group:seed-drill');
    expect(writes({ memberships })).not.toContain('group:seed-drill');
  });

  it('Nothing writes public, whatever is declared [SOC-32]', () => {
    for (const kind of ['person', 'claude-code', 'swarm-worker', 'autonomous', 'custom'] as const) {
      for (const tier of ['untrusted', 'low', 'medium', 'high'] as const) {
        const { exercise, grant } = compileRights(agent({ kind, tier, declared: {} }));
        expect(permits(exercise, 'mem_write', 'public')).toBe(false);
        expect(permits(grant, 'mem_write', 'public')).toBe(false);
        expect(permits(exercise, 'mem_read', 'public')).toBe(true);
      }
    }
  });

  it('A tool that is not listed is not permitted, and under an empty list no tool is [CAP-4]', () => {
    const listed = compileRights(agent()).exercise;
    expect([permits(listed, 'tool', 'memory_search'), permits(listed, 'tool', 'memory_write_warm')]).toEqual([
      true,
      false,
    ]);
    const none = compileRights(agent({ declared: { ...DECLARED, tools: [] } as unknown as RightsSource['declared'] }));
    expect(permits(none.exercise, 'tool', 'memory_search')).toBe(false);
    expect(permits(none.grant, 'tool', 'memory_search')).toBe(false);
  });

  it('A deactivated entity has nothing to use and nothing to hand on [SOC-37]', () => {
    for (const status of ['deactivated', 'removed'] as const)
      expect(compileRights(agent({ status }))).toEqual({ exercise: NO_RIGHTS, grant: NO_RIGHTS });
    expect(compileRights(agent({ status: 'suspended' }))).toEqual(compileRights(agent()));
  });

  it('A person without declared capabilities has its own stores and hands on the kinds of stores', () => {
    const { exercise, grant } = compileRights(
      agent({ agent_id: 'ann', kind: 'person', declared: {}, parent_entity_id: null, expires_at: null }),
    );
    expect(exercise).toEqual({
      may: {
        effect: ENTITY_EFFECTS,
        mem_read: [
          'group:other',
          'group:seed-drill',
          'group:swarm-one',
          'l1-notes:ann',
          'private:ann',
          'public',
          'staging:ann.*',
        ],
        mem_write: ['group:other', 'group:seed-drill', 'group:swarm-one', 'l1-notes:ann', 'private:ann'],
      },
    });
    expect(grant).toEqual({
      may: {
        effect: ENTITY_EFFECTS,
        mem_read: ['group:*', 'l1-notes:*', 'private:*', 'public', 'staging:*'],
        mem_write: ['group:*', 'l1-notes:*', 'private:*', 'staging:*'],
      },
    });
  });

  it('A pattern of groups is a name, a beginning with a star, or a star, which only a star covers [CAP-9]', () => {
    for (const pattern of ['*', 'a', 'a*', 'swarm-*', 'a.b:c_d-1'])
      expect([pattern, memoryScope.safeParse({ layers: [], groups: [pattern], visibility: [] }).success]).toEqual([
        pattern,
        true,
      ]);
    for (const pattern of ['', 'a*b', '**', '*a', 'A', 'Seed', ' a', 'a'.repeat(129)])
      expect([pattern, memoryScope.safeParse({ layers: [], groups: [pattern], visibility: [] }).success]).toEqual([
        pattern,
        false,
      ]);
    const granted = (...groups: string[]) =>
      compileRights(agent({ declared: { memory_read: { layers: ['l2'], groups, visibility: ['group'] } } })).grant;
    const excess = (child: string, parent: string) => firstExcess(granted(child), granted(parent))?.actual;
    expect([excess('*', 'x*'), excess('x*', 'x*'), excess('x1', 'x*'), excess('x*', 'x1'), excess('*', '*')]).toEqual([
      'group:*',
      undefined,
      undefined,
      'group:x*',
      undefined,
    ]);
  });
});
