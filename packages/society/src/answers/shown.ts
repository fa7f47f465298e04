/** Answers of an entity as clients read them: links become texts, millionths fractions, and times texts in UTC. */

import { isRef, parseOwnJson, present, type Ref, type Value, type ValueMap } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { readItemText } from '@reprise/org';
import { SOCIETY_TOOLS, type SocietyToolName } from '../pure/index.js';
import { timeOf } from '../pure/reducer/call/time.js';
import type { ToolAnswer } from '../wire/index.js';
import { readComposed, withWords, wordsOf } from './words.js';

/** An answer of an entity, as far as it is shown. */
interface ToShow {
  readonly value: Value;
  readonly refs: readonly { readonly label: string; readonly ref: Ref }[];
}

/** The texts of an answer by the labels of their links; null for one that was erased. */
type Texts = ReadonlyMap<string, string | null>;

async function textsOf(tool: SocietyToolName, refs: ToShow['refs'], content: ContentReader): Promise<Texts> {
  // The texts of hot contexts can be erased; those of the others were composed.
  const read = tool === 'memory_read_hot' ? readItemText : readComposed;
  const texts = refs.map(async ({ label, ref }) => [label, await read(content, ref)] as const);
  return new Map(await Promise.all(texts));
}

/** The answer of a tool in the form of its schema, with the texts that it links. */
export async function shownAnswer<T extends SocietyToolName>(
  tool: T,
  { value, refs }: ToShow,
  content: ContentReader,
): Promise<ToolAnswer<T> & Value> {
  const texts = await textsOf(tool, refs, content);
  const shown = (await SHOWN[tool]?.(value as ValueMap, texts, content)) ?? (value as ValueMap);
  const { shape } = SOCIETY_TOOLS[tool].answer;
  const stated = Object.entries(shown).filter(([key, part]) => key in shape && part !== undefined);
  return Object.fromEntries(stated) as ToolAnswer<T> & ValueMap;
}

/** A refusal: its code is under `error`, as in a denial. */
export function shownRefusal(value: Value): Value {
  const { code, ...rest } = value as ValueMap & { readonly code?: Value };
  return code === undefined ? value : { error: code, ...rest };
}

const MILLION = 1_000_000;

function part(ppm: Value | undefined): number | null {
  return typeof ppm === 'number' ? ppm / MILLION : null;
}

function time(at: Value | undefined): string | null {
  return typeof at === 'number' ? timeOf(at) : null;
}

type Show = (value: ValueMap, texts: Texts, content: ContentReader) => ValueMap | Promise<ValueMap>;

const SHOWN: Readonly<Partial<Record<SocietyToolName, Show>>> = {
  memory_read_hot: hotContext,
  memory_read_warm: async ({ items, next, ...staging }, _, content) => ({
    ...staging,
    items: await Promise.all((items as readonly ValueMap[]).map((item) => itemOf(item, content))),
    ...(next === undefined ? {} : { next: String(next) }),
  }),
  memory_search: ({ items, withheld }, texts) => ({
    items: items as Value,
    texts: [...texts].map(([store, text]) => ({ store, text: text ?? '' })),
    withheld: withheld as Value,
  }),
  memory_assess: ({ accuracy_ppm, score_ppm, window_start, window_end, last_updated, ...rest }) => ({
    ...rest,
    accuracy: part(accuracy_ppm),
    score: part(score_ppm),
    window_start: time(window_start),
    window_end: time(window_end),
    last_updated: time(last_updated),
  }),
  events_poll: ({ events, ...rest }) => ({ ...rest, events: (events as readonly ValueMap[]).map(eventOf) }),
  swarm_status: async ({ results, synthesis, from, ...rest }, texts, content) => {
    const words = await withWords(results as readonly ValueMap[], from as number | undefined, content);
    const shown = { ...rest, ...present({ goal: texts.get('goal') ?? undefined }), results: words };
    if (synthesis === undefined) return shown as ValueMap;
    const { link, kind } = synthesis as ValueMap;
    const text = await wordsOf({ link, kind } as ValueMap, content);
    return { ...shown, synthesis: { text, ref: String(link) } } as ValueMap;
  },
  swarm_task: async ({ reports, ...rest }, _, content) => ({
    ...rest,
    ...(reports === undefined ? {} : { reports: await withWords(reports as readonly ValueMap[], undefined, content) }),
  }),
};

async function itemOf(item: ValueMap, content: ContentReader): Promise<Value> {
  const { link, confidence_ppm, subject_key, created_at, expires_at, ...rest } = item;
  return {
    ...rest,
    content: isRef(link) ? await readItemText(content, link) : null,
    ...(typeof confidence_ppm === 'number' ? { confidence: confidence_ppm / MILLION } : {}),
    ...(typeof subject_key === 'string' ? { subject_key } : {}),
    created_at: time(created_at),
    expires_at: time(expires_at),
  };
}

/** An event of an inbox, as it is pushed and polled. */
export function eventOf({ n, event, payload, at }: ValueMap): Value {
  const { old_score, new_score, ...rest } = payload as ValueMap;
  const scores = typeof new_score === 'number' ? { old_score: part(old_score), new_score: part(new_score) } : {};
  return { n: n as Value, event: event as Value, payload: { ...rest, ...scores }, timestamp: time(at) };
}

function hotContext(value: ValueMap, texts: Texts): ValueMap {
  const { updated_at, agent, ...numbers } = value;
  const { capabilities = {}, progress_ppm, event_queue, ...kind } = agent as ValueMap;
  const json = (...labels: string[]): ValueMap =>
    Object.fromEntries(labels.map((label) => [label, parseOwnJson(texts.get(label) ?? 'null') as Value]));
  const task = { ...json('goal', 'context', 'findings'), progress: part(progress_ppm) };
  const events = (event_queue as readonly ValueMap[]).map(eventOf);
  return {
    ...numbers,
    updated_at: time(updated_at),
    ...json('active', 'prefs', 'delegation', 'ephemeral'),
    agent: { ...kind, capabilities, task, ...json('working_memory'), event_queue: events },
  };
}
