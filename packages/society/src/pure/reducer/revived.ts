/**
 * An entity whose cell was revived: it has the state before the fault, and asks what it was told since. Nothing reaches a
 * cell that has failed.
 *
 * Invariants
 * R1  What it missed is told in the cascade of the revival: before any other input it has the memberships, the rules of its
 *     groups, the tier and the status of its parent of this moment.
 */
import type { Address } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import { ENTITY, type EntityState, GROUP, SOCIETY_BOUNDS } from '../contracts/index.js';
import { takeMembership } from './consent.js';
import { tableOf } from './entity-context.js';
import { takeTerms } from './member.js';
import { memberTable } from './member-context.js';
import { isOfFailedCell } from './operations.js';
import { handedOnBy } from './rights.js';
import { parentStatus } from './status.js';
import { tierByVerdicts } from './trust.js';

/** Begins the tags of questions to groups; the group follows. */
const TERMS_TAG = 'terms.';

/** The tag of the question to the maker. */
const MISSED_TAG = 'missed';

/** Asks the maker and the groups what they have told since, and tells all below again: that may have been cut short. */
export function revived(draft: EntityState, ctx: ReducerContext): void {
  const refusal = (tag: string) => ({ reply: 'refusal', tag }) as const;
  const { maker } = draft;
  if (maker !== null) ctx.send([maker[0], maker[1]], { name: 'society/Missed@1', value: {} }, refusal(MISSED_TAG));
  for (const [group] of tableOf(ctx, 'memberships').range({ limit: SOCIETY_BOUNDS.memberships }))
    ctx.send([GROUP, group], { name: 'society/AskTerms@1', value: {} }, refusal(`${TERMS_TAG}${group}`));
  if (draft.children === 0 && tableOf(ctx, 'swarms').size === 0) return;
  draft.telling.above = '';
  draft.telling.status = '';
  ctx.send(ctx.address, { name: 'society/Continue@1', value: {} });
}

/** Tells an agent, or a swarm, what it has missed. */
export function tellMissed(draft: EntityState, [reducer, key]: Address, ctx: ReducerContext): void {
  const tell = (name: string, value: object) => ctx.send([reducer, key], { name, value });
  tell('society/Above@1', handedOnBy(draft, ctx));
  tell('society/ParentStatus@1', parentStatus(draft, ctx));
  if (reducer === ENTITY) tell('society/Tier@1', { tier: tierByVerdicts(key, ctx) });
}

/** A question was refused: a group that does not know this entity has removed it. @returns whether it was one of these */
export function missedRefused(
  draft: EntityState,
  { tag = '', code = '' }: { readonly tag?: string; readonly code?: string },
  ctx: ReducerContext,
): boolean {
  if (tag === MISSED_TAG) return true;
  if (!tag.startsWith(TERMS_TAG)) return false;
  if (isOfFailedCell(code)) return true;
  const group = tag.slice(TERMS_TAG.length);
  const departure = memberTable(ctx, 'terms').get(group)?.departure_policy ?? 'permissive';
  takeMembership(draft, { group, role: null, by: null }, ctx);
  takeTerms(draft, { group, terms: null, departure }, ctx);
  return true;
}
