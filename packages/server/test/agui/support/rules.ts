/**
 * Eight rules of streams of AG-UI that `verifyEvents` of `@ag-ui/client` does not check: it accepts a stream that breaks one of
 * them, and a client is then wrong, or waits for ever.
 */

/** An event as it arrived. */
export interface SeenEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What is known besides the events of a stream. */
export interface Around {
  readonly threadId: string;
  readonly runId: string;
  /** The messages that the client had sent. */
  readonly had: readonly { readonly id: string; readonly toolCalls?: readonly { readonly id: string }[] }[];
  /** The items that waited for the client when the stream ended. */
  readonly pending: readonly string[];
}

/** The names of the rules. */
export const RULES = [
  'interrupt_without_items',
  'interrupt_not_pending',
  'result_without_call',
  'result_twice',
  'arguments_not_json',
  'opened_again',
  'foreign_run',
  'not_ended',
] as const;

/** The name of a rule. */
export type Rule = (typeof RULES)[number];

type Check = (events: readonly SeenEvent[], around: Around) => boolean;

const of = (events: readonly SeenEvent[], type: string) => events.filter((event) => event.type === type);

function interruptsOf(events: readonly SeenEvent[]): readonly { readonly id: string }[] | undefined {
  const outcome = of(events, 'RUN_FINISHED').at(-1)?.outcome as
    | { readonly type: string; readonly interrupts?: readonly { readonly id: string }[] }
    | undefined;
  return outcome?.type === 'interrupt' ? (outcome.interrupts ?? []) : undefined;
}

type Told = Around['had'][number];

/** The messages that a snapshot replaces all others with. */
const inSnapshot = (event: SeenEvent): readonly Told[] =>
  event.type === 'MESSAGES_SNAPSHOT' ? (event.messages as readonly Told[]) : [];

const CHECKS: Readonly<Record<Rule, Check>> = {
  /** A client that is to answer nothing never goes on. */
  interrupt_without_items: (events) => interruptsOf(events)?.length === 0,
  /** An answer to something else is refused, or decides about it; two interrupts of one id cannot both be answered. */
  interrupt_not_pending: (events, { pending }) => {
    const ids = (interruptsOf(events) ?? []).map(({ id }) => id);
    return ids.some((id) => !pending.includes(id)) || new Set(ids).size < ids.length;
  },
  /** A result whose call is nowhere makes a history that models refuse. */
  result_without_call: (events, { had }) => {
    const known = new Set(had.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)));
    return events.some((event) => {
      for (const { toolCalls = [] } of inSnapshot(event)) for (const { id } of toolCalls) known.add(id);
      if (event.type === 'TOOL_CALL_START') known.add(String(event.toolCallId));
      return event.type === 'TOOL_CALL_RESULT' && !known.has(String(event.toolCallId));
    });
  },
  /** Two results of one call are two messages. */
  result_twice: (events, { had }) => {
    const known = new Set(had.map(({ id }) => id));
    return events.some((event) => {
      if (event.type === 'MESSAGES_SNAPSHOT') known.clear();
      for (const { id } of inSnapshot(event)) known.add(id);
      if (event.type !== 'TOOL_CALL_RESULT') return false;
      const [message, call] = [String(event.messageId), `of ${event.toolCallId}`];
      const isTwice = known.has(message) || known.has(call);
      known.add(message).add(call);
      return isTwice;
    });
  },
  /** A client shows arguments by their fields. */
  arguments_not_json: (events) => {
    const pieces = new Map<string, string>();
    for (const { toolCallId, delta } of of(events, 'TOOL_CALL_ARGS'))
      pieces.set(String(toolCallId), `${pieces.get(String(toolCallId)) ?? ''}${delta}`);
    return of(events, 'TOOL_CALL_END').some(({ toolCallId }) => !isObjectText(pieces.get(String(toolCallId)) ?? ''));
  },
  /** What is opened again is appended to what a client has, unless a snapshot said what that is. */
  opened_again: (events, { had }) => {
    const known = new Set(had.map(({ id }) => id));
    return events.some((event) => {
      if (event.type === 'MESSAGES_SNAPSHOT') known.clear(); // which holds each message as far as it goes
      const opens = OPENS[event.type];
      if (opens === undefined) return false;
      const id = String(event[opens]);
      const isAgain = known.has(id);
      known.add(id);
      return isAgain;
    });
  },
  /** A client takes the end of another run for that of its own. */
  foreign_run: (events, { threadId, runId }) =>
    [...of(events, 'RUN_STARTED'), ...of(events, 'RUN_FINISHED')].some(
      (event) => event.threadId !== threadId || event.runId !== runId,
    ),
  /** A stream begins once and ends once, nothing stands behind the end, and nothing is open there, also when it failed. */
  not_ended: (events) => {
    const ends = events.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR');
    if (of(events, 'RUN_STARTED').length !== 1 || ends.length !== 1 || events.at(-1) !== ends[0]) return true;
    const open = new Map<string, number>();
    for (const event of events) {
      const [what, by] = BRACKETS[event.type] ?? [];
      if (what === undefined) continue;
      const key = `${what} ${event[KEYS[what] ?? '']}`;
      open.set(key, (open.get(key) ?? 0) + (by ?? 0));
    }
    return [...open.values()].some((count) => count !== 0);
  },
};

const OPENS: Readonly<Record<string, string>> = {
  TEXT_MESSAGE_START: 'messageId',
  REASONING_MESSAGE_START: 'messageId',
  TOOL_CALL_START: 'toolCallId',
};

const KEYS: Readonly<Record<string, string>> = {
  text: 'messageId',
  reasoning: 'messageId',
  span: 'messageId',
  call: 'toolCallId',
  step: 'stepName',
  subagent: 'subagentRunId',
};

const BRACKETS: Readonly<Record<string, readonly [what: string, by: 1 | -1]>> = {
  TEXT_MESSAGE_START: ['text', 1],
  TEXT_MESSAGE_END: ['text', -1],
  REASONING_MESSAGE_START: ['reasoning', 1],
  REASONING_MESSAGE_END: ['reasoning', -1],
  REASONING_START: ['span', 1],
  REASONING_END: ['span', -1],
  TOOL_CALL_START: ['call', 1],
  TOOL_CALL_END: ['call', -1],
  STEP_STARTED: ['step', 1],
  STEP_FINISHED: ['step', -1],
  SUBAGENT_STARTED: ['subagent', 1],
  SUBAGENT_FINISHED: ['subagent', -1],
  SUBAGENT_ERROR: ['subagent', -1],
};

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** The rules that a stream breaks. */
export function brokenRules(events: readonly SeenEvent[], around: Around): readonly Rule[] {
  return RULES.filter((rule) => CHECKS[rule](events, around));
}
