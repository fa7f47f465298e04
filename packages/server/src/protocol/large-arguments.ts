/**
 * Large numbers in the arguments of a call.
 *
 * The parser keeps them as the texts of their digits, and the protocol's library copies every message, so where they
 * stood travels with the call: in `_meta`, under a name of ours. A client cannot say it itself.
 *
 * Invariants
 * A1  A number that no JavaScript number holds reaches a tool as text where the schema takes only text in its place;
 *     otherwise the call is refused, with the digits and what to do.
 */
import { checkRead, jsonSchema } from '@reprise/agent';
import { type LargeNumberAt, type LargeNumbers, NO_LARGE_NUMBERS, parseJsonNoting } from '@reprise/contracts/json';
import type { McpTool } from './mcp-types.js';

/** The name in `_meta` under which large numbers are listed. */
const MARK = 'reprise/largeNumbers';

type Json = Readonly<Record<string, unknown>>;

/**
 * Parses a message of a client, or a batch of them, and marks the calls that have large numbers in their arguments.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseMessages(text: string): unknown {
  const { data, count, large } = parseJsonNoting(text);
  const isForged = text.includes(MARK) || text.includes('\\');
  if (count === 0 && !isForged) return data;
  const unlisted = count - large.length;
  if (!Array.isArray(data)) return marked(data, behind(large, []), unlisted);
  return (data as readonly unknown[]).map((one, at) => marked(one, behind(large, [at]), unlisted));
}

/** The large numbers in the arguments of a call, by its `_meta`. */
export function largeNumbersIn(meta: Json | undefined): LargeNumbers {
  const mark = meta?.[MARK];
  return mark === undefined ? NO_LARGE_NUMBERS : (mark as LargeNumbers);
}

/** What is wrong with the large numbers of a call; undefined where its tool takes only text in their places. A1 */
export async function problemsOfLarge(
  { inputSchema }: McpTool,
  args: unknown,
  numbers: LargeNumbers,
): Promise<string | undefined> {
  if (numbers.count === 0) return undefined;
  const checked = await checkRead(jsonSchema(inputSchema), { data: args, ...numbers });
  return checked.ok ? undefined : checked.problems;
}

/** The numbers inside the arguments of the message at a place, seen from the arguments. */
function behind(large: readonly LargeNumberAt[], place: readonly number[]): readonly LargeNumberAt[] {
  const path = [...place, 'params', 'arguments'];
  return large
    .filter((one) => path.every((key, at) => one.path[at] === key))
    .map(({ path: whole, digits }) => ({ path: whole.slice(path.length), digits }));
}

function marked(message: unknown, large: readonly LargeNumberAt[], unlisted: number): unknown {
  if (!isObject(message) || !isObject(message.params)) return message;
  const { _meta, ...params } = message.params;
  const meta = isObject(_meta) ? Object.fromEntries(Object.entries(_meta).filter(([name]) => name !== MARK)) : _meta;
  const count = large.length + unlisted;
  if (count === 0) return { ...message, params: meta === undefined ? params : { ...params, _meta: meta } };
  const own = isObject(meta) ? meta : {};
  return { ...message, params: { ...params, _meta: { ...own, [MARK]: { count, large } } } };
}

function isObject(given: unknown): given is Json {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}
