/** `memory_read_hot` and `memory_write_hot`: an entity and its own hot context, or that of an agent that it made. */
import type { Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel/codec';
import type { ReducerContext } from '@reprise/kernel/define';
import { type EntityState, L1_BYTES_MAX, L1_FIELDS, type L1Told, l1At, memoryToolCalls } from '../contracts/index.js';
import { answerCall, openCall } from './answers.js';
import { archiveTold } from './archive.js';
import { waitsForNews } from './board-reading.js';
import { idOf, tableOf } from './entity-context.js';
import { fitting } from './fitting.js';
import { eventsAfter } from './inbox.js';
import { countsOf } from './member-context.js';
import { type Answer, isOfFailedCell, type Operations, operation, refusal } from './operations.js';

/** The operations on hot contexts. */
export const hotOperations: Operations = {
  memory_read_hot: operation(memoryToolCalls.memory_read_hot, {
    run: (draft: EntityState, { entity_id }, call, ctx) => {
      const of = entity_id ?? idOf(ctx);
      const isOwn = of === idOf(ctx);
      if (!isOwn && tableOf(ctx, 'children').get(of) === undefined) return refusal('agent_unknown');
      if (!isOwn || !waitsForNews(draft, call, ctx)) readHot(of, call, ctx);
      return undefined;
    },
  }),
  memory_write_hot: operation(memoryToolCalls.memory_write_hot, {
    run: (_draft: EntityState, { patch, expected_version }, call, ctx) => {
      ctx.send(l1At(idOf(ctx)), { name: 'society/WriteL1@1', value: { call, patch, expected_version } }, refused(call));
      return undefined;
    },
  }),
};

/** Asks a hot context for what the call shows. */
export function readHot(of: string, call: string, ctx: ReducerContext): void {
  ctx.send(l1At(of), { name: 'society/ReadL1@1', value: { call } }, refused(call));
}

const HOT_TAG = 'hot.';

function refused(call: string) {
  return { reply: 'refusal', tag: `${HOT_TAG}${call}` } as const;
}

/**
 * Takes the answer of a hot context that takes no such event.
 *
 * @param code why it was not delivered
 * @returns whether the tag was one of these operations'
 */
export function hotRefused(draft: EntityState, tag: string, code: string, ctx: ReducerContext): boolean {
  if (!tag.startsWith(HOT_TAG)) return false;
  const answer = isOfFailedCell(code) ? refusal('cell_failed', { cell: 'failed' }) : refusal('agent_unknown');
  answerCall(draft, tag.slice(HOT_TAG.length), answer, ctx);
  return true;
}

/** Opens the hot context of the entity, when it begins. */
export function openL1(
  { parent_entity_id, kind, display_name, public_key, declared }: EntityState,
  ctx: ReducerContext,
): void {
  const agent_type = kind === 'person' ? null : kind;
  const identity = { display_name, public_key };
  const value = { parent_entity_id, agent_type, identity, capabilities: declared };
  ctx.send(l1At(idOf(ctx)), { name: 'society/OpenL1@1', value });
}

/** Tells the hot context the capabilities that stand now. */
export function identifyL1({ declared }: EntityState, ctx: ReducerContext): void {
  ctx.send(l1At(idOf(ctx)), { name: 'society/IdentifyL1@1', value: { capabilities: declared } });
}

/** A hot context has answered: so has the call. */
export function l1Told(draft: EntityState, told: L1Told, ctx: ReducerContext): void {
  if (archiveTold(told, ctx)) return;
  if (told.wrote) return answerCall(draft, told.call, writtenAnswer(told), ctx);
  const answer = shownAnswer(told, ctx);
  // The contents can be erased: a prompt that linked them would show their salt. A model is shown numbers and names.
  const isModel = openCall(told.call, ctx)?.origin.kind === 'owner';
  answerCall(draft, told.call, isModel ? { value: answer.value } : answer, ctx);
}

function writtenAnswer({ code, refused, state: { version, chain } }: L1Told): Answer {
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
function shownAnswer({ entity_id, state, capabilities }: L1Told, ctx: ReducerContext): Answer {
  const { version, updated_at, identity, parent_entity_id, agent_type, progress_ppm, chain, synced } = state;
  const refs = L1_FIELDS.flatMap((label) => {
    const part = state.fields[label];
    return part === null ? [] : [{ label, ref: part.ref }];
  });
  const own = entity_id === idOf(ctx);
  const head = {
    entity_id,
    version,
    updated_at,
    identity,
    chain_hash: chain.hash,
    session_count: chain.count,
    ...(synced === null ? {} : { synced_hash: synced.hash }),
  };
  const agent = {
    parent_entity_id,
    agent_type,
    ...(encode(capabilities).length <= CAPABILITIES_BYTES ? { capabilities } : {}),
    progress_ppm,
    event_queue: own ? latestEvents(ctx) : [],
  };
  return { value: { ...head, agent } as unknown as Value, refs };
}

/** Longer capabilities are read by `agent_capabilities`. */
const CAPABILITIES_BYTES = 1_024;

/** The bytes of the events that a hot context shows, and their number. */
const QUEUE_BYTES = 1_800;
const QUEUE_EVENTS = 8;

function latestEvents(ctx: ReducerContext): readonly Value[] {
  const { next } = countsOf(ctx);
  return fitting(eventsAfter(Math.max(0, next - 1 - QUEUE_EVENTS), QUEUE_EVENTS, ctx), QUEUE_BYTES);
}
