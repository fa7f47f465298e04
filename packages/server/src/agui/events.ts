/** The events of AG-UI 1.0 that this server sends, and the messages that clients keep. */

/** A call of a tool within an answer. */
export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A part of a message: a text, or a file in base64. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image' | 'audio' | 'video' | 'document';
      readonly source: { readonly type: 'data'; readonly value: string; readonly mimeType: string };
    };

/** A message of a conversation, in the form that clients keep. */
export type Message =
  | { readonly id: string; readonly role: 'user'; readonly content: string | readonly ContentPart[] }
  | {
      readonly id: string;
      readonly role: 'assistant';
      readonly content?: string;
      readonly toolCalls?: readonly ToolCall[];
    }
  | { readonly id: string; readonly role: 'tool'; readonly toolCallId: string; readonly content: string }
  | { readonly id: string; readonly role: 'reasoning'; readonly content: string };

/** An approval or a question that ends a run of the protocol until it is answered. */
export interface Interrupt {
  readonly id: string;
  readonly reason: 'tool_call' | 'confirmation' | 'input_required';
  readonly message: string;
  readonly toolCallId?: string;
  readonly responseSchema: object;
  readonly expiresAt?: string;
  readonly subagentRunId?: string;
  readonly metadata?: object;
}

/** What the models of a run used, for each of them. */
export interface TokenUsage {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

/** How a run of the protocol ended, unless it failed. */
export type Outcome =
  | { readonly type: 'success' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly Interrupt[] };

/** The fields of each event besides its type and its time. */
interface Fields {
  RUN_STARTED: { readonly threadId: string; readonly runId: string; readonly protocolVersion: '1.0' };
  RUN_FINISHED: {
    readonly threadId: string;
    readonly runId: string;
    readonly outcome: Outcome;
    readonly result?: unknown;
    readonly usage?: readonly TokenUsage[];
  };
  RUN_ERROR: { readonly message: string; readonly code: string; readonly usage?: readonly TokenUsage[] };
  STEP_STARTED: { readonly stepName: string };
  STEP_FINISHED: { readonly stepName: string };
  TEXT_MESSAGE_START: { readonly messageId: string; readonly role: 'assistant' };
  TEXT_MESSAGE_CONTENT: { readonly messageId: string; readonly delta: string };
  TEXT_MESSAGE_END: { readonly messageId: string };
  REASONING_START: { readonly messageId: string };
  REASONING_MESSAGE_START: { readonly messageId: string; readonly role: 'reasoning' };
  REASONING_MESSAGE_CONTENT: { readonly messageId: string; readonly delta: string };
  REASONING_MESSAGE_END: { readonly messageId: string };
  REASONING_END: { readonly messageId: string };
  TOOL_CALL_START: { readonly toolCallId: string; readonly toolCallName: string; readonly parentMessageId: string };
  TOOL_CALL_ARGS: { readonly toolCallId: string; readonly delta: string };
  TOOL_CALL_END: { readonly toolCallId: string };
  TOOL_CALL_RESULT: {
    readonly messageId: string;
    readonly toolCallId: string;
    readonly content: string;
    readonly role: 'tool';
  };
  MESSAGES_SNAPSHOT: { readonly messages: readonly Message[] };
  SUBAGENT_STARTED: { readonly subagentRunId: string; readonly name: string; readonly parentSubagentRunId?: string };
  SUBAGENT_FINISHED: {
    readonly subagentRunId: string;
    readonly result?: unknown;
    readonly outcome:
      | { readonly type: 'success' }
      | { readonly type: 'suspended'; readonly interruptIds: readonly string[] };
  };
  SUBAGENT_ERROR: { readonly subagentRunId: string; readonly message: string; readonly code: string };
  CUSTOM: { readonly name: string; readonly value: unknown };
}

type EventType = keyof Fields;

/** An event of the protocol. Those of live pieces of answers have no time. */
export type AgUiEvent = {
  readonly [T in EventType]: { readonly type: T; readonly timestamp?: number } & Fields[T];
}[EventType];
