/**
 * Making agents. Any cell that makes agents, an entity or a swarm, uses it: the agent is made without being able to act,
 * gets its rights, and begins only when they stand. What is refused on the way leaves no agent.
 */
import type { Capability, Patterns } from '@reprise/contracts';
import { canonical, firstExcess, meet } from '@reprise/kernel/authority';
import type { ReducerContext } from '@reprise/kernel/define';
import { type MadeNews, makeWithRights } from '@reprise/work/contracts';
import { compileRights } from '../compile/index.js';
import { type AgentRecord, type Capabilities, type EntityState, entityAt, SOCIETY_BOUNDS } from '../contracts/index.js';
import { accountOf } from './accounts.js';
import { secondsUntil } from './agent-times.js';
import { recordedSides } from './recorded.js';
import type { BothSides, HandedOn } from './rights.js';

/** Begins the tags of agents that are being made. */
const AGENT_TAG = 'agent.';

/** An agent that is to be made: its record without what its maker adds. */
export type AgentToMake = Omit<AgentRecord, 'above' | 'limits'>;

/** Where capabilities exceed what may be handed on: the dimension in words of the tools, and both values. */
export interface TooMuch {
  readonly dimension: string;
  readonly asked: unknown;
  readonly allowed: unknown;
}

/**
 * Makes an agent below this cell.
 *
 * @param above what this cell may hand on; @param account the account that pays for this cell
 * @param tag repeated in {@link agentMade}
 */
export function makeAgent(
  ctx: ReducerContext,
  agent: AgentToMake,
  {
    above,
    account,
    tag,
    hold = false,
  }: {
    readonly above: HandedOn;
    readonly account: string;
    readonly tag: string;
    /** The agent does not begin by itself: its maker sends it `society/Start@1`, or takes it back. */
    readonly hold?: boolean;
  },
): void {
  const record = { ...agent, above: above.grant, limits: above.limits } as AgentRecord;
  const rights = rightsOf(agent, above.grant);
  const own = accountOf(agent.agent_id);
  const { max_parallel_ops } = agent.declared;
  const limits = max_parallel_ops === undefined ? {} : { parallel: max_parallel_ops };
  ctx.command('sys/SetAccount@1', { account: own, parent: account, limits });
  makeWithRights(ctx, {
    to: entityAt(agent.agent_id),
    making: { name: 'society/Make@1', value: record },
    rights: { ...recordedSides(rights), account: own },
    ...(hold ? {} : { first: { name: 'society/Start@1', value: {} } }),
    tag: `${AGENT_TAG}${tag}`,
  });
}

/** The tag of the agent that the news is about; undefined for other cells. */
export function agentMade(news: MadeNews): string | undefined {
  return news.tag.startsWith(AGENT_TAG) ? news.tag.slice(AGENT_TAG.length) : undefined;
}

/** Takes back an agent that was made and whose rights were refused: it has not begun. */
export function unmakeAgent(ctx: ReducerContext, agent_id: string): void {
  if (ctx.takes(entityAt(agent_id), 'society/Unmake@1'))
    ctx.send(entityAt(agent_id), { name: 'society/Unmake@1', value: {} });
}

/** The groups that an agent may join when it begins; undefined for any. */
export function groupsReached(agent: AgentToMake, above: Capability): Patterns | undefined {
  return rightsOf(agent, above).exercise.may.group;
}

/** The rights that an agent begins with. */
function rightsOf(agent: AgentToMake, above: Capability): BothSides {
  const { exercise, grant } = declaredRights(agent);
  return { exercise: meet(exercise, above), grant: meet(grant, above) };
}

/**
 * Finds where what is declared exceeds what may be handed on. An absent dimension is the parent's, so it never does.
 *
 * @param at the time at which the agent ends: with none below a bounded parent it would have no end
 */
export function excessOf(agent: AgentToMake, above: Capability, now: number): TooMuch | undefined {
  const sides = declaredRights(agent);
  return (
    excessOfSide(agent.declared, sides.exercise, above, now) ??
    excessOfSide(agent.granted ?? agent.declared, sides.grant, above, now)
  );
}

/** Finds where the capabilities of an entity would exceed what its maker may hand on. */
export function excessIn(
  { kind, parent_entity_id, declared, granted, tier, trust_floor, bonus_groups, expires_at, swarm_group }: EntityState,
  above: Capability,
  { address: [, agent_id], now }: Pick<ReducerContext, 'address' | 'now'>,
): TooMuch | undefined {
  const sides = compileRights({
    ...{ agent_id, kind, declared, granted: granted ?? undefined, tier, trust_floor, bonus_groups, memberships: [] },
    ...{ status: 'registered', expires_at: expires_at ?? undefined, parent_id: parent_entity_id },
    swarm_group: swarm_group ?? undefined,
  });
  const wider = excessOfSide(declared, sides.exercise, above, now);
  return wider ?? excessOfSide(granted ?? declared, sides.grant, above, now);
}

/** The wire dimensions, and the kernel's that each compiles into; groups are compared as the scope names them. */
const DIMENSIONS: readonly (readonly [keyof Capabilities, string])[] = [
  ['tools', 'tool'],
  ['memory_write', 'mem_write'],
  ['memory_read', 'mem_read'],
  ['autonomous', 'unwatched'],
];

function excessOfSide(
  declared: Capabilities,
  compiled: Capability,
  above: Capability,
  now: number,
): TooMuch | undefined {
  for (const [name, kernel] of DIMENSIONS) {
    const value = declared[name];
    if (value === undefined) continue;
    const isScope = typeof value === 'object' && 'groups' in value;
    const asked = { ...pick(compiled, kernel), ...(isScope ? { group: value.groups } : {}) };
    const had = { ...pick(above, kernel), ...(isScope ? pick(above, 'group') : {}) };
    const excess = firstExcess(canonical({ may: asked }), { may: had });
    if (excess !== undefined) return { dimension: name, asked: excess.actual, allowed: excess.expected };
  }
  if (declared.max_parallel_ops !== undefined && above.max_parallel !== undefined) {
    if (declared.max_parallel_ops > above.max_parallel)
      return { dimension: 'max_parallel_ops', asked: declared.max_parallel_ops, allowed: above.max_parallel };
  }
  if (declared.ttl_seconds !== undefined && above.expires_at !== undefined) {
    const end = compiled.expires_at;
    const allowed = secondsUntil(above.expires_at, now);
    if (end === undefined || end > above.expires_at)
      return { dimension: 'ttl_seconds', asked: declared.ttl_seconds, allowed };
  }
  return undefined;
}

function pick({ may }: Capability, name: string): Capability['may'] {
  return may[name] === undefined ? {} : { [name]: may[name] };
}

function declaredRights(agent: AgentToMake): BothSides {
  return compileRights({
    agent_id: agent.agent_id,
    kind: agent.agent_type,
    declared: agent.declared,
    granted: agent.granted ?? undefined,
    tier: 'medium',
    trust_floor: agent.trust_floor,
    bonus_groups: [],
    memberships: [],
    status: 'registered',
    expires_at: agent.expires_at ?? undefined,
    parent_id: agent.parent_entity_id,
    swarm_group: agent.swarm_group ?? undefined,
  });
}

/** Why an agent cannot be made below an entity; undefined when it can. */
export function noRoomFor(depth: number, children: number): string | undefined {
  if (depth >= SOCIETY_BOUNDS.depth) return 'depth_exceeded';
  return children >= SOCIETY_BOUNDS.children ? 'fanout_exceeded' : undefined;
}
