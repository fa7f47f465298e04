/**
 * What every wire format demands of a request, as a closed list of rules, and the checks that formats share.
 *
 * Each format's validator is ours and stricter than any one provider of the format: what it accepts, all of them take.
 */
import type * as z from 'zod';

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

/** Something of a conversation, as far as pairing sees it. */
export interface Turn {
  /** `said`: something else of an answer, which may stand among its calls. */
  readonly kind: 'call' | 'answer' | 'said' | 'other';
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
