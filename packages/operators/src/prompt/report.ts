/** The JSON of `reprise prompt --json`: one request to a model, and where each part of it comes from. */
import type { AskedModel, ReceiptStatus, Usage } from '@reprise/contracts';

/** Where a part of a request comes from. */
export interface PartOrigin {
  /**
   * `message`: words that were sent to the session. `answer`: an earlier answer of the model. `result`: what a tool
   * returned. `late`: a result that came after its call was settled. `summary`: the summary of what stands before the
   * window. `request`: the request for a summary. `configuration`: the agent's definition. `context`: a context source.
   * `runtime`: a notice that is no item of the conversation.
   */
  readonly kind:
    | 'message'
    | 'answer'
    | 'result'
    | 'late'
    | 'summary'
    | 'request'
    | 'configuration'
    | 'context'
    | 'runtime';
  /** The index of the item in the session's transcript. */
  readonly item?: number;
  /** The frame in which it came into the session; absent when it lies further back than was searched. */
  readonly frame?: number;
  /** Of a message: how it entered, for example `input` or `steer`. */
  readonly as?: string;
  /** Of a message: the principal or the cell that sent it. */
  readonly from?: string;
  /** Of a result: the tool, the call, and the effect that gave it. */
  readonly tool?: string;
  readonly call_id?: string;
  readonly effect?: string;
  /** Of a context text: its lane and name. */
  readonly lane?: string;
  readonly name?: string;
}

/** A part of a request, in the order in which the request holds them. */
export interface PromptPart {
  readonly part: 'system' | 'tools' | 'message';
  /** The role of a message. */
  readonly role?: 'user' | 'assistant' | 'tool';
  /** The part as JSON, for any provider: images and documents stand as their name, type, size and digest. */
  readonly value: unknown;
  /** The size of that JSON in UTF-8. */
  readonly bytes: number;
  /** Whether the step before did not send it. */
  readonly isNew: boolean;
  readonly origins: readonly PartOrigin[];
}

/** What an operator sees of the tools of two steps. */
export interface ToolsDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** The bytes of a request as they were sent, or as they would be. */
export interface SentRequest {
  /** The writer that made them, for example `openai-compatible`; null when none was found. */
  readonly writer: string | null;
  /** The digest that the receipt recorded; null for a call without an answer. */
  readonly recorded: string | null;
  /** The digest of the bytes that were made now; null when none were made. */
  readonly recomputed: string | null;
  /** Whether the two are the same; null when one is missing. */
  readonly isSame: boolean | null;
  /** Why there are no bytes, or none that are known to be the same. */
  readonly why?: 'no_answer' | 'no_writer' | 'erased' | 'unknown_prompt';
  /** The body as text: only where it was asked for, and where the digests are equal or nothing was recorded. */
  readonly body?: string;
}

/** One request to a model. */
export interface RequestReport {
  readonly effect: string;
  /** The place of the effect, as `show` takes it: `24.6`. */
  readonly place: string;
  readonly frame: number;
  /** The address of the session, and its key. */
  readonly cell: string;
  readonly session: string;
  /** The place of the call in its run; null for a call that no session made. */
  readonly step: { readonly run: number; readonly turn: number; readonly step: number } | null;
  /** `open` while there is no receipt. */
  readonly status: ReceiptStatus | 'open';
  readonly code?: string;
  readonly receipt_frame: number | null;
  readonly attempts: number;
  /** How long the effect waited before it was started, in milliseconds; absent when it started with its frame. */
  readonly started_after_ms?: number;
  /** The name of the model in the app. */
  readonly alias: string;
  /** Whom it asked; null when no receipt says so. */
  readonly asked: AskedModel | null;
  readonly response_model?: string;
  readonly first_chunk_ms?: number;
  readonly usage: Usage | null;
  readonly parts: readonly PromptPart[];
  /** The options of the call, such as `max_tokens`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** What of the conversation it does not send. */
  readonly left_out: {
    /** Items before the window, without those that are pinned. */
    readonly items: number;
    /** Whether a summary stands for them. */
    readonly is_summarised: boolean;
    /** Files and images that were taken out of the conversation. */
    readonly dropped: number;
    /** Codes of what could not be sent as it was, such as `prompt_loss:reasoning`. */
    readonly warnings: readonly string[];
    /** The texts of context sources are not known: they were read for this call, and no answer recorded them. */
    readonly context_unknown?: true;
  };
  /** The step before of the same session; null for the first step, and when it lies further back than was searched. */
  readonly before: {
    readonly effect: string;
    readonly frame: number;
    readonly run: number | null;
    readonly step: number | null;
  } | null;
  /** What changed since the step before; null without one. */
  readonly tools: ToolsDiff | null;
  /** The sum of the bytes of the parts, and the size of the request as it was sent. */
  readonly bytes: { readonly parts: number; readonly sent: number | null };
  readonly sent: SentRequest;
}
