/**
 * Rights of an entity: compiled from what was declared, its memberships, its tier and its status, within what its maker
 * may hand on.
 *
 * An entity narrows its own rights itself, in the delivery of the change: the kernel lets every cell do that, whatever
 * has happened above it. What widens them its maker sets, because only a cell above may; the entity has the narrower rights
 * until then. A maker whose cell has failed is asked again when the entity acts (SOC-79).
 */
import type { Capability, Patterns } from '@reprise/contracts';
import { leq, meet } from '@reprise/kernel/authority';
import type { ReducerContext, Table } from '@reprise/kernel/define';
import { compileRights } from '../compile/index.js';
import { type Compiled, type EntityState, formatHolder, SOCIETY_BOUNDS } from '../contracts/index.js';
import { accountOf } from './accounts.js';
import { idOf, tableOf } from './entity-context.js';
import { memberTable } from './member-context.js';
import { recorded, recordedSides } from './recorded.js';
import { followInSessions } from './session-rights.js';
import { stagedAgents } from './staged.js';

/** Both sides of an entity's rights. */
export interface BothSides {
  readonly exercise: Capability;
  readonly grant: Capability;
}

/** Begins the tags of commands that set the rights of agents. */
const SET_TAG = 'rights.';

/**
 * Makes a change that the rights of the entity follow from, and has them follow.
 *
 * @param change changes the state or the memberships; what it changes is all that the rights are compiled from
 * @returns whether the maker is to widen them: then it answers with `society/RightsStand@1`
 */
export function changeRights(draft: EntityState, ctx: ReducerContext, change: () => void): boolean {
  const before = compiledOf(draft, ctx);
  change();
  const after = compiledOf(draft, ctx);
  if (draft.kind === 'person') {
    tellAbove(draft, ctx);
    return false;
  }
  const stands = draft.widening === null ? before : sidesOf(draft.widening.stands);
  const kept = narrowTo(draft, stands, after, ctx);
  const widens = !isWithin(after, before);
  if (widens) {
    draft.widening = { stands: sidesAsRecorded(kept), asked: sidesAsRecorded(after), refused: false };
    askMaker(draft, after, ctx);
  }
  if (!leq(before.grant, after.grant) || !leq(after.grant, before.grant)) tellAbove(draft, ctx);
  return widens;
}

/**
 * Takes from the rights that stand in the kernel what no longer follows from the state. Rights that were asked for and do
 * not stand yet are no part of it: with them the change would be a widening, which the kernel refuses as a whole.
 *
 * @returns what stands now
 */
function narrowTo(draft: EntityState, stands: BothSides, after: BothSides, ctx: ReducerContext): BothSides {
  if (isWithin(stands, after)) return stands;
  const kept = { exercise: meet(stands.exercise, after.exercise), grant: meet(stands.grant, after.grant) };
  draft.narrowed_at = ctx.now;
  if (draft.widening !== null) draft.widening.stands = sidesAsRecorded(kept);
  narrowSelf(kept, ctx);
  if (!leq(stands.exercise, after.exercise)) followInSessions(kept.exercise, ctx);
  return kept;
}

/**
 * The maker has set what this entity asked for, or the kernel has refused it: then the entity has what it had, and asks again
 * when it acts. What was taken from it since is taken from what was set, too.
 *
 * @returns whether it has what it asked for
 */
export function rightsStand(draft: EntityState, code: string | null, ctx: ReducerContext): boolean {
  if (draft.widening === null) return code === null;
  if (code !== null) {
    draft.widening.refused = true;
    draft.waits_for_maker = true;
  }
  if (draft.widening.refused) return false;
  const asked = sidesOf(draft.widening.asked);
  draft.widening = null;
  narrowTo(draft, asked, compiledOf(draft, ctx), ctx);
  return true;
}

function sidesAsRecorded({ exercise, grant }: BothSides): NonNullable<EntityState['widening']>['asked'] {
  return { exercise: recorded(exercise), grant: recorded(grant) };
}

function sidesOf({ exercise, grant }: NonNullable<EntityState['widening']>['asked']): BothSides {
  return { exercise, grant: grant ?? exercise };
}

/** The rights that follow from the state as it is. */
export function compiledOf(draft: EntityState, ctx: ReducerContext): BothSides {
  return compileRights({
    agent_id: idOf(ctx),
    kind: draft.kind,
    declared: draft.declared,
    granted: draft.granted ?? undefined,
    tier: draft.tier,
    trust_floor: draft.trust_floor,
    bonus_groups: draft.bonus_groups,
    memberships: membershipsOf(ctx),
    status: draft.status,
    expires_at: draft.expires_at ?? undefined,
    parent_id: draft.parent_entity_id,
    swarm_group: draft.swarm_group ?? undefined,
    reviews: stagedAgents(ctx),
    within: aboveOf(ctx),
  });
}

/** What may be handed on to an entity, and the nearest entity above that narrows each dimension of it. */
export interface HandedOn {
  readonly grant: Capability;
  readonly limits: Readonly<Record<string, string>>;
}

/** What the maker of this entity may hand on, as far as it has said. */
export function aboveOf(ctx: ReducerContext): Capability {
  return handedOnTo(ctx).grant;
}

/** What the maker of this entity may hand on, and who narrows it. */
export function handedOnTo(ctx: ReducerContext): HandedOn {
  const may: Record<string, Patterns> = {};
  let bounds: Bounds = { expires_at: null, max_parallel: null, limits: {} };
  for (const [key, entry] of aboveTable(ctx).range()) {
    if (key === BOUNDS) bounds = entry as Bounds;
    else may[key.slice(MAY.length)] = entry as Patterns;
  }
  const { expires_at, max_parallel, limits } = bounds;
  const numbers = {
    ...(expires_at === null ? {} : { expires_at }),
    ...(max_parallel === null ? {} : { max_parallel }),
  };
  return { grant: { may, ...numbers }, limits };
}

/** What this entity may hand on itself, and who narrows it: itself, where it is narrower than its maker. */
export function handedOnBy(draft: EntityState, ctx: ReducerContext): HandedOn {
  const above = handedOnTo(ctx);
  const { grant } = compiledOf(draft, ctx);
  const own = (dimension: string, is: unknown, was: unknown): readonly (readonly [string, string])[] => {
    const narrower = ctx.hash(is ?? null) !== ctx.hash(was ?? null);
    const by = narrower ? idOf(ctx) : above.limits[dimension];
    return by === undefined ? [] : [[dimension, by]];
  };
  const limits = Object.fromEntries([
    ...Object.entries(grant.may).flatMap(([dimension, is]) => own(dimension, is, above.grant.may[dimension])),
    ...own('expires_at', grant.expires_at, above.grant.expires_at),
    ...own('max_parallel', grant.max_parallel, above.grant.max_parallel),
  ]);
  return { grant, limits };
}

/** Keeps what the maker may hand on. */
export function keepAbove(ctx: ReducerContext, { grant: { may, expires_at, max_parallel }, limits }: HandedOn): void {
  const table = aboveTable(ctx);
  for (const [key] of table.range()) table.delete(key);
  for (const [dimension, patterns] of Object.entries(may)) table.set(`${MAY}${dimension}`, [...patterns]);
  table.set(BOUNDS, { expires_at: expires_at ?? null, max_parallel: max_parallel ?? null, limits });
}

/** The maker sets the rights that an agent of it has compiled. @param payer the account that pays for this cell */
export function setCompiled(
  { agent_id, payer }: { readonly agent_id: string; readonly payer: string },
  { rights, revision, parallel }: Compiled,
  ctx: ReducerContext,
): void {
  const account = accountOf(agent_id);
  const limits = parallel === null ? {} : { parallel };
  ctx.command('sys/SetAccount@1', { account, parent: payer, limits });
  ctx.command(
    'sys/SetRights@1',
    {
      holder: formatHolder(agent_id),
      ...recordedSides({ exercise: rights.exercise, grant: rights.grant ?? rights.exercise }),
      account,
    },
    { tag: `${SET_TAG}${agent_id}.${revision}` },
  );
  ctx.send(ctx.address, { name: 'society/RightsSet@1', value: { agent_id, revision } });
}

/** The tag of rights that were sent to the maker. */
export const COMPILED_TAG = 'compiled';

/** Asks a maker again that had failed: if it was revived, the rights of this entity stand before what it does now. */
export function askMakerAgain(draft: EntityState, ctx: ReducerContext): void {
  if (!draft.waits_for_maker) return;
  const asked = compiledOf(draft, ctx);
  if (draft.widening !== null) draft.widening = { ...draft.widening, asked: sidesAsRecorded(asked), refused: false };
  askMaker(draft, asked, ctx);
}

/** An agent and the revision whose rights were refused; undefined for other commands. */
export function refusedRights(tag = ''): { readonly agent_id: string; readonly revision: number } | undefined {
  if (!tag.startsWith(SET_TAG)) return undefined;
  const [agent_id = '', revision = ''] = tag.slice(SET_TAG.length).split('.');
  return { agent_id, revision: Number(revision) };
}

/** Has all agents of this entity, and those of its swarms, hear what it may hand on now. */
function tellAbove(draft: EntityState, ctx: ReducerContext): void {
  if (draft.children === 0 && tableOf(ctx, 'swarms').size === 0) return;
  const isTelling = draft.telling.above !== null || draft.telling.status !== null;
  draft.telling.above = '';
  if (!isTelling) ctx.send(ctx.address, { name: 'society/Continue@1', value: {} });
}

/** Whether both sides permit nothing that the others do not. */
function isWithin(a: BothSides, b: BothSides): boolean {
  return leq(a.exercise, b.exercise) && leq(a.grant, b.grant);
}

function narrowSelf({ exercise, grant }: BothSides, ctx: ReducerContext): void {
  ctx.command('sys/SetRights@1', {
    holder: formatHolder(idOf(ctx)),
    ...recordedSides({ exercise, grant }),
  });
}

function askMaker(draft: EntityState, rights: BothSides, ctx: ReducerContext): void {
  if (draft.maker === null) return;
  draft.waits_for_maker = false;
  const { max_parallel_ops = null } = draft.declared;
  const value = { rights, revision: draft.revision, parallel: max_parallel_ops };
  const answer = { reply: 'refusal', tag: COMPILED_TAG } as const;
  ctx.send([draft.maker[0], draft.maker[1]], { name: 'society/Compiled@1', value }, answer);
}

/**
 * In emergency mode, and in a group that was archived, all members have what a viewer has (SOC-47). A group says which tier
 * its owner gives.
 */
function membershipsOf(ctx: ReducerContext) {
  const terms = memberTable(ctx, 'terms');
  return tableOf(ctx, 'memberships')
    .range({ limit: SOCIETY_BOUNDS.memberships })
    .map(([group, role]) => {
      const { emcon = false, owner_tier = null } = terms.get(group) ?? {};
      const tier = owner_tier === null ? {} : { tier: owner_tier };
      return { group, role: emcon ? ('viewer' as const) : role, ...tier };
    });
}

interface Bounds {
  readonly expires_at: number | null;
  readonly max_parallel: number | null;
  readonly limits: Readonly<Record<string, string>>;
}

const BOUNDS = 'bounds';
const MAY = 'may.';

function aboveTable(ctx: ReducerContext): Table<Patterns | Bounds> {
  return ctx.table('above') as unknown as Table<Patterns | Bounds>;
}
