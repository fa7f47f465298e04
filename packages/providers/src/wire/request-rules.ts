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

/** A part of a conversation, for the check of calls and answers. */
export interface Turn {
  /** `said`: another part of an answer, which may stand between its calls. */
  readonly kind: 'call' | 'answer' | 'said' | 'other';
  readonly id?: string;
  /** Its place in its element of the list, such as `.content.0`; none for the element itself. */
  readonly at?: string;
}

/**
 * Checks that call ids are unique, and that calls are answered directly after them, in their order.
 *
 * @param list the name of the list
 * @param elements the turns of each of its elements
 */
export function checkPairs(list: string, elements: Iterable<readonly Turn[]>): RequestIssue[] {
  const check = new PairCheck(list);
  let element = 0;
  for (const turns of elements) {
    for (const turn of turns) check.take(turn, element);
    element++;
  }
  return check.end();
}

class PairCheck {
  private readonly issues: RequestIssue[] = [];
  private readonly seen = new Set<string>();
  private due: string[] = [];
  private answering = false;
  private last: readonly [Turn, number] | undefined;

  constructor(private readonly list: string) {}

  take(turn: Turn, element: number): void {
    this.last = [turn, element];
    if (turn.kind === 'answer') {
      this.answer(turn.id ?? '');
      return;
    }
    if (this.due.length > 0 && (turn.kind === 'other' || this.answering)) {
      this.fail('call_unanswered');
      this.due = [];
    }
    this.answering = false;
    if (turn.kind === 'call') this.call(turn.id ?? '');
  }

  end(): RequestIssue[] {
    if (this.due.length > 0) this.fail('call_unanswered');
    return this.issues;
  }

  private call(id: string): void {
    if (this.seen.has(id)) this.fail('call_id_twice');
    this.seen.add(id);
    this.due.push(id);
  }

  private answer(id: string): void {
    this.answering = true;
    if (this.due[0] === id) this.due.shift();
    else if (this.due.includes(id)) {
      this.fail('answer_order');
      this.due = this.due.filter((other) => other !== id);
    } else this.fail('answer_without_call');
  }

  private fail(rule: RequestRule): void {
    const [turn, element] = this.last ?? [];
    this.issues.push({ rule, at: `${this.list}.${element}${turn?.at ?? ''}` });
  }
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
