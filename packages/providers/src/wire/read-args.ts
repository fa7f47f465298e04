/**
 * Reads the arguments of a call as a model wrote them.
 *
 * Servers and models depart from "one JSON object" in ways that leave one reading, and in ways that do not. Only the
 * first are read, and each is named, for a warning.
 *
 * Invariants
 * E1  The arguments are an object that stands in the model's text as it is, or no arguments. Nothing is completed, cut
 *     off or chosen among several.
 * E2  A call that cannot be read keeps the model's text, and says what is wrong.
 */
import { type Value, wellFormed } from '@reprise/contracts';
import { exactJsonText, plainJson } from '@reprise/contracts/json';
import { encode, equalBytes, VALUE_DEPTH_MAX } from '@reprise/kernel/codec';
import { isJsonObject, JSON_DEPTH_MAX, JSON_ITEMS_MAX, nestsTooDeep, parseBounded } from '../model/json.js';
import type { RequestedCall } from '../model/model.js';

/** The deepest nesting of arguments: they are stored inside the output, whose total depth the codec bounds. */
const ARGS_DEPTH_MAX = VALUE_DEPTH_MAX - 8;

/** How often arguments may be encoded as a JSON text inside a JSON text. */
const ENCODINGS_MAX = 3;

/** How arguments were read that are not one JSON object. */
type How = 'no_arguments' | 'encoded_again' | 'object_repeated' | 'marks_around' | 'control_characters';

/** Arguments as they are stored. */
interface ReadArgs extends Pick<RequestedCall, 'args' | 'issue' | 'problem' | 'largeNumbers'> {
  readonly how?: How;
}

/** Reads arguments as data; if they are not one object, returns the model's text and the issue. */
export function readArgs(given: unknown, scrub: (text: string) => string): ReadArgs {
  const text = scrub(wellFormed(typeof given === 'string' ? given : exactJsonText(given)));
  const rounded = typeof given === 'string' ? undefined : roundedIn(given);
  if (rounded !== undefined)
    return invalid(text, `the number ${rounded} was rounded on its way; send its digits as text`);
  // Several servers send an empty text for a call without arguments.
  if (text.trim() === '') return { args: {} };
  return readJson(text, ENCODINGS_MAX) ?? readOdd(text) ?? { args: text, issue: 'args_not_json' };
}

/** Reads a text that is JSON; undefined when it is not. */
function readJson(text: string, encodings: number): ReadArgs | undefined {
  const parsed = parseBounded(text);
  if (parsed === 'too_large') return invalid(text, `they hold more than ${JSON_ITEMS_MAX} values`);
  if (parsed === undefined)
    return nestsTooDeep(text) ? invalid(text, `they nest deeper than ${JSON_DEPTH_MAX} levels`) : undefined;
  const { data } = parsed;
  if (isJsonObject(data)) return stored(data, text);
  if (data === null || data === '') return { args: {}, how: 'no_arguments' };
  const inner = typeof data === 'string' && encodings > 0 ? readJson(data, encodings - 1) : undefined;
  if (inner !== undefined && inner.issue === undefined) return { ...inner, how: 'encoded_again' };
  return { args: text, issue: 'args_not_object' };
}

function stored(data: object, text: string): ReadArgs {
  const { data: plain, count, large } = plainJson(data);
  try {
    encode(plain as Value, ARGS_DEPTH_MAX);
  } catch (error) {
    return invalid(text, error instanceof Error ? error.message : String(error));
  }
  return { args: plain as Value, ...(count === 0 ? {} : { largeNumbers: { count, large } }) };
}

function invalid(text: string, problem: string): ReadArgs {
  return { args: text, issue: 'args_invalid', problem: `- ${problem}` };
}

/** Reads a text around one object: marks, objects that say nothing else, and control characters in its texts. */
function readOdd(text: string): ReadArgs | undefined {
  const bare = withoutMarks(text);
  const escaped = withEscapes(bare);
  const parts = objectsIn(escaped);
  if (parts === undefined) return undefined;
  const read = parts.map((part) => readJson(part, 0));
  const said = read.filter((one) => one !== undefined && one.issue === undefined && !isEmpty(one.args));
  const [first] = said.length > 0 ? said : read;
  if (first === undefined || read.some((one) => one === undefined || one.issue !== undefined)) return undefined;
  if (!said.every((one) => one !== undefined && sameArgs(one, first))) return undefined;
  const how = parts.length > 1 ? 'object_repeated' : escaped === bare ? 'marks_around' : 'control_characters';
  return { ...first, how };
}

function isEmpty(args: Value): boolean {
  return isJsonObject(args) && Object.keys(args).length === 0;
}

/** Whether arguments that were read are the same. */
export function sameArgs(one: ReadArgs, other: ReadArgs): boolean {
  const sameDigits = JSON.stringify(one.largeNumbers) === JSON.stringify(other.largeNumbers);
  return sameDigits && one.issue === other.issue && equalBytes(encode(one.args), encode(other.args));
}

/** The marks that templates of models leave around a call, and fences of code. */
const MARK_BEFORE = /^(?:\s|<\/?[a-z_]{1,32}>|<[|｜][^|｜<>]{1,32}[|｜]>|```(?:json)?)/i;
const MARK_AFTER = /(?:\s|<\/?[a-z_]{1,32}>|<[|｜][^|｜<>]{1,32}[|｜]>|```)$/i;

/** How many characters of a text may be a mark. */
const MARK_LENGTH_MAX = 64;

function withoutMarks(text: string): string {
  let [from, to] = [0, text.length];
  for (;;) {
    const before = MARK_BEFORE.exec(text.slice(from, Math.min(to, from + MARK_LENGTH_MAX)));
    if (before === null) break;
    from += before[0].length;
  }
  for (;;) {
    const after = MARK_AFTER.exec(text.slice(Math.max(from, to - MARK_LENGTH_MAX), to));
    if (after === null) break;
    to -= after[0].length;
  }
  return text.slice(from, to);
}

/** The text with control characters inside its texts escaped, as JSON wants them. */
function withEscapes(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
  if (!/[\u0000-\u001f]/.test(text)) return text;
  const pieces: string[] = [];
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charAt(at);
    if (inText && unit === '\\') {
      pieces.push(text.slice(at, at + 2));
      at++;
      continue;
    }
    if (unit === '"') inText = !inText;
    pieces.push(inText && unit < ' ' ? JSON.stringify(unit).slice(1, -1) : unit);
  }
  return pieces.join('');
}

/** The objects of a text that holds nothing else; undefined for any other text. */
function objectsIn(text: string): string[] | undefined {
  const parts: string[] = [];
  let [start, depth, inText] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charAt(at);
    if (inText) {
      if (unit === '\\') at++;
      else if (unit === '"') inText = false;
      continue;
    }
    if (depth === 0) {
      if (' \t\n\r'.includes(unit)) continue;
      if (unit !== '{') return undefined;
      start = at;
    }
    if (unit === '"') inText = true;
    else if (unit === '{' || unit === '[') depth++;
    else if (unit === '}' || unit === ']') depth--;
    if (depth === 0) parts.push(text.slice(start, at + 1));
  }
  return depth === 0 && !inText && parts.length > 0 ? parts : undefined;
}

/** A number of data that others have parsed, if it may have lost digits: its own are not known any more. */
function roundedIn(data: unknown): string | undefined {
  if (typeof data === 'number') {
    const isKept = Number.isFinite(data) && (!Number.isInteger(data) || Number.isSafeInteger(data));
    return isKept ? undefined : String(data);
  }
  if (typeof data !== 'object' || data === null) return undefined;
  for (const part of Object.values(data)) {
    const rounded = roundedIn(part);
    if (rounded !== undefined) return rounded;
  }
  return undefined;
}
