/**
 * The rules for requests of every wire format, as a closed list, and checks that formats share.
 *
 * Our validator of a format is stricter than any single provider of it: every provider accepts what it accepts.
 */
import type * as z from '@reprise/contracts/schema';

/** The names of the rules. Each format checks the rules that apply to it. */
export const REQUEST_RULES = [
  /** A field is missing, not allowed, or of another type. */
  'shape',
  /** A message or item is of a kind that the format does not know. */
  'role',
  /** A text is blank. */
  'empty_content',
  /** A system message is not the first message. */
  'system_place',
  /** Two messages of one side follow each other. */
  'alternation',
  /** The first message is not from the user. */
  'first_message',
  /** The last message leaves the model nothing to answer. */
  'last_message',
  /** A call's id has characters or a length that the format refuses. */
  'call_id',
  /** Two calls have one id. */
  'call_id_twice',
  /** A call has no answer after it. */
  'call_unanswered',
  /** An answer has no call before it. */
  'answer_without_call',
  /** Answers are not in the order of their calls, or not directly after them. */
  'answer_order',
  /** A call's arguments are not a JSON object. */
  'arguments',
  /** A tool's name has characters or a length that the format refuses. */
  'tool_name',
  /** Two tools have one name. */
  'tool_twice',
  /** A tool's schema is not the schema of an object. */
  'tool_schema',
  /** There are calls, but no tools. */
  'tools_missing',
  /** The choice names a tool that the request lacks, or there are no tools to choose from. */
  'tool_choice',
  /** A number or the length of a list is outside the format's range. */
  'parameter_range',
  /** Reasoning stands where the format does not allow it. */
  'reasoning_place',
  /** Two parameters exclude each other. */
  'parameter_conflict',
] as const;

/** A rule of a request. */
export type RequestRule = (typeof REQUEST_RULES)[number];

/** A broken rule, and the place in the request. */
export interface RequestIssue {
  readonly rule: RequestRule;
  readonly at: string;
}

/** Parses a body. Schemas use a rule's name as the message of a check; every other problem is `shape`. */
export function parseBody<T>(schema: z.BuiltSchema<T>, body: unknown): { data: T } | { issues: RequestIssue[] } {
  const parsed = schema.safeParse(body);
  if (parsed.success) return { data: parsed.data };
  return { issues: parsed.error.issues.map((issue) => ({ rule: ruleOf(issue.message), at: issue.path.join('.') })) };
}

function ruleOf(message: string): RequestRule {
  return REQUEST_RULES.find((rule) => rule === message) ?? 'shape';
}

/** An element of a conversation, for the check of calls and answers. */
export interface Turn {
  /** `said`: another part of an answer, which may stand between its calls. */
  readonly kind: 'call' | 'answer' | 'said' | 'other';
  readonly id?: string;
  readonly at: string;
}

/** Checks that call ids are unique, and that calls are answered directly after them, in their order. */
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

/** Checks that tool names are unique, and that the choice names one of the tools. */
export function checkTools(names: readonly string[], choice: { readonly tool?: string } | undefined): RequestIssue[] {
  const issues: RequestIssue[] = names
    .filter((name, i) => names.indexOf(name) !== i)
    .map((name) => ({ rule: 'tool_twice', at: `tools.${name}` }));
  if (choice === undefined) return issues;
  const chosen = choice.tool === undefined ? names.length > 0 : names.includes(choice.tool);
  return chosen ? issues : [...issues, { rule: 'tool_choice', at: 'tool_choice' }];
}
