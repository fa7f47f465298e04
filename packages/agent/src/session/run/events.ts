/** Watches sessions: events from durable frames, with small texts beside their links. */
import {
  type Address,
  type ArgumentCheck,
  aFlag,
  aSignal,
  checkOf,
  errorDetail,
  type KnownOptions,
  oneOf,
  type Ref,
  wholeFrom,
} from '@reprise/contracts';
import type { AwaitedCell, ContentReader, World, WorldFrame } from '@reprise/kernel';
import { getValue } from '@reprise/kernel/store';
import { readLlmOutput, readText } from '../../content/transcript.js';
import type { AgentEvent, AgentEventOf, Cursor, EventChannel } from '../../contracts/agent-event.js';
import { AgentEvents } from '../../timeline/agent-events.js';
import type { EventScope, Past } from '../../timeline/event-scope.js';
import { seenBy } from '../../timeline/seen-by.js';

/** The largest text that is put beside its link, in bytes of UTF-8. */
export const INLINE_BYTES_MAX = 8_192;

/** The options for watching events. */
export interface WatchOptions {
  /** The first event yielded is the one behind this. */
  readonly after?: Cursor;
  /** `operator` (default) shows everything; `model` shows the conversation. */
  readonly channel?: EventChannel;
  /** The largest text that is put beside its link, in bytes; 8 KiB when absent, 0 for none. */
  readonly inline?: number;
  /** Aborting it stops the watching. */
  readonly signal?: AbortSignal;
  /** `false` ends with the events that are durable now; `true`, the default, continues with later ones. */
  readonly follow?: boolean;
}

/** The names of the options for watching events. */
export const WATCH_OPTIONS: KnownOptions<WatchOptions> = {
  after: true,
  channel: oneOf('operator', 'model'),
  inline: wholeFrom(0),
  signal: aSignal,
  follow: aFlag,
};

/** An event that is made beside those of sessions: it states the place of its record. */
export interface PlacedBeside {
  /** The number of its frame, and the place of its record there: `12.3`. */
  readonly event_seq: Cursor;
}

/** Makes further events of the frames of a watch. */
export interface BesideOptions<E extends PlacedBeside> {
  /** The events of a frame, in the order of their records; of a record that is an event of a session it makes none. */
  readonly beside: (frame: WorldFrame) => readonly E[];
}

/**
 * Yields events as they become durable, in the order of the journal, until the world closes or the caller stops. With
 * `follow: false` it ends with the frames that exist now. The same frames and options give the same events. With
 * `after` it begins at that event's frame and asks the views about earlier frames, so its cost depends on the frames it
 * reads, not on the age of the world.
 */
export async function* watch<E extends PlacedBeside = never>(
  world: Pick<World, 'frames' | 'content' | 'head'>,
  scope: EventScope,
  pastBefore: PastBefore,
  options: WatchOptions & Partial<BesideOptions<E>> = {},
): AsyncGenerator<AgentEvent | E> {
  const behind = cursorOf(options.after);
  const from = Math.max(0, behind[0]);
  const projection = await AgentEvents.from(scope, from === 0 ? undefined : await pastBefore(from));
  for await (const frame of framesOf(world, from, options)) {
    await projection.recall(frame);
    const besides = [...(options.beside?.(frame) ?? [])].filter(({ event_seq: at }) => isBehind(at, behind));
    for (const event of projection.project(frame)) {
      if (!isBehind(event.event_seq, behind)) continue;
      const place = cursorOf(event.event_seq);
      while (besides[0] !== undefined && !isBehind(besides[0].event_seq, place)) yield besides.shift() as E;
      const shown = await shownEvent(world.content, event, options);
      if (shown !== undefined) yield shown;
    }
    yield* besides;
  }
}

/** What is known of the frames before one. */
export type PastBefore = (frame: number) => Promise<Past>;

/**
 * The durable frames from one on: all future ones too, or only those that exist.
 *
 * @param awaited cells whose failure ends the wait for future ones with `cell_failed`
 */
export function framesOf(
  world: Pick<World, 'frames' | 'head'>,
  from: number,
  { follow = true, signal }: Pick<WatchOptions, 'follow' | 'signal'>,
  awaited?: readonly (Address | AwaitedCell)[],
): AsyncGenerator<WorldFrame> {
  return follow ? world.frames(from, signal, awaited) : existingFrames(world, from, signal);
}

async function* existingFrames(
  world: Pick<World, 'frames' | 'head'>,
  from: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<WorldFrame> {
  const last = world.head.seq;
  if (from > last) return;
  for await (const frame of world.frames(from, signal, [])) {
    yield frame;
    if (frame.seq >= last) return;
  }
}

/** An event as a channel shows it; undefined when the channel hides it. At once where no text stands beside a link. */
export function shownEvent(
  content: ContentReader,
  event: AgentEvent,
  { channel = 'operator', inline = INLINE_BYTES_MAX }: WatchOptions,
): AgentEvent | undefined | Promise<AgentEvent> {
  const shown = seenBy(channel, event);
  return shown === undefined || inline === 0 ? shown : inlined(content, shown, inline);
}

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid cursor');
const CURSOR = /^\d+\.\d+$/;

/** The parts of a cursor. */
type Place = readonly [seq: number, record: number];

/**
 * Reads a cursor; without one, a place before all events.
 *
 * @throws RepriseError `invalid_argument` for anything else
 */
export function cursorOf(cursor: Cursor | undefined): Place {
  if (cursor === undefined) return [-1, -1];
  require(typeof cursor === 'string' && CURSOR.test(cursor), 'after', 'the `event_seq` of an event', cursor);
  const [seq, record] = cursor.split('.').map(Number);
  return [seq ?? -1, record ?? -1];
}

/** Whether an event comes after a place. */
export function isBehind(cursor: Cursor, [seq, record]: Place): boolean {
  const [own, index] = cursorOf(cursor);
  return own > seq || (own === seq && index > record);
}

/** Puts a text beside its link when it is small; erased content stays a link. */
async function inlined(content: ContentReader, event: AgentEvent, max: number): Promise<AgentEvent> {
  const shown = await withTexts(content, event, max);
  if (!('error_ref' in shown) || shown.error_ref === undefined) return shown;
  const error = errorDetail.safeParse(await valueAt(content, shown.error_ref, max)).data;
  return error === undefined ? shown : { ...shown, error };
}

async function withTexts(content: ContentReader, event: AgentEvent, max: number): Promise<AgentEvent> {
  switch (event.type) {
    case 'input.accepted':
      return event.ref === null ? event : withText(event, max, textAt(content, event.ref));
    case 'tool.completed':
    case 'tool.failed':
    case 'toolset.unreachable':
      return event.ref === undefined ? event : withText(event, max, textAt(content, event.ref));
    case 'llm_step.completed':
      return withAnswer(content, event, max);
    case 'context.compacted':
      return withText(event, max, spokenAt(content, event.ref));
    case 'child.ended':
      return event.ref === undefined ? event : withText(event, max, spokenAt(content, event.ref));
    case 'command.accepted': {
      const reason = event.reason_ref === undefined ? undefined : await textAt(content, event.reason_ref);
      if (reason !== undefined && fits(reason, max)) return { ...event, reason };
      return event.ref === undefined ? event : withText(event, max, textAt(content, event.ref));
    }
    case 'human.resolved': {
      const reason = event.ref === undefined ? undefined : await textAt(content, event.ref);
      return reason !== undefined && fits(reason, max) ? { ...event, reason } : event;
    }
    case 'tool.requested': {
      const args = await valueAt(content, event.ref, max);
      return args === undefined ? event : { ...event, args };
    }
    case 'human.requested': {
      if (event.ref === undefined) return event;
      const value = await valueAt(content, event.ref, max);
      return value === undefined ? event : { ...event, value };
    }
    default:
      return event;
  }
}

/** An answer with the model's text and reasoning. */
async function withAnswer(content: ContentReader, event: AgentEventOf<'llm_step.completed'>, max: number) {
  const output = await readLlmOutput(content, event.ref).catch(() => undefined);
  const thoughts = (output?.opaque ?? []).flatMap(({ kind, text }) => (kind === 'reasoning' ? (text ?? []) : []));
  const reasoning = thoughts.join('');
  return {
    ...event,
    ...(output?.text !== undefined && fits(output.text, max) ? { text: output.text } : {}),
    ...(reasoning !== '' && fits(reasoning, max) ? { reasoning } : {}),
  };
}

function fits(text: string, max: number): boolean {
  return bytesOf(text) <= max;
}

async function withText<E extends AgentEvent>(event: E, max: number, text: Promise<string | undefined>): Promise<E> {
  const found = await text;
  if (found === undefined || !fits(found, max)) return event;
  return { ...event, text: found };
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function textAt(content: ContentReader, ref: Ref): Promise<string | undefined> {
  return readText(content, ref).catch(() => undefined);
}

async function spokenAt(content: ContentReader, ref: Ref): Promise<string | undefined> {
  return readLlmOutput(content, ref).then(
    ({ text }) => text,
    () => undefined,
  );
}

async function valueAt(content: ContentReader, ref: Ref, max: number) {
  const bytes = await content.get(ref).catch(() => undefined);
  if (bytes === undefined || bytes.length > max) return undefined;
  return getValue(content, ref).catch(() => undefined);
}
