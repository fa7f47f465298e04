/** Answers of an entity as clients read them: links become texts, millionths fractions, and times texts in UTC. */
import { readText } from '@reprise/agent';
import { isRepriseError, type Ref, type Value, type ValueMap } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { readItemText } from '@reprise/memory';
import { timeOf } from '../pure/reducer/time.js';
import { SOCIETY_TOOLS, type SocietyToolName } from '../wire/index.js';

/** The texts of an answer by the labels of their links; null for one that was erased. */
type Texts = ReadonlyMap<string, string | null>;

/** The tools whose texts are items or hot contexts: content that can be erased. Those of the others were composed. */
const ERASABLE: ReadonlySet<SocietyToolName> = new Set(['memory_read_hot', 'memory_read_warm']);

/** Reads the texts that an answer links. */
export async function textsOf(
  tool: SocietyToolName,
  refs: readonly { readonly label: string; readonly ref: string }[],
  content: ContentReader,
): Promise<Texts> {
  const read = ERASABLE.has(tool) ? readItemText : readComposed;
  const texts = refs.map(async ({ label, ref }) => [label, await read(content, ref as unknown as Ref)] as const);
  return new Map(await Promise.all(texts));
}

async function readComposed(content: ContentReader, ref: Ref): Promise<string | null> {
  try {
    return await readText(content, ref);
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return null;
    throw error;
  }
}

/** The answer of a tool in the form of its schema: what the schema does not know is left out. */
export function shownAnswer(tool: SocietyToolName, value: Value, texts: Texts): Value {
  const shown = SHOWN[tool]?.(value as ValueMap, texts) ?? (value as ValueMap);
  const { shape } = SOCIETY_TOOLS[tool].output;
  return Object.fromEntries(Object.entries(shown).filter(([key, part]) => key in shape && part !== undefined));
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

const SHOWN: Readonly<Partial<Record<SocietyToolName, (value: ValueMap, texts: Texts) => ValueMap>>> = {
  memory_read_hot: hotContext,
  memory_read_warm: ({ items, next, ...staging }, texts) => ({
    ...staging,
    items: (items as readonly ValueMap[]).map((item) => itemOf(item, texts)),
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
  swarm_status: ({ synthesis, ...rest }, texts) => ({
    ...rest,
    ...(synthesis === undefined
      ? {}
      : { synthesis: { ...(synthesis as ValueMap), text: texts.get('synthesis') ?? null } }),
  }),
};

function itemOf(item: ValueMap, texts: Texts): Value {
  const { item_id, confidence_ppm, subject_key, created_at, expires_at, ...rest } = item;
  return {
    ...rest,
    item_id: item_id as Value,
    content: texts.get(String(item_id).slice(-64)) ?? null,
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
  const { version, updated_at, identity, chain_hash, session_count, synced_hash, agent } = value;
  const { parent_entity_id, agent_type, capabilities, progress_ppm, event_queue } = agent as ValueMap;
  const json = (label: string): Value => JSON.parse(texts.get(label) ?? 'null') as Value;
  const task = {
    goal: json('goal'),
    context: json('context'),
    progress: part(progress_ppm),
    findings: json('findings'),
  };
  const fields = ['active', 'prefs', 'delegation', 'ephemeral'].map((name) => [name, json(name)]);
  return {
    version: version as Value,
    updated_at: time(updated_at),
    identity: identity as Value,
    ...Object.fromEntries(fields),
    agent: {
      parent_entity_id: parent_entity_id as Value,
      agent_type: agent_type as Value,
      capabilities: capabilities ?? {},
      task,
      working_memory: json('working_memory'),
      event_queue: (event_queue as readonly ValueMap[]).map(eventOf),
    },
    chain_hash: chain_hash as Value,
    session_count: session_count as Value,
    ...(synced_hash === undefined ? {} : { synced_hash }),
  };
}
