/**
 * Arguments as a client writes them, and as an entity takes them: what does not follow from the statement of a tool. The id
 * that a caller names is the id of the call; what a call makes has ids that follow from it and the entity (encode/N2).
 */
import type { Value, ValueMap } from '@reprise/contracts';
import { type ContentStore, encode, portableSha256, putErasable, toHex } from '@reprise/kernel';
import { keptCall } from '@reprise/org';
import { inMillionths } from '@reprise/org/contracts';
import { SOCIETY_TOOLS, type SocietyToolName } from '../pure/index.js';
import type { ToolArgs } from '../wire/index.js';

/** The arguments of a tool, which may name the call. */
export interface CalledWith {
  readonly command_id?: string;
  readonly [name: string]: unknown;
}

/** What the arguments of a call are kept with: the entity that calls, and the id of the call. */
interface Keeper {
  readonly content: ContentStore;
  readonly entity: string;
  readonly id: string;
}

/** The arguments that an entity takes for those of a client. */
export async function keptArgs(tool: SocietyToolName, args: CalledWith, keeper: Keeper): Promise<ValueMap> {
  const kept = await keptCall(SOCIETY_TOOLS[tool].args.shape, args, keeper.content);
  return { ...kept, ...(await addedTo(tool, args, keeper)) };
}

/** The fields that code makes of the arguments of a tool. */
export async function addedTo(tool: SocietyToolName, args: CalledWith, keeper: Keeper): Promise<ValueMap> {
  return (await ADDS[tool]?.(args as never, keeper)) ?? {};
}

type Adds<T extends SocietyToolName> = (args: ToolArgs<T>, keeper: Keeper) => ValueMap | Promise<ValueMap>;

const ADDS: { readonly [T in SocietyToolName]?: Adds<T> } = {
  swarm_create: ({ swarm_id, budget_usd }, { entity, id }) => ({
    swarm_id: swarm_id ?? swarmIdOf(entity, id),
    ...(budget_usd === undefined ? {} : { budget_micro_money: Math.ceil(budget_usd * MILLION) }),
  }),
  memory_write_hot: async ({ patch }, { content }) => ({ patch: await hotPatch(patch, content) }),
  memory_assess: async ({ evidence_ref }, { content }) =>
    evidence_ref === undefined ? {} : { evidence_ref: await putErasable(content, encoder.encode(evidence_ref)) },
  memory_read_warm: ({ after }): ValueMap => (after === undefined ? {} : { after: Number(after) }),
};

const MILLION = 1_000_000;
const encoder = new TextEncoder();

/** The id of the swarm that an entity creates by a call which names none. */
function swarmIdOf(entity: string, id: string): string {
  return `swarm-${toHex(portableSha256(encode([entity, id]))).slice(0, 32)}`;
}

/** The fields of a hot context as they are kept; what the caller may not write is named, and refused by the entity. */
async function hotPatch(
  { agent = {}, identity, ...patch }: ToolArgs<'memory_write_hot'>['patch'],
  content: ContentStore,
): Promise<ValueMap> {
  const { task: { progress, ...task } = {}, working_memory, ...stated } = agent;
  const parts = Object.entries({ ...patch, ...task, working_memory }).filter(([, part]) => part !== undefined);
  const kept = parts.map(async ([name, part]) => [name, part === null ? null : await jsonPart(part, content)]);
  const refused = [
    ...(identity === undefined ? [] : ['identity']),
    ...Object.keys(stated).map((name) => `agent.${name}`),
  ];
  return {
    ...Object.fromEntries(await Promise.all(kept)),
    ...(progress === undefined ? {} : { progress_ppm: progress === null ? null : inMillionths(progress) }),
    ...(refused.length === 0 ? {} : { refused }),
  };
}

async function jsonPart(part: unknown, content: ContentStore): Promise<Value> {
  const bytes = encoder.encode(JSON.stringify(part));
  return { ref: await putErasable(content, bytes), bytes: bytes.length };
}
