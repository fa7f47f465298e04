/**
 * The one encoding of a call of a tool: by a method of a handle, by `use`, by a model and by a client of MCP.
 *
 * Invariants
 * N1  Arguments are parsed by the schema of the tool that clients are shown, which fills in its defaults.
 * N2  The id that a caller names is the id of the call; what a call makes has ids that follow from it and the entity.
 */

import { present, RepriseError, type Value, type ValueMap } from '@reprise/contracts';
import { type ContentStore, encode, portableSha256, putErasable, toHex } from '@reprise/kernel';
import { keptCall } from '@reprise/org';
import { inMillionths } from '@reprise/org/contracts';
import { SOCIETY_TOOLS, type SocietyToolName } from '../pure/index.js';
import type { ToolArgs } from '../wire/index.js';

/** Who calls, and under which id. */
interface Caller extends Omit<Keeper, 'id'> {
  /** The id that the caller names beside the arguments; those of a client outside and of a model name it in them. */
  readonly id?: string | undefined;
  /** The id of a call whose caller names none. */
  readonly otherwise?: string | undefined;
}

/** A call as its entity takes it, or the refusal of arguments that do not fit. */
type EncodedCall =
  | { readonly id: string; readonly name: string; readonly args: Value }
  | { readonly id: string; readonly refused: Value };

/** The problems of arguments that one refusal names. */
const PROBLEMS_MAX = 4;

/** Encodes a call of a tool. @throws RepriseError `invalid_argument` for two different ids of one call */
export async function encodeCall(name: string, args: unknown, caller: Caller): Promise<EncodedCall> {
  const { content, entity, otherwise = crypto.randomUUID() } = caller;
  if (!isTool(name)) return { id: caller.id ?? otherwise, refused: { code: 'unknown_tool', name } };
  const { args: schema } = SOCIETY_TOOLS[name];
  const parsed = schema.safeParse(stated(args));
  if (!parsed.success) {
    const { issues } = parsed.error;
    const problems = issues.slice(0, PROBLEMS_MAX).map(({ path, message }) => `${path.join('.')}: ${message}`);
    return { id: caller.id ?? otherwise, refused: { code: 'invalid_arguments', problems } };
  }
  const given: CalledWith = parsed.data;
  const named = namedId(name, caller.id, given.command_id);
  const id = named ?? otherwise;
  const kept = await keptCall(schema.shape, given, content);
  const added = await addedTo(name, given, { content, entity, id });
  const command_id = 'command_id' in schema.shape ? named : undefined;
  return { id, name, args: { ...kept, ...added, ...present({ command_id }) } };
}

function isTool(name: string): name is SocietyToolName {
  return Object.hasOwn(SOCIETY_TOOLS, name);
}

function namedId(tool: string, option: string | undefined, command: string | undefined): string | undefined {
  if (option === undefined || command === undefined || option === command) return option ?? command;
  throw new RepriseError('invalid_argument', `a call of ${tool} has two ids`, {
    where: 'command_id',
    expected: `the id of the options, ${option}, or none`,
    actual: command,
    hint: 'State the id of a call once: as the option id, or as command_id.',
  });
}

/** What a caller writes without fields that it states as undefined. */
function stated(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(stated);
  if (typeof given !== 'object' || given === null || Object.getPrototypeOf(given) !== Object.prototype) return given;
  const fields = Object.entries(given).filter(([, part]) => part !== undefined);
  return Object.fromEntries(fields.map(([name, part]) => [name, stated(part)]));
}

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
