/**
 * The archive of an agent: what it was about when it was deactivated, kept by its parent as an item of its private store.
 * An archive has an id of its own, which the answer to a deactivation names before the item is written.
 */

import { l1At, storeOf } from '../../contracts/cell/names.js';
import type { News } from '../../contracts/entity-parts.js';
import { ARCHIVE_ID, archiveIdOf } from '../../contracts/memory/tools.js';
import { archivePlan } from '../../plans/identity.js';
import { refuse } from '../call/operations.js';
import { type Replied, refusedTo } from '../call/replies.js';
import { type EntityContext, idOf } from '../context/entity.js';
import { linkWrite, writeOf } from './writes.js';

/** Begins the call under which a hot context is read for an archive. */
const ARCHIVE = 'archive.';

/** Reads the hot context of an agent that has just been deactivated. */
export function beginArchive(agent_id: string, ctx: EntityContext): void {
  ctx.table('archives').set(archiveIdOf(agent_id, ctx.now), { item: null, code: null });
  const event = { name: 'society/ReadL1@1', value: { call: `${ARCHIVE}${ctx.now}` } };
  ctx.send(l1At(agent_id), event, refusedTo('archive', archiveIdOf(agent_id, ctx.now)));
}

/**
 * The answer to a deactivation that this entity asked for: an agent that a swarm made for it has no other to archive it.
 */
export function archiveAsked(agent_id: string, ctx: EntityContext): void {
  const isKnown = ctx.table('archives').get(archiveIdOf(agent_id, ctx.now)) !== undefined;
  if (!isKnown && ctx.table('children').get(agent_id) === undefined) beginArchive(agent_id, ctx);
}

/** The hot context of an agent was not read: only its parent reads it. */
export function archiveRefused(key: string, { code }: Replied, ctx: EntityContext): void {
  if (code === 'not_yours') ctx.table('archives').delete(key);
  else archived({ key, item: null, code: code.slice(0, 96) }, ctx);
}

/** Takes what the hot context of an agent says. @returns whether it was asked for an archive */
export function archiveTold({ call, entity_id, state }: News<'society/L1Told@1'>, ctx: EntityContext): boolean {
  if (!call.startsWith(ARCHIVE)) return false;
  const key = archiveIdOf(entity_id, Number(call.slice(ARCHIVE.length)));
  if (ctx.table('archives').get(key) === undefined) return true;
  const store = storeOf.private(idOf(ctx));
  const write = writeOf(store, ctx);
  const { origin } = write;
  linkWrite(write, 'archive', ctx);
  const { active, goal, findings, working_memory } = state.fields;
  const agent = {
    ...{ key, agent_id: entity_id, parent_entity_id: idOf(ctx), agent_type: state.agent_type },
    ...{ display_name: state.identity.display_name, session_count: state.chain.count, chain_hash: state.chain.hash },
    ...{ active: active?.ref ?? null, goal: goal?.ref ?? null, findings: findings?.ref ?? null },
    working_memory: working_memory?.ref ?? null,
  };
  ctx.emit({ plan: archivePlan, input: { store, origin, agent } });
  return true;
}

/** The archive of an agent was written, or could not be. */
export function archived(value: News<'society/Archived@1'>, ctx: EntityContext): void {
  const { key, item, code } = value;
  ctx.table('archives').set(key, { item, code });
  ctx.record('society/ArchiveKept@1', value);
}

/** The item that an id names: an archive has an id of its own. */
export function storedItem(item_id: string, ctx: EntityContext): string {
  if (!ARCHIVE_ID.test(item_id)) return item_id;
  const row = ctx.table('archives').get(item_id) ?? refuse('item_unknown');
  if (row.item !== null) return row.item;
  return row.code === null
    ? refuse('archive_under_way', { hint: 'The archive is being written; read it again in a moment.' })
    : refuse('not_archived', { cause: row.code });
}
