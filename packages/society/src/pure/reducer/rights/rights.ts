/**
 * Rights of an entity: compiled from what was declared, its memberships, its tier and its status, within what its maker
 * may hand on.
 *
 * An entity narrows its own rights itself, in the delivery of the change: the kernel lets every cell do that, whatever
 * has happened above it. What widens them its maker sets, because only a cell above may; the entity has the narrower rights
 * until then. A maker whose cell has failed is asked again when the entity acts (SOC-79).
 */

import { type Capability, type Patterns, present } from '@reprise/contracts';
import { leq, meet } from '@reprise/kernel/authority';
import { allRows } from '@reprise/kernel/define';
import { leaveRound } from '@reprise/org/contracts';
import { type CompiledRights, compileRights } from '../../compile/index.js';
import { accountOf, entityAt, formatHolder, SWARM, storeOf } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { News, Row } from '../../contracts/entity-parts.js';
import { type Replied, refusedTo, tagOf } from '../call/replies.js';
import { type EntityContext, idOf, type MakerContext } from '../context/entity.js';
import { stagedAgents } from '../context/staged.js';
import { recorded, recordedSides } from './recorded.js';
import { followInSessions } from './session.js';

/**
 * Makes a change that the rights of the entity follow from, and has them follow.
 *
 * @param change changes the state or the memberships; what it changes is all that the rights are compiled from
 * @returns the number of the request to the maker, where it is to widen them: its answer repeats it
 */
export function changeRights(draft: EntityState, ctx: EntityContext, change: () => void): number | undefined {
  const before = compiledOf(draft, ctx);
  change();
  const after = compiledOf(draft, ctx);
  if (draft.kind === 'person') {
    tellBelow(draft, 'above', ctx);
    return undefined;
  }
  narrowTo(draft, before, after, ctx);
  const asked = isWithin(after, before) ? undefined : askMaker(draft, after, ctx);
  if (asked !== undefined || draft.stands !== null) draft.stands = sidesAsRecorded(met(standing(draft, before), after));
  if (!leq(before.grant, after.grant) || !leq(after.grant, before.grant)) tellBelow(draft, 'above', ctx);
  return asked;
}

/**
 * Takes what no longer follows from the state from the rights that stand. Less may stand than followed before: what the
 * maker has not set yet, and what the entity does not know to be taken from those above. The kernel cuts off the difference.
 */
function narrowTo(draft: EntityState, before: CompiledRights, after: CompiledRights, ctx: EntityContext): void {
  if (isWithin(before, after)) return;
  if (!isWithin(unstaged(before), after)) draft.narrowed_at = ctx.now;
  narrowSelf(after, ctx);
  if (!leq(before.exercise, after.exercise)) followInSessions(after.exercise, ctx);
}

/**
 * The maker has set what this entity asked for, or the kernel has refused it. What was taken from the entity since is taken
 * from what was set, too.
 *
 * What exceeds the rights of the maker is refused as a whole, also in dimensions that do not exceed them: an entity further
 * up may hold the maker, or have lost rights, and the entities between do not know when a cell between them had failed. Then
 * the entity asks for what there is, and for the rest again when it acts.
 *
 * @returns whether there are rights that did not stand before
 */
export function rightsStand(
  draft: EntityState,
  { ask, code }: News<'society/RightsStand@1'>,
  ctx: EntityContext,
): boolean {
  const { asking } = draft;
  if (asking === null || asking.ask !== ask) {
    if (code === null) narrowSelf(compiledOf(draft, ctx), ctx); // it was asked for before something was taken
    return false;
  }
  if (code === 'rights_exceeded' && !asking.cut) {
    askMaker(draft, compiledOf(draft, ctx), ctx, true);
    return false;
  }
  draft.asking = null;
  if (code !== null || asking.cut) draft.waits_for_maker = true;
  if (code !== null) return false;
  narrowTo(draft, sidesOf(asking.rights), compiledOf(draft, ctx), ctx);
  return true;
}

/** What stands of the rights that follow from the state: less, while the maker has not set what it was asked for. */
export function standing({ stands }: Pick<EntityState, 'stands'>, compiled: CompiledRights): CompiledRights {
  return stands === null ? compiled : met(sidesOf(stands), compiled);
}

function met(a: CompiledRights, b: CompiledRights): CompiledRights {
  return { exercise: meet(a.exercise, b.exercise), grant: meet(a.grant, b.grant) };
}

function sidesAsRecorded({ exercise, grant }: CompiledRights): News<'society/Compiled@1'>['rights'] {
  return { exercise: recorded(exercise), grant: recorded(grant) };
}

function sidesOf({ exercise, grant }: News<'society/Compiled@1'>['rights']): CompiledRights {
  return { exercise, grant: grant ?? exercise };
}

/** The rights that follow from the state as it is. */
export function compiledOf(draft: EntityState, ctx: EntityContext): CompiledRights {
  return compiledWithin(aboveOf(ctx), draft, ctx);
}

function compiledWithin(within: Capability, draft: EntityState, ctx: EntityContext): CompiledRights {
  const around = { agent_id: idOf(ctx), memberships: membershipsOf(ctx), reviews: stagedAgents(ctx), within };
  return compileRights({ ...draft, ...around });
}

/** What may be handed on to an entity, and the nearest entity above that narrows each dimension of it. */
export interface HandedOn {
  readonly grant: Capability;
  readonly limits: Readonly<Record<string, string>>;
}

/** What the maker of this entity may hand on, as far as it has said. */
export function aboveOf(ctx: MakerContext): Capability {
  return handedOnTo(ctx).grant;
}

/** What the maker of this entity may hand on, and who narrows it. */
export function handedOnTo(ctx: MakerContext): HandedOn {
  const may: Record<string, Patterns> = {};
  let bounds: Exclude<Row<'above'>, unknown[]> = { expires_at: null, max_parallel: null, limits: {} };
  for (const [key, entry] of allRows(ctx.table('above'))) {
    if (Array.isArray(entry)) may[key.slice(MAY.length)] = entry;
    else bounds = entry;
  }
  const { expires_at, max_parallel, limits } = bounds;
  const numbers = present({ expires_at: expires_at ?? undefined, max_parallel: max_parallel ?? undefined });
  return { grant: { may, ...numbers }, limits };
}

/** What this entity may hand on itself, and who narrows it: itself, where it is narrower than its maker. */
export function handedOnBy(draft: EntityState, ctx: EntityContext): HandedOn {
  const above = handedOnTo(ctx);
  const { grant } = compiledWithin(above.grant, draft, ctx);
  const own = (dimension: string, is: Bound, was: Bound): readonly (readonly [string, string])[] => {
    const by = isSameBound(is, was) ? above.limits[dimension] : idOf(ctx);
    return by === undefined ? [] : [[dimension, by]];
  };
  const limits = Object.fromEntries([
    ...Object.entries(grant.may).flatMap(([dimension, is]) => own(dimension, is, above.grant.may[dimension])),
    ...own('expires_at', grant.expires_at, above.grant.expires_at),
    ...own('max_parallel', grant.max_parallel, above.grant.max_parallel),
  ]);
  return { grant, limits };
}

/** What a dimension is bounded to: patterns, or a number. */
type Bound = Patterns | number | undefined;

function isSameBound(a: Bound, b: Bound): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return a.length === b.length && a.every((pattern, at) => pattern === b[at]);
}

export function keepAbove(ctx: MakerContext, { grant: { may, expires_at, max_parallel }, limits }: HandedOn): void {
  const table = ctx.table('above');
  for (const [key] of allRows(table)) table.delete(key);
  for (const [dimension, patterns] of Object.entries(may)) table.set(`${MAY}${dimension}`, [...patterns]);
  table.set(BOUNDS, { expires_at: expires_at ?? null, max_parallel: max_parallel ?? null, limits });
}

/** The maker sets the rights that an agent of it has compiled. @param payer the account that pays for this cell */
export function setCompiled(
  { agent_id, payer }: { readonly agent_id: string; readonly payer: string },
  { rights, ask, parallel, cut }: News<'society/Compiled@1'>,
  ctx: MakerContext,
): void {
  const account = accountOf(agent_id);
  const limits = parallel === null ? {} : { parallel };
  ctx.command('sys/SetAccount@1', { account, parent: payer, limits });
  const set = { holder: formatHolder(agent_id), ...recordedSides(sidesOf(rights)), account };
  const tag = tagOf('rights', `${agent_id}.${ask}`);
  ctx.command('sys/SetRights@1', cut ? { ...set, excess: 'cut' } : set, { tag });
  ctx.send(ctx.address, { name: 'society/RightsSet@1', value: { agent_id, ask } });
}

/**
 * A swarm hands on what its creator may: its agents ask the swarm for what they gain with the creator. Nothing is cut: under a
 * hold the kernel refuses this as a whole, and the swarm keeps what it has, also when the hold is lifted.
 */
export function setSwarmRights(draft: EntityState, swarm: string, ctx: EntityContext): void {
  const { grant } = handedOnBy(draft, ctx);
  ctx.command('sys/SetRights@1', { holder: `cell:${SWARM}/${swarm}`, ...recordedSides({ exercise: grant, grant }) });
}

/** Asks a maker again that had failed or had less: what it may set now stands before what this entity does next. */
export function askMakerAgain(draft: EntityState, ctx: EntityContext): void {
  if (draft.waits_for_maker) askMaker(draft, compiledOf(draft, ctx), ctx);
}

/** The rights of an agent were refused: it hears why. @param about the agent and its request, as the tag names them */
export function rightsRefused(about: string, { code }: Replied, ctx: MakerContext): void {
  const [agent_id = '', ask] = about.split('.');
  tellStand(agent_id, { ask: Number(ask), code }, ctx);
}

/** Tells an agent whether the rights that it asked for stand. */
export function tellStand(agent_id: string, answer: News<'society/RightsStand@1'>, ctx: MakerContext): void {
  ctx.send(entityAt(agent_id), { name: 'society/RightsStand@1', value: answer });
}

/** Has all agents and swarms of this entity hear what it may hand on now, or whether it is active. */
export function tellBelow({ children }: EntityState, what: 'above' | 'status', ctx: EntityContext): void {
  if (children > 0 || ctx.table('swarms').size > 0) leaveRound(ctx, what);
}

/** Rights without what agents have brought back: who has decided on that reads it no longer, and nothing was taken from it. */
function unstaged({ exercise, grant }: CompiledRights): CompiledRights {
  const without = (rights: Capability): Capability => {
    const { mem_read: read } = rights.may;
    if (read === undefined) return rights;
    return { ...rights, may: { ...rights.may, mem_read: read.filter((store) => !store.startsWith(STAGED)) } };
  };
  return { exercise: without(exercise), grant: without(grant) };
}

/** Begins the patterns of the stores that hold what agents have brought back. */
const STAGED = storeOf.staging('');

function isWithin(a: CompiledRights, b: CompiledRights): boolean {
  return leq(a.exercise, b.exercise) && leq(a.grant, b.grant);
}

function narrowSelf({ exercise, grant }: CompiledRights, ctx: EntityContext): void {
  const sides = recordedSides({ exercise, grant });
  ctx.command('sys/SetRights@1', { holder: formatHolder(idOf(ctx)), ...sides, excess: 'cut' });
}

/** Asks the maker to set rights. @param cut to what the maker may set @returns the number of the request */
function askMaker(draft: EntityState, sides: CompiledRights, ctx: EntityContext, cut = false): number | undefined {
  if (draft.maker === null) return undefined;
  const rights = sidesAsRecorded(sides);
  const ask = ++draft.asks;
  draft.asking = { ask, rights, cut };
  draft.waits_for_maker = false;
  const { max_parallel_ops = null } = draft.declared;
  const value = { rights, ask, parallel: max_parallel_ops, cut };
  ctx.send(draft.maker, { name: 'society/Compiled@1', value }, refusedTo('compiled'));
  return ask;
}

/**
 * In emergency mode, and in a group that was archived, all members have what a viewer has (SOC-47). A group says which tier
 * its owner gives.
 */
function membershipsOf(ctx: EntityContext) {
  const terms = ctx.table('terms');
  return [...allRows(ctx.table('memberships'))].map(([group, role]) => {
    const { emcon = false, owner_tier = null } = terms.get(group) ?? {};
    const tier = owner_tier === null ? {} : { tier: owner_tier };
    return { group, role: emcon ? ('viewer' as const) : role, ...tier };
  });
}

const BOUNDS = 'bounds';
const MAY = 'may.';
