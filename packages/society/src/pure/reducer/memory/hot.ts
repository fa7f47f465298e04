/** `memory_read_hot` and `memory_write_hot`: an entity and its own hot context, or that of an agent that it made. */

import { present, type Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel/codec';
import { l1At } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { News } from '../../contracts/entity-parts.js';
import { L1_BYTES_MAX, L1_FIELDS } from '../../contracts/memory/l1.js';
import { answerCall, fitting, openCall } from '../call/answers.js';
import { type Answer, type OperationsOf, refusal, refuse } from '../call/operations.js';
import { refusedTo } from '../call/replies.js';
import { countsOf, type EntityContext, idOf } from '../context/entity.js';
import { waitsForNews } from '../inbox/board-reading.js';
import { eventsAfter } from '../inbox/inbox.js';
import { archiveTold } from './archive.js';

export const hotOperations: OperationsOf<'memory_read_hot' | 'memory_write_hot'> = {
  memory_read_hot: (draft, { entity_id }, call, ctx) => {
    const of = entity_id ?? idOf(ctx);
    const isOwn = of === idOf(ctx);
    if (!isOwn && ctx.table('children').get(of) === undefined) refuse('agent_unknown');
    if (!isOwn || !waitsForNews(draft, call, ctx)) readHot(of, call, ctx);
    return undefined;
  },
  memory_write_hot: (_draft, { patch, expected_version }, call, ctx) => {
    const event = { name: 'society/WriteL1@1', value: { call, patch, expected_version } };
    ctx.send(l1At(idOf(ctx)), event, refusedTo('hot', call));
    return undefined;
  },
};

/** Asks a hot context for what the call shows. */
export function readHot(of: string, call: string, ctx: EntityContext): void {
  ctx.send(l1At(of), { name: 'society/ReadL1@1', value: { call } }, refusedTo('hot', call));
}

export function openL1(
  { parent_entity_id, kind, display_name, public_key, declared }: EntityState,
  ctx: EntityContext,
): void {
  const agent_type = kind === 'person' ? null : kind;
  const identity = { display_name, public_key };
  const value = { parent_entity_id, agent_type, identity, capabilities: declared };
  ctx.send(l1At(idOf(ctx)), { name: 'society/OpenL1@1', value });
}

/** A hot context has answered: so has the call. */
export function l1Told(draft: EntityState, told: News<'society/L1Told@1'>, ctx: EntityContext): void {
  if (archiveTold(told, ctx)) return;
  if (told.wrote) return answerCall(draft, told.call, writtenAnswer(told), ctx);
  const answer = shownAnswer(told, ctx);
  // The contents can be erased: a prompt that linked them would show their salt. A model is shown numbers and names.
  const isModel = openCall(told.call, ctx)?.origin.kind === 'owner';
  answerCall(draft, told.call, isModel ? { value: answer.value } : answer, ctx);
}

function writtenAnswer({ code, refused, state: { version, chain } }: News<'society/L1Told@1'>): Answer {
  switch (code) {
    case null:
      return { value: { version, chain_hash: chain.hash } };
    case 'not_yours':
      return refusal(code, { fields: [...refused] });
    case 'too_large':
      return refusal(code, {
        bytes_max: L1_BYTES_MAX,
        hint: 'Store long texts by memory_write_warm, and name the item.',
      });
    default:
      return refusal(code, { version });
  }
}

/** Numbers and names as a value, contents by their links. */
function shownAnswer({ entity_id, state, capabilities }: News<'society/L1Told@1'>, ctx: EntityContext): Answer {
  const { version, updated_at, identity, parent_entity_id, agent_type, progress_ppm, chain, synced } = state;
  const refs = L1_FIELDS.flatMap((label) => {
    const part = state.fields[label];
    return part === null ? [] : [{ label, ref: part.ref }];
  });
  const before = Math.max(0, countsOf(ctx).next - 1 - QUEUE_EVENTS);
  const latest = fitting(eventsAfter(before, QUEUE_EVENTS, ctx), QUEUE_BYTES);
  const head = { entity_id, version, updated_at, identity, chain_hash: chain.hash, session_count: chain.count };
  const isShort = encode(capabilities).length <= CAPABILITIES_BYTES;
  const kind = { parent_entity_id, agent_type, ...(isShort ? { capabilities } : {}), progress_ppm };
  const agent = { ...kind, event_queue: entity_id === idOf(ctx) ? latest : [] };
  return { value: { ...head, ...present({ synced_hash: synced?.hash }), agent } as unknown as Value, refs };
}

/** Longer capabilities are read by `agent_capabilities`. */
const CAPABILITIES_BYTES = 1_024;

/** The bytes of the events that a hot context shows, and their number. */
const QUEUE_BYTES = 1_800;
const QUEUE_EVENTS = 8;
