/**
 * What every wire format demands of a request, as a closed list of rules, and the checks that formats share.
 *
 * Each format's validator is ours and stricter than any one provider of the format: what it accepts, all of them take.
 */
import * as z from 'zod';
import { type CallIdRule, fitsRule } from '../call-ids.js';
import { isJsonObject, parseJson } from '../json.js';

/** The rules. A format checks those that it knows. */
export const REQUEST_RULES = [
  /** A field is missing, unknown where none may be, or of another type. */
  'shape',
  /** A message or item is of a kind that the format does not know. */
  'role',
  /** A text says nothing. */
  'empty_content',
  /** A system message stands elsewhere than first. */
  'system_place',
  /** Two messages of one side stand together. */
  'alternation',
  /** The first message is not the user's. */
  'first_message',
  /** The last message leaves nothing to answer. */
  'last_message',
  /** A call's id has characters or a length that the format does not take. */
  'call_id',
  /** Two calls have one id. */
  'call_id_twice',
  /** A call has no answer behind it. */
  'call_unanswered',
  /** An answer has no call before it. */
  'answer_without_call',
  /** Answers stand in another order than their calls, or behind something else. */
  'answer_order',
  /** A call's arguments are no JSON object. */
  'arguments',
  /** A tool's name has characters or a length that the format does not take. */
  'tool_name',
  /** Two tools have one name. */
  'tool_twice',
  /** A tool's schema is not the schema of an object. */
  'tool_schema',
  /** There are calls, and no tools. */
  'tools_missing',
  /** The choice names no tool of the request, or there are none to choose from. */
  'tool_choice',
  /** A number or a list is outside what the format takes. */
  'parameter_range',
  /** Reasoning stands where the format does not take it. */
  'reasoning_place',
  /** Parameters that exclude each other. */
  'parameter_conflict',
] as const;

/** A rule of a request. */
export type RequestRule = (typeof REQUEST_RULES)[number];

/** A rule that a request breaks, and where. */
export interface RequestIssue {
  readonly rule: RequestRule;
  readonly at: string;
}

/** Parses a body; schemas name a rule as the message of a check, and everything else is `shape`. */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown): { data: T } | { issues: RequestIssue[] } {
  const parsed = schema.safeParse(body);
  if (parsed.success) return { data: parsed.data };
  return { issues: parsed.error.issues.map((issue) => ({ rule: ruleOf(issue.message), at: issue.path.join('.') })) };
}

function ruleOf(message: string): RequestRule {
  return REQUEST_RULES.find((rule) => rule === message) ?? 'shape';
}

/** A text that says something. */
export const spoken = z.string().refine((text) => text.trim() !== '', 'empty_content' satisfies RequestRule);

/** A tool's name, as every provider takes it. */
export const wireToolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'tool_name' satisfies RequestRule);

/** A call's id by a format's rule. */
export function wireCallId(rule: CallIdRule) {
  return z.string().refine((id) => fitsRule(id, rule), 'call_id' satisfies RequestRule);
}

/** A call's arguments as JSON text. */
export const wireArguments = z
  .string()
  .refine((text) => isJsonObject(parseJson(text)), 'arguments' satisfies RequestRule);

/** A number in a range. */
export function range(min: number, max: number) {
  return z.number('parameter_range').min(min, 'parameter_range').max(max, 'parameter_range');
}

/** A whole number from a least one. */
export function wholeFrom(min: number) {
  return z.int('parameter_range').min(min, 'parameter_range');
}

/** The schema of a tool's arguments. */
export const toolSchema = z.looseObject(
  { type: z.literal('object', 'tool_schema'), properties: z.looseObject({}, 'tool_schema') },
  'tool_schema',
);

/** Something of a conversation, as far as pairing sees it. */
export interface Turn {
  readonly kind: 'call' | 'answer' | 'other';
  readonly id?: string;
  readonly at: string;
}

/** Checks that calls have ids of their own and are answered right behind them, in their order. */
export function checkPairs(turns: Iterable<Turn>): RequestIssue[] {
  const issues: RequestIssue[] = [];
  const seen = new Set<string>();
  let due: string[] = [];
  let answering = false;
  let end = '';
  for (const { kind, id = '', at } of turns) {
    end = at;
    if (kind === 'answer') {
      answering = true;
      if (due[0] === id) due.shift();
      else if (due.includes(id)) {
        issues.push({ rule: 'answer_order', at });
        due = due.filter((other) => other !== id);
      } else issues.push({ rule: 'answer_without_call', at });
      continue;
    }
    if (due.length > 0 && (kind === 'other' || answering)) {
      issues.push({ rule: 'call_unanswered', at });
      due = [];
    }
    answering = false;
    if (kind !== 'call') continue;
    if (seen.has(id)) issues.push({ rule: 'call_id_twice', at });
    seen.add(id);
    due.push(id);
  }
  return due.length > 0 ? [...issues, { rule: 'call_unanswered', at: end }] : issues;
}

/** Checks that tools have names of their own, and that a choice is one of them. */
export function checkTools(names: readonly string[], choice: { readonly tool?: string } | undefined): RequestIssue[] {
  const issues: RequestIssue[] = names
    .filter((name, i) => names.indexOf(name) !== i)
    .map((name) => ({ rule: 'tool_twice', at: `tools.${name}` }));
  if (choice === undefined) return issues;
  const chosen = choice.tool === undefined ? names.length > 0 : names.includes(choice.tool);
  return chosen ? issues : [...issues, { rule: 'tool_choice', at: 'tool_choice' }];
}
