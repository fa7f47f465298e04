/**
 * Finds acts in a history: the calls, answers, results and messages that a person may name by a file, an id, a place, a
 * digest or a piece of text.
 */

import type { Ref } from '@reprise/contracts';
import { aText, type KnownOptions, requireArgument, requireKnownOptions, requireMethods } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import type { AgentEvent, Cursor } from '../contracts/agent-event.js';
import { AgentEvents } from '../timeline/agent-events.js';
import type { EventFrame } from '../timeline/event-frame.js';
import { filesOf, type OpenEffect, OpenEffects } from './effects.js';
import { answerText, argsText } from './event-words.js';
import { messageText, type Sent, sentIn } from './messages.js';
import { indexOf, runOf } from './places.js';
import type { HistorySource } from './source.js';
import { amount, textAt } from './words.js';

/** An act that can be explained. */
export interface Act {
  readonly kind: 'message' | 'answer' | 'call' | 'result';
  readonly place: Cursor;
  readonly at: number;
  readonly session: string;
  /** The number of its run; null for a message that waits. */
  readonly run: number | null;
  readonly step_id?: string;
  readonly call_id?: string;
  readonly tool?: string;
  /** The file that the call changed, and the link of its new content; null when the file was removed. */
  readonly file?: { readonly path: string; readonly after: Ref | null };
  /** Of an act that was found by its text: the text around it. */
  readonly excerpt?: string;
}

/** How the user names an act. */
export type Naming = 'place' | 'call' | 'file' | 'content' | 'text';

/** The acts that were found. */
export interface Found {
  /** How the words were understood; undefined when nothing was found. */
  readonly as: Naming | undefined;
  /** The acts, oldest first; when there are too many, the first ones. */
  readonly acts: readonly Act[];
  /** The number of all acts that were found. */
  readonly total: number;
  /** Of a file: the earlier changes of the same file, the last ones when there are many. */
  readonly earlier?: readonly Act[];
  /** What was searched, in words. */
  readonly searched: string;
  /** The number of sessions that were searched. */
  readonly sessions: number;
}

/** The options of a search. */
export interface FindOptions {
  /** How the words are meant; tried in the order of {@link Naming} when absent. */
  readonly as?: Naming;
  /** The key of a session: only its acts, not those of others. */
  readonly session?: string;
}

const FIND_OPTIONS: KnownOptions<FindOptions> = { as: aText, session: aText };

/** The most acts that a search returns. */
const ACTS_MAX = 20;

/**
 * Finds the acts that some words name. Reads the journal once without content, up to the frame of a place that is found, and
 * once more with content when nothing else than a text was found. Memory is bounded.
 *
 * @param words a place (`12.3`), the id of a call or its beginning, the path of a file, a digest, a piece of text; empty
 *   for the last call
 */
export async function findActs(source: HistorySource, words: string, options: FindOptions = {}): Promise<Found> {
  requireMethods(source, ['frames'], 'findActs(source)', 'a history, from historyOf(world.kernel)');
  requireArgument(typeof words === 'string', 'findActs(words)', 'text; an empty one for the last call', words);
  requireKnownOptions(options, FIND_OPTIONS, 'findActs');
  const { as } = options;
  const counts = { frames: 0, sessions: new Set<string>(), calls: 0 };
  if (as !== 'text') {
    const found = await namedActs(source, words, options, counts);
    if (found !== undefined) return { ...found, ...searchedIn(counts, false) };
    if (as !== undefined) return { as: undefined, acts: [], total: 0, ...searchedIn(counts, false) };
  }
  const texts = new Kept();
  if (words !== '')
    for await (const { act, text, frame } of actsOf(source, options.session)) {
      counts.frames = frame + 1;
      counts.sessions.add(act.session);
      const found = await text(source.content);
      const at = found.indexOf(words);
      if (at !== -1) texts.add({ ...act, excerpt: around(found, at, words.length) });
    }
  const { acts, total } = texts;
  return { as: total === 0 ? undefined : 'text', acts, total, ...searchedIn(counts, true) };
}

/** The first acts, and the number of all. */
class Kept {
  readonly acts: Act[] = [];
  total = 0;

  add(act: Act): void {
    this.total++;
    if (this.acts.length < ACTS_MAX) this.acts.push(act);
  }
}

class Last {
  readonly acts: Act[] = [];

  add(act: Act): void {
    this.acts.push(act);
    if (this.acts.length > ACTS_MAX) this.acts.shift();
  }
}

type Counts = { frames: number; readonly sessions: Set<string>; calls: number };

function searchedIn({ frames, sessions, calls }: Counts, isText: boolean): Pick<Found, 'searched' | 'sessions'> {
  const where = `${amount(frames, 'frame')}, ${amount(sessions.size, 'session')}`;
  const searched = isText
    ? `the messages, answers, arguments and results of ${where}`
    : `${amount(calls, 'call')} and the files they changed, in ${where}`;
  return { searched, sessions: sessions.size };
}

/** What was found, without where. */
type Named = Omit<Found, 'searched' | 'sessions'>;

/** Acts by place, id, path or digest. */
async function namedActs(
  source: HistorySource,
  words: string,
  { as, session }: FindOptions,
  counts: Counts,
): Promise<Named | undefined> {
  const place = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(words);
  const digest = /^(?:sha256:)?([0-9a-f]{8,64})(?:…|\.\.\.)?$/i.exec(words)?.[1]?.toLowerCase();
  const path = pathOf(words);
  const [exact, prefixed, atPlace, linked, near] = [new Kept(), new Kept(), new Kept(), new Kept(), new Kept()];
  const written = new Last();
  let last: Act | undefined;
  for await (const { act, frame, effect, refs } of actsOf(source, session)) {
    if (place !== null && atPlace.total > 0 && frame > Number(place[1])) break; // a place comes before any other meaning
    counts.frames = frame + 1;
    counts.sessions.add(act.session);
    if (act.kind === 'call') counts.calls++;
    if (act.kind === 'call' && words === '') last = act;
    if (place !== null && isAt(act, place)) atPlace.add(act);
    if (act.kind === 'call' && words !== '' && act.call_id === words) exact.add(act);
    else if (act.kind === 'call' && words.length >= 4 && act.call_id?.startsWith(words) === true) prefixed.add(act);
    if (digest !== undefined && refs.some(({ hex }) => hex.startsWith(digest))) linked.add(act);
    if (digest !== undefined && effect?.startsWith(digest) === true && act.kind === 'result') prefixed.add(act);
    if (act.file !== undefined && path !== '') {
      const known = pathOf(act.file.path);
      if (known === path || path.endsWith(`/${known}`)) written.add(act);
      else if (known.endsWith(`/${path}`)) near.add(act);
    }
  }
  const one = (naming: Naming, acts: Kept): Named | undefined =>
    acts.total === 0 || (as !== undefined && as !== naming)
      ? undefined
      : { as: naming, acts: acts.acts, total: acts.total };
  const single = (naming: Naming, act: Act | undefined, earlier: readonly Act[] = []) =>
    act === undefined || (as !== undefined && as !== naming)
      ? undefined
      : { as: naming, acts: [act], total: 1, earlier };
  return (
    single('call', last) ??
    one('place', atPlace) ??
    one('call', exact) ??
    one('call', prefixed) ??
    single('file', written.acts.at(-1), written.acts.slice(0, -1)) ??
    one('file', lastOfEach(near)) ??
    one('content', linked)
  );
}

/** The last change of each file. */
function lastOfEach({ acts }: Kept): Kept {
  const files = new Map(acts.map((act) => [act.file?.path, act]));
  const kept = new Kept();
  for (const act of files.values()) kept.add(act);
  return kept;
}

function isAt({ place }: Act, [, seq, i]: RegExpExecArray): boolean {
  return i === undefined ? place.startsWith(`${seq}.`) : place === `${seq}.${i}`;
}

/** A path without `./` and doubled slashes. */
function pathOf(words: string): string {
  return words
    .replaceAll('\\', '/')
    .replace(/\/+/g, '/')
    .replace(/^(?:\.\/)+/, '');
}

const AROUND_UNITS = 60;

function around(text: string, at: number, length: number): string {
  const [from, to] = [Math.max(0, at - AROUND_UNITS), at + length + AROUND_UNITS];
  return `${from === 0 ? '' : '…'}${text.slice(from, to)}${to >= text.length ? '' : '…'}`;
}

/** An act of a frame, and what it can be found by. */
interface Candidate {
  readonly act: Act;
  readonly frame: number;
  /** The effect that executed the call. */
  readonly effect?: string;
  /** The content that it links. */
  readonly refs: readonly Ref[];
  /** The text that it brought. */
  text(content: ContentReader): Promise<string>;
}

/** Every act of a history, in order. A call that changed several files is one result for each. */
async function* actsOf(source: HistorySource, session: string | undefined): AsyncGenerator<Candidate> {
  const events = new AgentEvents(session === undefined ? {} : { sessions: [session] });
  const effects = new OpenEffects();
  for await (const frame of source.frames()) {
    const sent = new Map(sentIn(frame).map((one) => [one.i, one]));
    const made = new Map(events.project(frame).map((event) => [indexOf(event), event]));
    let settled: OpenEffect | undefined;
    for (const [i, record] of frame.records.entries()) {
      const effect = effects.take(record);
      if (record.kind === 'receipt') settled = effect;
      const one = sent.get(i);
      if (one !== undefined && one.parts.length > 0 && (session === undefined || one.session === session))
        yield ofMessage(one, frame, i, [...made.values()]);
      const event = made.get(i);
      if (event !== undefined) yield* ofEvent(event, frame, settled);
    }
  }
}

function ofMessage(sent: Sent, { seq, at }: EventFrame, i: number, events: readonly AgentEvent[]): Candidate {
  const fate = events.find((event) => 'command_id' in event && event.command_id === sent.command_id);
  const refs = sent.parts.map((part) =>
    part.kind === 'text' ? part.text_ref : part.kind === 'blob' ? part.blob_ref : part.output_ref,
  );
  const act: Act = {
    kind: 'message',
    place: `${seq}.${i}`,
    at,
    session: sent.session,
    run: fate === undefined ? null : runOf(fate),
  };
  return { act, frame: seq, refs, text: (content) => messageText(content, sent.parts) };
}

function* ofEvent(event: AgentEvent, frame: EventFrame, settled: OpenEffect | undefined): Generator<Candidate> {
  const { event_seq: place, at, session_id: session, step_id } = event;
  const base = { place, at, session, run: runOf(event), ...(step_id === null ? {} : { step_id }) };
  switch (event.type) {
    case 'llm_step.completed': {
      const text = async (content: ContentReader) => (await answerText(content, event.ref)) ?? '';
      yield { act: { ...base, kind: 'answer' }, frame: frame.seq, refs: [event.ref], text };
      return;
    }
    case 'tool.requested': {
      const { call_id, tool, ref } = event;
      const act: Act = { ...base, kind: 'call', call_id, tool };
      yield { act, frame: frame.seq, refs: [ref], text: (content) => argsText(content, ref) };
      return;
    }
    case 'tool.completed':
    case 'tool.failed':
      yield* ofResult(event, { ...base, kind: 'result', call_id: event.call_id, tool: event.tool }, frame, settled);
      return;
    default:
      return;
  }
}

function* ofResult(
  event: Extract<AgentEvent, { type: 'tool.completed' | 'tool.failed' }>,
  act: Act,
  { seq, records: [record] }: EventFrame,
  settled: OpenEffect | undefined,
): Generator<Candidate> {
  const { ref } = event;
  const isOwn = settled?.call_id === event.call_id && settled.session === event.session_id;
  const effect = isOwn ? { effect: settled.effect } : {};
  const refs = [event.ref, event.operator_ref].filter((link) => link !== undefined);
  const text = async (content: ContentReader) => (ref === undefined ? '' : ((await textAt(content, ref)) ?? ''));
  const changes = isOwn && record !== undefined ? filesOf(record).changes : [];
  const [first, ...others] = changes.map(({ path, after_ref }) => ({ path, after: after_ref }));
  const linked = (file: typeof first) => (file?.after == null ? [] : [file.after]);
  yield {
    act: first === undefined ? act : { ...act, file: first },
    frame: seq,
    refs: [...refs, ...linked(first)],
    text,
    ...effect,
  };
  for (const file of others)
    yield { act: { ...act, file }, frame: seq, refs: linked(file), text: async () => '', ...effect };
}

/** The call that sent a message to a child session. */
export async function callOf(
  source: HistorySource,
  { session, call_id }: { readonly session: string; readonly call_id: string },
): Promise<Act | undefined> {
  for await (const { act } of actsOf(source, session))
    if (act.kind === 'call' && act.session === session && act.call_id === call_id) return act;
  return undefined;
}
