import { describe, expect, it } from 'vitest';
import {
  type Capabilities,
  changed,
  compileRights,
  DIMENSIONS,
  dimensionOf,
  effectiveOf,
  endOf,
  exceeds,
  firstFailed,
  inherited,
  type RightsSource,
} from '../../src/pure/index.js';

const PARENT: Capabilities = {
  memory_read: { layers: ['l1', 'l2'], groups: ['x*'], visibility: ['group'] },
  memory_write: { layers: ['l1'], groups: ['x1'], visibility: ['group'] },
  tools: ['memory_*'],
  max_parallel_ops: 4,
  ttl_seconds: 60,
  autonomous: false,
};

describe('declared capabilities', () => {
  it('An omitted dimension is the parent’s at registration, its time left out', () => {
    expect(inherited({ tools: [] }, PARENT)).toEqual({ ...PARENT, tools: [], ttl_seconds: undefined });
    expect(inherited({}, {})).toEqual({});
  });

  it('A change keeps what it omits and takes the parent’s for null', () => {
    const declared: Capabilities = { tools: ['a'], max_parallel_ops: 1, ttl_seconds: 5 };
    expect(changed(declared, { max_parallel_ops: null, ttl_seconds: null, autonomous: false }, PARENT)).toEqual({
      tools: ['a'],
      max_parallel_ops: 4,
      autonomous: false,
    });
  });

  it('Each dimension beyond the parent is found and named [CAP-9]', () => {
    const beyond: readonly [Capabilities, string, unknown][] = [
      [{ memory_write: { layers: ['l1', 'l2'], groups: [], visibility: [] } }, 'memory_write.layers', 'l2'],
      [{ memory_read: { layers: [], groups: ['x2', '*'], visibility: [] } }, 'memory_read.groups', '*'],
      [{ memory_write: { layers: [], groups: ['x*'], visibility: [] } }, 'memory_write.groups', 'x*'],
      [{ memory_read: { layers: [], groups: [], visibility: ['public'] } }, 'memory_read.visibility', 'public'],
      [{ tools: ['memory_search', 'agent_register'] }, 'tools', 'agent_register'],
      [{ max_parallel_ops: 5 }, 'max_parallel_ops', 5],
      [{ ttl_seconds: 0 }, 'ttl_seconds', null],
      [{ ttl_seconds: 61 }, 'ttl_seconds', 61],
      [{ autonomous: true }, 'autonomous', true],
    ];
    for (const [asked, dimension, value] of beyond)
      expect(exceeds(inherited(asked, PARENT), PARENT)).toMatchObject({ dimension, asked: value });
    expect(exceeds(inherited({}, PARENT), PARENT)).toBeUndefined();
    expect(exceeds(PARENT, {})).toBeUndefined();
    expect(exceeds({}, PARENT)?.dimension).toBe('memory_read.groups');
    expect(DIMENSIONS).toHaveLength(10);
  });

  it('An end is the parent’s, none for 0, or so many seconds from now', () => {
    expect([endOf(undefined, 1_000, 5), endOf(0, 1_000, 5), endOf(3, 1_000, 5)]).toEqual([5, undefined, 4_000]);
  });

  it('A refusal of the kernel is told in the dimension that was declared', () => {
    const told: readonly (readonly [string, string | undefined, string])[] = [
      ['may.tool', 'a', 'tools'],
      ['may.mem_read', 'group:x*', 'memory_read.groups'],
      ['may.mem_write', 'private:*', 'memory_write.visibility'],
      ['may.mem_write', 'l1-notes:*', 'memory_write.layers'],
      ['may.group', '*', 'memory_read.groups'],
      ['may.unwatched', '*', 'autonomous'],
      ['may.effect', '*', 'effect'],
      ['expires_at', undefined, 'ttl_seconds'],
      ['max_parallel', undefined, 'max_parallel_ops'],
    ];
    for (const [where, actual, dimension] of told) expect(dimensionOf(where, actual)).toBe(dimension);
  });

  it('Effective capabilities are the meet with all above, and name who limits them', () => {
    const of: RightsSource = {
      agent_id: 'b'.repeat(64),
      kind: 'custom',
      declared: { ...PARENT, tools: ['memory_search', 'swarm_status'], max_parallel_ops: 9, autonomous: true },
      tier: 'medium',
      trust_floor: 'untrusted',
      bonus_groups: [],
      memberships: [
        { group: 'x1', role: 'member' },
        { group: 'x2', role: 'viewer' },
      ],
      status: 'active',
      expires_at: 50_000,
      parent_id: 'a',
    };
    const above = [
      { id: 'a', granted: PARENT, expires_at: 40_000, stands: true },
      { id: 'ann', granted: { tools: ['swarm_status'] }, stands: true },
    ];
    expect(effectiveOf(of, above, 10_000)).toEqual({
      effective: {
        memory_read: { layers: ['l1', 'l2'], groups: ['x1', 'x2'], visibility: ['group'] },
        memory_write: { layers: ['l1'], groups: [], visibility: [] },
        tools: [],
        max_parallel_ops: 4,
        ttl_seconds: 30,
        autonomous: false,
      },
      limited_by: [
        { ancestor: 'a', dimension: 'tools' },
        { ancestor: 'a', dimension: 'max_parallel_ops' },
        { ancestor: 'a', dimension: 'ttl_seconds' },
        { ancestor: 'a', dimension: 'autonomous' },
      ],
    });
    const gone = [{ id: 'ann', granted: {}, stands: false }];
    expect(effectiveOf(of, gone, 0).effective).toMatchObject({ tools: [], memory_read: { layers: [] } });
  });

  it('The first check that a call fails is named, in their order [CAP-10]', () => {
    const { exercise } = compileRights({
      agent_id: 'c'.repeat(64),
      kind: 'custom',
      declared: PARENT,
      tier: 'medium',
      trust_floor: 'untrusted',
      bonus_groups: [],
      memberships: [],
      status: 'active',
      expires_at: 1_000,
      parent_id: 'ann',
    });
    const all = { tool: 'memory_search', group: 'x1' };
    expect(firstFailed(exercise, { tool: 'other', group: 'y', writes: ['public'] }, 9, 9_000)).toBe('tool');
    expect(firstFailed(exercise, { ...all, group: 'y', writes: ['public'] }, 9, 9_000)).toBe('group');
    expect(firstFailed(exercise, { ...all, writes: ['public'] }, 9, 9_000)).toBe('visibility');
    expect(firstFailed(exercise, all, 4, 9_000)).toBe('parallel');
    expect(firstFailed(exercise, all, 3, 1_000)).toBe('ttl');
    expect(firstFailed(exercise, all, 3, 999)).toBeUndefined();
  });
});
