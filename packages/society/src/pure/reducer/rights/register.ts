/**
 * Making agents. Any cell that makes agents, an entity or a swarm, uses it: the agent is made without being able to act,
 * gets its rights, and begins only when they stand. What is refused on the way leaves no agent.
 */

import type { Capability } from '@reprise/contracts';
import { canonical, firstExcess, meet } from '@reprise/kernel/authority';
import type { ReducerContext } from '@reprise/kernel/define';
import { type MadeNews, makeWithRights } from '@reprise/org/contracts';
import { type CompiledRights, compileRights, type RightsSource } from '../../compile/index.js';
import type { Capabilities } from '../../contracts/agent/capability.js';
import { accountOf, entityAt } from '../../contracts/cell/names.js';
import type { AgentRecord, EntityState } from '../../contracts/entity/entity.js';
import type { SocietyCallOf } from '../../contracts/entity-parts.js';
import type { MakerContext } from '../context/entity.js';
import { secondsUntil } from './agent-terms.js';
import { recordedSides } from './recorded.js';
import type { HandedOn } from './rights.js';

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
  ctx: MakerContext,
  agent: AgentToMake,
  {
    above,
    account,
    tag,
    hold = false,
    sides = compileRights(sourceOf(agent)),
  }: {
    readonly above: HandedOn;
    readonly account: string;
    readonly tag: string;
    /** The agent does not begin by itself: its maker sends it `society/Start@1`, or takes it back. */
    readonly hold?: boolean;
    /** What its rights are compiled to, where the maker has done so. */
    readonly sides?: CompiledRights;
  },
): void {
  const record = { ...agent, above: above.grant, limits: above.limits } as AgentRecord;
  const own = accountOf(agent.agent_id);
  const { max_parallel_ops } = agent.declared;
  const limits = max_parallel_ops === undefined ? {} : { parallel: max_parallel_ops };
  ctx.command('sys/SetAccount@1', { account: own, parent: account, limits });
  makeWithRights(ctx, {
    to: entityAt(agent.agent_id),
    making: { name: 'society/Make@1', value: record },
    rights: {
      ...recordedSides({ exercise: meet(sides.exercise, above.grant), grant: meet(sides.grant, above.grant) }),
      account: own,
    },
    ...(hold ? {} : { first: { name: 'society/Start@1', value: {} } }),
    tag: `${AGENT_TAG}${tag}`,
  });
}

/** The tag of the agent that the news is about; undefined for other cells. */
export function agentMade(news: MadeNews): string | undefined {
  return news.tag.startsWith(AGENT_TAG) ? news.tag.slice(AGENT_TAG.length) : undefined;
}

/** Takes back an agent that was made and whose rights were refused: it has not begun. */
export function unmakeAgent(ctx: MakerContext, agent_id: string): void {
  if (ctx.takes(entityAt(agent_id), 'society/Unmake@1'))
    ctx.send(entityAt(agent_id), { name: 'society/Unmake@1', value: {} });
}

/** What the rights of an agent are compiled from before it begins, and what they could exceed. */
export function sourceOf({ agent_type: kind, ...terms }: Terms): RightsSource {
  return { ...terms, kind, tier: 'medium', bonus_groups: [], memberships: [], status: 'registered' };
}

type Terms = Omit<
  AgentToMake,
  'display_name' | 'lineage' | 'depth' | 'public_key' | 'key_ref' | 'automerge' | 'app' | 'grace_ms'
>;

/** What a registration, or a slot of a swarm, states of an agent, with what is meant where it states nothing. */
export function termsIn(stated: Pick<Registration, 'agent_type' | 'capabilities'> & Partial<Registration>) {
  const { agent_type, capabilities: declared, grant: granted = null } = stated;
  const { trust_floor = 'untrusted', automerge = false } = stated;
  return { agent_type, declared, granted, trust_floor, automerge };
}

type Registration = SocietyCallOf<'agent_register'>;

/**
 * Finds where what is declared exceeds what may be handed on. An absent dimension is the parent's, so it never does. An agent
 * with no end below a bounded parent exceeds it.
 */
export function excessOf(
  of: RightsSource,
  above: Capability,
  now: number,
  { exercise, grant }: CompiledRights = compileRights(of),
): TooMuch | undefined {
  const wider = excessOfSide(of.declared, exercise, above, now);
  return wider ?? excessOfSide(of.granted ?? of.declared, grant, above, now);
}

/** Finds where the capabilities of an entity would exceed what its maker may hand on. */
export function excessIn(
  state: EntityState,
  above: Capability,
  { address: [, agent_id], now }: Pick<ReducerContext, 'address' | 'now'>,
): TooMuch | undefined {
  return excessOf({ ...state, agent_id, memberships: [], status: 'registered' }, above, now);
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
