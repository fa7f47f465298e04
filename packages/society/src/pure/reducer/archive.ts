/**
 * The archive of an agent: what it was about when it was deactivated, kept by its parent as an item of its private store.
 * An archive has an id of its own, which the answer to a deactivation names before the item is written.
 */
import type { ReducerContext } from '@reprise/kernel/define';
import { ARCHIVE_ID, archiveIdOf, type L1Told, l1At, storeOf } from '../contracts/index.js';
import { archivePlan } from '../plans/archive.js';
import { type ArchiveRow, idOf, tableOf } from './entity-context.js';
import { writeOf } from './memory-writes.js';
import { type Answer, refusal } from './operations.js';

/** Begins the call under which a hot context is read for an archive. */
const ARCHIVE = 'archive.';

/** Reads the hot context of an agent that has just been deactivated. */
export function beginArchive(agent_id: string, ctx: ReducerContext): void {
  tableOf(ctx, 'archives').set(archiveIdOf(agent_id, ctx.now), { item: null, code: null });
  const event = { name: 'society/ReadL1@1', value: { call: `${ARCHIVE}${ctx.now}` } };
  ctx.send(l1At(agent_id), event, { reply: 'refusal', tag: `${ARCHIVE}${archiveIdOf(agent_id, ctx.now)}` });
}

/**
 * The answer to a deactivation that this entity asked for: an agent that a swarm made for it has no other to archive it.
 */
export function archiveAsked(agent_id: string, ctx: ReducerContext): void {
  const isKnown = tableOf(ctx, 'archives').get(archiveIdOf(agent_id, ctx.now)) !== undefined;
  if (!isKnown && tableOf(ctx, 'children').get(agent_id) === undefined) beginArchive(agent_id, ctx);
}

/** The hot context of an agent was not read: only its parent reads it. @returns whether the tag is of an archive */
export function archiveRefused(
  { tag = '', code = '' }: { readonly tag?: string; readonly code?: string },
  ctx: ReducerContext,
): boolean {
  if (!tag.startsWith(ARCHIVE)) return false;
  const key = tag.slice(ARCHIVE.length);
  if (code === 'not_yours') tableOf(ctx, 'archives').delete(key);
  else archived({ key, item: null, code: code.slice(0, 96) }, ctx);
  return true;
}

/** Takes what the hot context of an agent says. @returns whether it was asked for an archive */
export function archiveTold({ call, entity_id, state }: L1Told, ctx: ReducerContext): boolean {
  if (!call.startsWith(ARCHIVE)) return false;
  const key = archiveIdOf(entity_id, Number(call.slice(ARCHIVE.length)));
  if (tableOf(ctx, 'archives').get(key) === undefined) return true;
  const store = storeOf.private(idOf(ctx));
  const { origin } = writeOf(store, ctx);
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
export function archived(
  value: { readonly key: string; readonly item: string | null; readonly code: string | null },
  ctx: ReducerContext,
): void {
  const { key, item, code } = value;
  tableOf(ctx, 'archives').set(key, { item, code });
  ctx.record('society/ArchiveKept@1', value);
}

/** The item that an id names: an archive has an id of its own. */
export function storedItem(item_id: string, ctx: ReducerContext): string | Answer {
  if (!ARCHIVE_ID.test(item_id)) return item_id;
  const row: ArchiveRow | undefined = tableOf(ctx, 'archives').get(item_id);
  if (row === undefined) return refusal('item_unknown');
  if (row.item !== null) return row.item;
  return row.code === null
    ? refusal('archive_under_way', { hint: 'The archive is being written; read it again in a moment.' })
    : refusal('not_archived', { cause: row.code });
}
