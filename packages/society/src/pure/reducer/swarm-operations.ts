/** The tools of swarms, at the entity that calls them: it makes the swarm, or passes the call on to it. */
import type { Address, Value } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import { type MadeNews, makeWithRights } from '@reprise/work/contracts';
import {
  checkSwarmPlan,
  type EntityState,
  type KeptManifest,
  type SlotRow,
  swarmAt,
  swarmCalls,
} from '../contracts/index.js';
import { SOCIETY_BOUNDS } from '../contracts/names.js';
import { SWARM_BOUNDS } from '../contracts/swarm.js';
import { accountOf } from './accounts.js';

import { actorOfCall } from './actors.js';
import { answerCall, failureOf, openCall } from './answers.js';
import { startPlan } from './call-plans.js';

import { idOf, lineageBelow, tableOf } from './entity-context.js';
import { type Answer, isOfFailedCell, type Operations, operation, refusal } from './operations.js';
import { recorded } from './recorded.js';
import { type AgentToMake, excessOf } from './register.js';
import { handedOnBy } from './rights.js';
import { entriesOf } from './table-rows.js';

/** The operations of the tools of swarms. */
export const swarmOperations: Operations = {
  swarm_create: operation(swarmCalls.swarm_create, {
    group: ({ swarm_id, group_id }) => group_id ?? swarm_id,
    run: (draft, args, call, ctx) => create(draft, args, call, ctx),
  }),
  swarm_status: operation(swarmCalls.swarm_status, {
    run: (_draft, args, call, ctx) => pass('swarm_status', args, call, ctx),
  }),
  swarm_disband: operation(swarmCalls.swarm_disband, {
    run: (_draft, args, call, ctx) => pass('swarm_disband', args, call, ctx),
  }),
  swarm_task: operation(swarmCalls.swarm_task, {
    run: (_draft, args, call, ctx) => pass('swarm_task', args, call, ctx),
  }),
};

/** Begins the tags of what is sent to a swarm for a call. */
export const SWARM_TAG = 'swarm.';

/** Begins the tags of swarms that are being made. */
const MAKING_TAG = 'swarm-made.';

/** Whether the entity knew a swarm of this id before: one that it does not create is not its own. */
const NEW = 'n.';
const AGAIN = 'k.';

/** The bytes of an answer to a model, and to a client outside. */
const OWNER_BYTES = 3_500;
const OUTSIDE_BYTES = 40_000;

/** Passes a call on to the swarm: it knows what the caller is there. */
function pass(name: string, args: { readonly swarm_id: string }, call: string, ctx: ReducerContext): undefined {
  const bytes = openCall(call, ctx)?.origin.kind === 'owner' ? OWNER_BYTES : OUTSIDE_BYTES;
  const value = { call, name, args, bytes, actor: actorOfCall(call, ctx) };
  ctx.send(
    swarmAt(args.swarm_id),
    { name: 'society/SwarmCall@1', value },
    { reply: 'refusal', tag: `${SWARM_TAG}${call}`, failure: failureOf(call) },
  );
  return undefined;
}

/** A swarm did not take a call: it has failed, which its creator is told, or none that the entity may know has this id. */
export function passRefused(
  draft: EntityState,
  { tag, to, code }: { readonly tag: string; readonly to: Address; readonly code: string },
  ctx: ReducerContext,
): void {
  const isOwn = tableOf(ctx, 'swarms').get(to[1]) !== undefined;
  const answer = isOwn && isOfFailedCell(code) ? failedSwarm(to[1]) : refusal('swarm_unknown');
  answerCall(draft, tag.slice(SWARM_TAG.length), answer, ctx);
}

/** A swarm of this entity has failed: the call that creates it is answered, where it has not formed. */
export function unformedSwarmFailed(draft: EntityState, swarm_id: string, ctx: ReducerContext): void {
  for (const [call, { name, args }] of entriesOf(tableOf(ctx, 'calls'))) {
    const isIts = name === 'swarm_create' && swarmCalls.swarm_create.parse(args).swarm_id === swarm_id;
    if (isIts) answerCall(draft, call, failedSwarm(swarm_id), ctx);
  }
}

function failedSwarm(swarm_id: string): Answer {
  return refusal('cell_failed', { swarm_id, cell: 'failed' });
}

/** Checks the manifest as far as the entity can, and has its agents checked: nothing is made yet. */
function create(draft: EntityState, args: KeptManifest, call: string, ctx: ReducerContext): Answer | undefined {
  const refused = refusedManifest(draft, args, ctx);
  if (refused !== undefined) return refused;
  const slots = args.agents.map(({ slot, agent = slot }) => ({ slot, agent }));
  startPlan(ctx, call, checkSwarmPlan, { call, slots, money: args.budget_micro_money !== undefined });
  return undefined;
}

function refusedManifest(draft: EntityState, args: KeptManifest, ctx: ReducerContext): Answer | undefined {
  const problem = problemOf(args);
  if (problem !== undefined) return refusal('invalid_arguments', { problems: [problem] });
  if (draft.depth >= SOCIETY_BOUNDS.depth) return refusal('depth_exceeded');
  const { grant } = handedOnBy(draft, ctx);
  for (const [at, slot] of args.agents.entries()) {
    const excess = excessOf(likeMember(draft, slot, args, ctx), grant);
    if (excess === undefined) continue;
    const { dimension, asked, allowed } = excess;
    const path = `agents.${at}.capabilities.${dimension}`;
    return refusal('capability_exceeds_parent', { path, dimension, asked: asked as Value, allowed: allowed as Value });
  }
  return undefined;
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

/** An agent as it would be made, to compare what it may do. */
function likeMember(
  draft: EntityState,
  { agent_type, capabilities, slot }: SlotRow,
  { swarm_id, group_id = swarm_id }: KeptManifest,
  ctx: ReducerContext,
): AgentToMake {
  const { ttl_seconds } = capabilities;
  const end = ttl_seconds === undefined || ttl_seconds === 0 ? draft.expires_at : ctx.now + ttl_seconds * 1_000;
  return {
    ...{ agent_id: NO_ID, public_key: NO_ID, key_ref: null, agent_type, display_name: slot },
    ...{ parent_entity_id: idOf(ctx), lineage: [], depth: draft.depth + 1, declared: capabilities, granted: null },
    ...{ trust_floor: 'untrusted', automerge: false, expires_at: end, swarm_group: group_id },
    ...{ app: draft.app, grace_ms: draft.grace_ms },
  };
}

const NO_ID = '0'.repeat(64);

/** The agents of a manifest were checked: the swarm is made, with an account below that of its creator. */
export function swarmChecked(
  draft: EntityState,
  call: string,
  { code, problem }: { readonly code: string | null; readonly problem: Value },
  ctx: ReducerContext,
): void {
  const row = openCall(call, ctx);
  if (row === undefined) return;
  if (code !== null) return answerCall(draft, call, refusal('manifest_not_checked', { cause: code }), ctx);
  if (problem !== null) return answerCall(draft, call, { value: problem, is_error: true }, ctx);
  const manifest = swarmCalls.swarm_create.parse(row.args);
  const refused = refusedManifest(draft, manifest, ctx); // what the entity may hand on may have changed meanwhile
  if (refused !== undefined) return answerCall(draft, call, refused, ctx);
  makeSwarm(draft, call, manifest, ctx);
}

function makeSwarm(draft: EntityState, call: string, manifest: KeptManifest, ctx: ReducerContext): void {
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
  const isKnown = tableOf(ctx, 'swarms').get(swarm_id) !== undefined;
  tableOf(ctx, 'swarms').set(swarm_id, null);
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

/** The call for which a swarm was being made, when making it was refused: there is one of that id already. */
export function swarmRefused(draft: EntityState, { tag, made, to }: MadeNews, ctx: ReducerContext): boolean {
  if (!tag.startsWith(MAKING_TAG)) return false;
  if (made) return true;
  const rest = tag.slice(MAKING_TAG.length);
  if (rest.startsWith(NEW)) tableOf(ctx, 'swarms').delete(to[1]); // the swarm of another entity
  answerCall(draft, rest.slice(NEW.length), refusal('swarm_exists'), ctx);
  return true;
}

/** The swarm has formed, or was refused: the call that created it is answered. */
export function swarmFormed(
  draft: EntityState,
  { call, code, value }: { readonly call: string; readonly code: string | null; readonly value: Value },
  ctx: ReducerContext,
): void {
  const row = openCall(call, ctx);
  if (code !== null) return answerCall(draft, call, refusal(code), ctx);
  const of = row?.origin.kind === 'owner' ? shortened(value) : value;
  answerCall(draft, call, { value: of }, ctx);
}

/** As many agents as an answer to a model has room for. */
function shortened(value: Value): Value {
  const { agents, ...rest } = value as unknown as { readonly agents: readonly Value[] };
  return { ...(rest as Record<string, Value>), agents: agents.slice(0, Math.floor(OWNER_BYTES / 136)) };
}
