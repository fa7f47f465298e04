/** The tools of swarms, at the entity that calls them: it makes the swarm, or passes the call on to it. */

import type { Value } from '@reprise/contracts';
import { allRows } from '@reprise/kernel/define';
import { type MadeNews, makeWithRights } from '@reprise/org/contracts';
import { accountOf, entityAt, isLegal, SOCIETY_BOUNDS, swarmAt } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import { argsOf, type SwarmRow } from '../../contracts/entity-parts.js';
import { checkSwarmPlan } from '../../contracts/swarm/effects.js';
import type { SwarmAsked, swarmTells } from '../../contracts/swarm/swarm.js';
import { type KeptManifest, SWARM_BOUNDS, swarmCalls } from '../../contracts/swarm/tools.js';
import {
  actorOfCall,
  answerCall,
  callOfPlan,
  failureOf,
  goOnWith,
  isForModel,
  listed,
  openCall,
  roomFor,
  startForCall,
} from '../call/answers.js';
import { passParked } from '../call/app-calls.js';
import { DENIED, FAILED, isOfFailedCell, notMade, type OperationsOf, refusal, refuse } from '../call/operations.js';
import { type Routes, refusedTo, tagOf } from '../call/replies.js';
import { type EntityContext, type EntityHandlers, idOf, lineageBelow } from '../context/entity.js';
import { endOf, requireWithin } from '../rights/agent-terms.js';
import { recorded } from '../rights/recorded.js';
import { excessOf, sourceOf, termsIn } from '../rights/register.js';
import { type HandedOn, handedOnBy } from '../rights/rights.js';
import { failedAgentOf } from '../status/failed-agents.js';
import { setStatus } from '../status/status.js';
import { takeWork } from './work.js';

export const swarmOperations: OperationsOf<keyof typeof swarmCalls> = {
  // Checks the manifest as far as the entity can, and has its agents checked: nothing is made yet.
  swarm_create: (draft, args, call, ctx) => {
    requireManifest(draft, args, ctx);
    const { swarm_id, group_id: group = swarm_id, coordinator_agent_id: lead } = args;
    if (typeof lead !== 'string' || lead === idOf(ctx)) return check(args, call, ctx);
    const asked = { name: 'society/Lead@1', value: { swarm_id, group } };
    ctx.send(entityAt(lead), asked, { reply: true, tag: tagOf('lead', call) });
    return undefined;
  },
  swarm_status: (_draft, args, call, ctx) => pass({ name: 'swarm_status', args }, call, ctx),
  swarm_disband: (_draft, args, call, ctx) => pass({ name: 'swarm_disband', args }, call, ctx),
  swarm_task: (_draft, args, call, ctx) => pass({ name: 'swarm_task', args }, call, ctx),
};

/** What comes of passing a call on, and of asking an agent to lead. */
export const swarmReplies: Routes<EntityState, EntityContext> = {
  // The swarm has failed, which its creator is told, or none that the entity may know has this id.
  swarm: (draft, call, { to: [, swarm], code }, ctx) => {
    const isOwn = ctx.table('swarms').get(swarm) !== undefined;
    goOnWith(draft, call, ctx, () =>
      isOwn && isOfFailedCell(code) ? refuse('cell_failed', { swarm_id: swarm, ...FAILED }) : refuse('swarm_unknown'),
    );
  },
  // The agent takes the lead, or does not: of one that does not stand below, nothing else is said.
  lead: (draft, call, { to: [, lead], code }, ctx) => {
    goOnWith(draft, call, ctx, (row) => {
      if (code === '') return check(argsOf(row, 'swarm_create'), call, ctx);
      const agent = { coordinator_agent_id: lead };
      if (code === 'agent_not_active') refuse(code, agent);
      if (code === DENIED) refuse(code, { detail: 'group', ...agent });
      const hasFailed = isOfFailedCell(code) && failedAgentOf(lead, ctx) !== undefined;
      return hasFailed ? refuse('cell_failed', { ...agent, ...FAILED }) : refuse('not_authorized', agent);
    });
  },
};

export const swarmHandlers: EntityHandlers<typeof swarmTells> = {
  // The agents of a manifest were checked: the swarm is made, with an account below that of its creator.
  'society/SwarmChecked@1': (draft, { code, value: problem }, ctx) => {
    const call = callOfPlan(ctx);
    goOnWith(draft, call, ctx, (row) => {
      if (code !== null) refuse('manifest_not_checked', { cause: code });
      if (problem !== null) return { value: problem, is_error: true };
      const manifest = argsOf(row, 'swarm_create');
      requireManifest(draft, manifest, ctx); // what the entity may hand on may have changed meanwhile
      return makeSwarm(draft, call, manifest, ctx);
    });
  },
  'society/SwarmFormed@1': (draft, { call, code, value }, ctx) => {
    goOnWith(draft, call, ctx, () => {
      if (code !== null) refuse(code, (value ?? {}) as Readonly<Record<string, Value>>);
      const { agents, ...rest } = value as unknown as { readonly agents: readonly Value[] };
      return { value: { ...rest, ...listed('agents', agents, roomFor(call, ctx) - HEAD_BYTES) } };
    });
  },
  'society/Worker@1': (_draft, { agent_id, entry }, ctx) => {
    ctx.table('workers').set(agent_id, entry);
  },
  'society/SwarmTold@1': (draft, { swarm_id, call, ...answer }, ctx) => {
    requireCalled(call, swarm_id, ctx);
    answerCall(draft, call, answer, ctx);
  },
  'society/SwarmParked@1': (_draft, { swarm_id, call }, ctx) => {
    requireCalled(call, swarm_id, ctx);
    passParked(call, ctx);
  },
  'society/Work@1': takeWork,
  'society/SwarmOver@1': (draft, _, ctx) => {
    if (isLegal(draft.status, 'deactivated')) setStatus(draft, 'deactivated', { reason: 'swarm_over' }, ctx);
  },
};

/** Only the swarm that a call names answers it. */
function requireCalled(call: string, swarm_id: string, ctx: EntityContext): void {
  const row = openCall(call, ctx);
  const isIts = row !== undefined && isSwarmTool(row.name) && argsOf(row, row.name).swarm_id === swarm_id;
  if (!isIts) ctx.reject('no_call');
}

function isSwarmTool(name: string): name is keyof typeof swarmCalls {
  return Object.hasOwn(swarmCalls, name);
}

const MAKING_TAG = 'swarm-made.';

/** Whether the entity knew a swarm of this id before: one that it does not create is not its own. */
const NEW = 'n.';
const AGAIN = 'k.';

type PassedCall = SwarmAsked extends infer A ? (A extends SwarmAsked ? Pick<A, 'name' | 'args'> : never) : never;

/** Passes a call on to the swarm: it knows what the caller is there. */
function pass(asked: PassedCall, call: string, ctx: EntityContext): undefined {
  const room = { bytes: roomFor(call, ctx), model: isForModel(call, ctx) };
  const value: SwarmAsked = { ...asked, call, ...room, actor: actorOfCall(call, ctx) };
  ctx.send(
    swarmAt(asked.args.swarm_id),
    { name: 'society/SwarmCall@1', value },
    { ...refusedTo('swarm', call), failure: failureOf(call) },
  );
  return undefined;
}

/** A swarm of this entity has failed: the call that creates it is answered, where it has not formed. */
export function unformedSwarmFailed(draft: EntityState, swarm_id: string, ctx: EntityContext): void {
  for (const [call, row] of [...allRows(ctx.table('calls'))]) {
    if (row.name !== 'swarm_create' || argsOf(row, row.name).swarm_id !== swarm_id) continue;
    goOnWith(draft, call, ctx, () => refuse('cell_failed', { swarm_id, ...FAILED }));
  }
}

function check({ agents, budget_micro_money }: KeptManifest, call: string, ctx: EntityContext): undefined {
  const slots = agents.map(({ slot, agent = slot }) => ({ slot, agent }));
  startForCall(ctx, call, checkSwarmPlan, { call, slots, money: budget_micro_money !== undefined });
}

function requireManifest(draft: EntityState, args: KeptManifest, ctx: EntityContext): void {
  const problem = problemOf(args);
  if (problem !== undefined) refuse('invalid_arguments', { problems: [problem] });
  if (draft.depth >= SOCIETY_BOUNDS.depth) refuse('depth_exceeded');
  const { grant } = handedOnBy(draft, ctx);
  for (const [at, slot] of args.agents.entries()) {
    const excess = excessOf(likeMember(slot, args, grant, ctx), grant, ctx.now);
    if (excess !== undefined) requireWithin(excess, `agents.${at}.capabilities.${excess.dimension}`);
  }
}

/** What is wrong with a manifest, naming where. */
function problemOf({ agents, coordinator_agent_id, strategy, ...args }: KeptManifest): string | undefined {
  const names = agents.map(({ slot }) => slot);
  const twice = names.findIndex((name, at) => names.indexOf(name) !== at);
  if (twice >= 0) return `agents.${twice}.slot: another slot has this name`;
  const all = agents.reduce((sum, { count }) => sum + count, 0);
  if (all > SWARM_BOUNDS.agents) return `agents: at most ${SWARM_BOUNDS.agents} agents, not ${all}`;
  const slot = typeof coordinator_agent_id === 'object' ? coordinator_agent_id.slot : undefined;
  const of = agents.find((one) => one.slot === slot);
  if (slot !== undefined && of === undefined) return 'coordinator_agent_id.slot: there is no such slot';
  if (of !== undefined && of.count !== 1) return 'coordinator_agent_id.slot: the slot of a coordinator has one agent';
  if (strategy === 'hierarchical' && coordinator_agent_id === undefined)
    return 'coordinator_agent_id: is missing; a hierarchical swarm needs a coordinator';
  const { budget_micro_money, budget_tokens } = args;
  if (budget_micro_money !== undefined && budget_tokens !== undefined)
    return 'budget_tokens: not together with budget_usd';
  return undefined;
}

/** What the rights of a member would follow from, to compare what it may do. */
function likeMember(
  { agent_type, capabilities }: SwarmRow<'slots'>,
  { swarm_id, group_id = swarm_id }: KeptManifest,
  above: HandedOn['grant'],
  ctx: EntityContext,
) {
  const place = { agent_id: '0'.repeat(64), parent_entity_id: idOf(ctx), swarm_group: group_id };
  return sourceOf({
    ...place,
    ...termsIn({ agent_type, capabilities }),
    expires_at: endOf(capabilities.ttl_seconds || undefined, above.expires_at, ctx.now),
  });
}

function makeSwarm(draft: EntityState, call: string, manifest: KeptManifest, ctx: EntityContext): undefined {
  const { swarm_id } = manifest;
  const account = `swarm/${swarm_id}`;
  const { grant, limits } = handedOnBy(draft, ctx);
  ctx.command('sys/SetAccount@1', { account, parent: accountOf(idOf(ctx)), limits: budgetOf(manifest) });
  const parallel = Math.min(grant.max_parallel ?? SWARM_BOUNDS.agents, SWARM_BOUNDS.agents);
  const opening = {
    ...{ call, creator: idOf(ctx), lineage: lineageBelow(draft, ctx), depth: draft.depth, manifest, parallel, account },
    ...{ expires_at: draft.expires_at, app: draft.app, grace_ms: draft.grace_ms, above: recorded(grant), limits },
  };
  const rights = recorded(grant);
  const isKnown = ctx.table('swarms').get(swarm_id) !== undefined;
  ctx.table('swarms').set(swarm_id, null);
  makeWithRights(ctx, {
    to: swarmAt(swarm_id),
    making: { name: 'society/OpenSwarm@1', value: opening },
    rights: { exercise: rights, grant: rights, account },
    first: { name: 'society/FormSwarm@1', value: {} },
    tag: `${MAKING_TAG}${isKnown ? AGAIN : NEW}${call}`,
  });
}

function budgetOf({ budget_micro_money, budget_tokens }: KeptManifest): Record<string, number> {
  if (budget_micro_money !== undefined) return { micro_money: budget_micro_money };
  return budget_tokens === undefined ? {} : { tokens: budget_tokens };
}

/** The call for which a swarm was being made, when making it was refused: such as when there is one of that id already. */
export function swarmRefused(draft: EntityState, news: MadeNews, ctx: EntityContext): boolean {
  if (!news.tag.startsWith(MAKING_TAG)) return false;
  if (news.made) return true;
  const rest = news.tag.slice(MAKING_TAG.length);
  if (rest.startsWith(NEW)) ctx.table('swarms').delete(news.to[1]); // it is the swarm of another entity, or none
  const { code, details } = notMade(news.code, ['swarm_exists', 'swarm_exists']);
  answerCall(draft, rest.slice(NEW.length), refusal(code, details), ctx);
  return true;
}

/** The room of what stands beside the agents. */
const HEAD_BYTES = 512;
