/**
 * Arguments as a client writes them, and as an entity takes them: texts are stored as content that can be erased, and
 * only their links enter the journal; fractions are whole numbers of millionths.
 */
import type { Ref, Value, ValueMap } from '@reprise/contracts';
import { type ContentStore, putErasable } from '@reprise/kernel';
import { keepText } from '@reprise/org';
import { TOOL_TEXTS } from '../pure/contracts/call/links.js';

const encoder = new TextEncoder();

/** What the arguments of a call are kept with. */
interface Keeper {
  readonly content: ContentStore;
  /** The id of the swarm that a call makes without naming one. */
  readonly swarm: string;
}

type Change = (args: ValueMap, keeper: Keeper) => Promise<Record<string, Value | undefined>>;

/** The arguments that an entity takes for those of a client, without their `command_id`. */
export async function keptArgs(tool: string, args: ValueMap, keeper: Keeper): Promise<ValueMap> {
  const { command_id: _, ...rest } = args as ValueMap & { readonly command_id?: Value };
  const texts = await linked(rest, keeper, TOOL_TEXTS[tool] ?? {});
  const changed = (await CHANGES[tool]?.(rest, keeper)) ?? {};
  return defined({ ...rest, ...texts, ...changed });
}

const CHANGES: Readonly<Record<string, Change>> = {
  swarm_create: manifest,
  memory_write_hot: async ({ patch }, keeper) => ({ patch: await hotPatch(patch as ValueMap, keeper) }),
  memory_write_warm: item,
  memory_assess: async ({ evidence_ref }, { content }) =>
    typeof evidence_ref === 'string' ? { evidence_ref: await putErasable(content, encoder.encode(evidence_ref)) } : {},
  agent_return: async ({ memories }, keeper) => ({
    memories: await Promise.all(
      (memories as readonly ValueMap[]).map(async (one) => defined({ ...one, ...(await item(one, keeper)) })),
    ),
  }),
  memory_read_warm: async ({ after }) => ({ after: after === undefined ? undefined : Number(after) }),
};

/** Takes texts out of arguments, and puts their links in. */
async function linked(
  args: ValueMap,
  { content }: Keeper,
  texts: Readonly<Record<string, 'plain' | 'salted'>>,
): Promise<Record<string, Value | undefined>> {
  const changed: Record<string, Value | undefined> = {};
  for (const [name, kind] of Object.entries(texts)) {
    const text = args[name];
    if (typeof text !== 'string') continue;
    const put = kind === 'plain' ? putPlain : putErasable;
    changed[name] = undefined;
    changed[`${name}_ref`] = await put(content, encoder.encode(text));
  }
  return changed;
}

function putPlain(content: ContentStore, bytes: Uint8Array): Promise<Ref> {
  return content.put(bytes);
}

async function item(
  { content: text, confidence }: ValueMap,
  { content }: Keeper,
): Promise<Record<string, Value | undefined>> {
  const whole = typeof text === 'string' ? text : '';
  return { content: undefined, ...(await keepText(content, whole)), ...inMillionths('confidence', confidence) };
}

function inMillionths(name: string, part: Value | undefined): Record<string, Value | undefined> {
  return typeof part === 'number' ? { [name]: undefined, [`${name}_ppm`]: Math.round(part * MILLION) } : {};
}

const MILLION = 1_000_000;

async function manifest(args: ValueMap, keeper: Keeper): Promise<Record<string, Value | undefined>> {
  const { swarm_id, agents, budget_usd } = args;
  const slots = (agents as readonly ValueMap[]).map(async (slot) =>
    defined({ ...slot, ...(await linked(slot, keeper, { task: 'plain' })) }),
  );
  return {
    swarm_id: swarm_id ?? keeper.swarm,
    agents: await Promise.all(slots),
    budget_usd: undefined,
    ...(typeof budget_usd === 'number' ? { budget_micro_money: Math.ceil(budget_usd * MILLION) } : {}),
  };
}

/** The fields of a hot context as they are kept; what the caller may not write is named, and refused by the entity. */
async function hotPatch({ agent = {}, ...patch }: ValueMap, keeper: Keeper): Promise<Value> {
  const { task = {}, working_memory, ...stated } = agent as ValueMap;
  const { progress, ...taskParts } = task as ValueMap;
  const { identity, ...parts } = {
    ...patch,
    ...taskParts,
    ...(working_memory === undefined ? {} : { working_memory }),
  } as ValueMap;
  const refused = [
    ...(identity === undefined ? [] : ['identity']),
    ...Object.keys(stated).map((name) => `agent.${name}`),
  ];
  const kept: Record<string, Value> = {};
  for (const [name, part] of Object.entries(defined(parts)))
    kept[name] = part === null ? null : await jsonPart(part as Value, keeper);
  return {
    ...kept,
    ...(progress === undefined
      ? {}
      : { progress_ppm: progress === null ? null : Math.round((progress as number) * MILLION) }),
    ...(refused.length === 0 ? {} : { refused }),
  };
}

async function jsonPart(part: Value, { content }: Keeper): Promise<Value> {
  const bytes = encoder.encode(JSON.stringify(part));
  return { ref: await putErasable(content, bytes), bytes: bytes.length };
}

function defined(values: Readonly<Record<string, Value | undefined>>): ValueMap {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as ValueMap;
}
