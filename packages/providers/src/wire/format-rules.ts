/** Rules shared by all formats: common fields, and the order in which a body is checked. */
import * as z from '@reprise/contracts/schema';
import { type CallIdRule, fitsRule } from '../model/call-ids.js';
import { isJsonObject, type Json, jsonIn } from '../model/json.js';
import { Derived } from '../model/steady.js';
import type { SchemaRules } from '../schemas/schema-rules.js';
import { isSendableSchema } from '../schemas/sendable-schema.js';
import { checkPairs, checkTools, parseBody, type RequestIssue, type RequestRule, type Turn } from './request-rules.js';

/** A text that is not blank. */
export const spoken = z.string().refine((text) => text.trim() !== '', 'empty_content' satisfies RequestRule);

/** A tool's name in the form that every provider accepts. */
export const wireToolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'tool_name' satisfies RequestRule);

/** A call's id under a format's rule. */
export function wireCallId(rule: CallIdRule) {
  return z.string().refine((id) => fitsRule(id, rule), 'call_id' satisfies RequestRule);
}

/** A call's arguments as JSON text. */
export const wireArguments = z.string().refine((text) => isJsonObject(jsonIn(text)), 'arguments' satisfies RequestRule);

/** Bytes as base64; an empty text is not an image. */
export const base64 = z.string().refine((text) => isBase64(text, 0));

const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+$/;

/** Bytes in a data URL. */
export const dataUrl = z.string().refine((url) => {
  const mark = url.indexOf(';base64,');
  return mark >= 0 && DATA_URL.test(url.slice(0, mark)) && isBase64(url, mark + ';base64,'.length);
});

/**
 * Whether the rest of a text is padded base64. A loop: on some million characters, as of a photo, a regular expression
 * exceeds its stack.
 */
function isBase64(text: string, from: number): boolean {
  const length = text.length - from;
  if (length === 0 || length % 4 !== 0) return false;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  for (let at = from; at < text.length - padding; at++) if (!isBase64Digit(text.charCodeAt(at))) return false;
  return true;
}

/** A–Z, a–z, 0–9, `+` or `/`. */
function isBase64Digit(code: number): boolean {
  const letter = code | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2f;
}

/** A number in a range. */
export function range(min: number, max: number) {
  return z.number('parameter_range').min(min, 'parameter_range').max(max, 'parameter_range');
}

/** An integer of at least `min`. */
export function wholeFrom(min: number) {
  return z.int('parameter_range').min(min, 'parameter_range');
}

/** The schema of a tool's arguments. */
export function toolSchema(rules: SchemaRules) {
  return z.custom<Json>((given) => isSendableSchema(given as Json, rules), 'tool_schema' satisfies RequestRule);
}

/** Fields that every format has under the same name. */
export const commonFields = {
  model: z.string().min(1),
  stream: z.exactOptional(z.boolean()),
  top_p: z.exactOptional(range(0, 1)),
};

/** Metadata in the form of OpenAI's formats. */
export const metadataPairs = z
  .record(z.string().max(64, 'parameter_range'), z.string().max(512, 'parameter_range'))
  .refine((pairs) => Object.keys(pairs).length <= 16, 'parameter_range');

/** A choice among tools: a word, or a named tool in the format's own form. */
export function wireChoice<T extends z.BuiltSchema>(named: T) {
  return z.union([z.enum(['auto', 'none', 'required']), named], 'tool_choice');
}

/** A text or a list of parts; a problem names what is wrong inside, instead of saying that it is neither. */
export function textOr<T extends z.BuiltSchema>(text: z.BuiltSchema<string>, parts: T) {
  return z.custom<string | z.infer<T>>().superRefine((given, context) => {
    const parsed = (typeof given === 'string' ? text : parts).safeParse(given);
    for (const { message, path } of parsed.error?.issues ?? []) context.addIssue({ message, path });
  });
}

/** The tools of a request: our own in a fixed form, and those that the provider runs itself. */
export function wireTools(
  own: z.BuiltSchema,
  provided: z.BuiltSchema,
  isOwn: (tool: Readonly<Record<string, unknown>>) => boolean,
  { toolsMax }: SchemaRules,
) {
  const tool = z.looseObject({}).superRefine((given, context) => {
    const parsed = (isOwn(given) ? own : provided).safeParse(given);
    for (const { message, path } of parsed.error?.issues ?? []) context.addIssue({ message, path });
  });
  return z.array(tool).min(1).max(toolsMax, 'parameter_range');
}

/** A format's rules: `T` is a request, `E` an element of its growing list. */
interface FormatRules<T, E extends object> {
  readonly schema: z.BuiltSchema<T>;
  /** The name of the growing list. */
  readonly list: string;
  readonly element: z.BuiltSchema<E>;
  /** The turns of an element, for the check of calls and answers. */
  turns(element: E): readonly Turn[];
  /** The rules of this format for an element by itself; their places are in the element. */
  each?(element: E): readonly RequestIssue[];
  /** The rules of this format for the list and for the request as a whole. */
  own(list: readonly E[], request: T): readonly RequestIssue[];
  /** The names of the request's tools. */
  tools(request: T): readonly string[];
  /** The tool choice: a tool by name, or another choice; undefined when the request has no choice. */
  choice(request: T): { readonly tool?: string } | undefined;
}

/** An element that has its shape. */
interface CheckedElement<E> {
  readonly data: E;
  readonly turns: readonly Turn[];
  readonly issues: readonly RequestIssue[];
}

/** An element that lacks its shape: the check of the whole request says why. */
interface ShapelessElement {
  readonly data?: undefined;
}

/**
 * Makes a checker from a format's rules: the shape first, and the rules only when the shape is valid. Steady elements
 * are checked once by themselves; what depends on others is checked each time.
 */
export function checkerOf<T, E extends object>(rules: FormatRules<T, E>): (body: unknown) => RequestIssue[] {
  const { schema, list } = rules;
  const known = new Derived<CheckedElement<E> | ShapelessElement>();
  const checked = (element: unknown): CheckedElement<E> | ShapelessElement =>
    typeof element === 'object' && element !== null
      ? known.of(element, [], '', () => checkElement(rules, element))
      : {};
  return (body) => {
    const given = isJsonObject(body) ? body : {};
    const found: unknown = given[list];
    const all = Array.isArray(found) ? found.map(checked).filter(isShaped) : [];
    // With one element in the place of all, the schema still says what is wrong with the other fields.
    const isWhole = Array.isArray(found) && found.length > 0 && all.length === found.length;
    const parsed = parseBody(schema, isWhole ? { ...given, [list]: found.slice(0, 1) } : body);
    if ('issues' in parsed) return parsed.issues;
    return issuesOf(rules, parsed.data, all);
  };
}

function checkElement<T, E extends object>(
  { element, turns, each }: FormatRules<T, E>,
  given: unknown,
): CheckedElement<E> | ShapelessElement {
  const { data } = element.safeParse(given);
  return data === undefined ? {} : { data, turns: turns(data), issues: each?.(data) ?? [] };
}

function isShaped<E>(element: CheckedElement<E> | ShapelessElement): element is CheckedElement<E> {
  return element.data !== undefined;
}

function issuesOf<T, E extends object>(
  rules: FormatRules<T, E>,
  request: T,
  all: readonly CheckedElement<E>[],
): RequestIssue[] {
  const { list } = rules;
  const within = all.flatMap(({ issues }, i) =>
    issues.length === 0 ? [] : issues.map(({ rule, at }) => ({ rule, at: `${list}.${i}${at}` })),
  );
  const own = rules.own(
    all.map(({ data }) => data),
    request,
  );
  const pairs = checkPairs(
    list,
    all.map(({ turns }) => turns),
  );
  return [...own, ...within, ...pairs, ...checkTools(rules.tools(request), rules.choice(request))];
}
