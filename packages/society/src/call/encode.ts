/**
 * The one encoding of a call of a tool: by a method of a handle, by `use`, by a model and by a client of MCP.
 *
 * Invariants
 * N1  Arguments are parsed by the schema of the tool that clients are shown, which fills in its defaults.
 * N2  The id that a caller names is the id of the call; what a call makes has ids that follow from it and the entity.
 */
import { present, RepriseError, type Value } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import { SOCIETY_TOOLS, type SocietyToolName } from '../pure/index.js';
import { type CalledWith, keptArgs } from './kept.js';

/** Who calls, and under which id. */
interface Caller {
  readonly content: ContentStore;
  readonly entity: string;
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
  const kept = await keptArgs(name, given, { content, entity, id });
  const command_id = 'command_id' in schema.shape ? named : undefined;
  return { id, name, args: { ...kept, ...present({ command_id }) } };
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
