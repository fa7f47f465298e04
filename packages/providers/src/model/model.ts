/**
 * The language between the `llm.generate` adapter and a provider's client: one request and one response, the same
 * for every provider. A client speaks a wire format; it never sees the journal, and the adapter never sees the wire.
 */
import type { OpaquePart, Price } from '@reprise/agent';
import type { DroppedCalls, FINISH_REASONS, LlmGenerateReceipt, ModelOptions, Usage, Value } from '@reprise/contracts';
import type { AdapterOutcome, Scrubber } from '@reprise/kernel';

/** What a provider can do and what it is called with by default. It decides; nothing branches on a provider's name. */
export interface ProviderProfile {
  /** Who answers, as receipts and transcripts record it: opaque parts go back to the same profile and model only. */
  readonly profile_id: string;
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model_default: string;
  /** False: a history with several calls in one answer is told as one call after the other. */
  readonly supports_parallel_tool_calls: boolean;
  readonly supports_reasoning_effort: boolean;
  readonly supports_streaming: boolean;
  readonly supports_tool_choice_named: boolean;
  /** The media types that it takes as they are; everything else is told in words. None when absent. */
  readonly media_types?: readonly string[];
  /** What it costs. Without it no limit in money can be stated for the model. */
  readonly price?: Price;
  /** How many tokens the model's window holds, when known. */
  readonly context_window_hint?: number;
  /** Provider-native request fields to send unless a call says otherwise. */
  readonly provider_options_default?: Readonly<Record<string, Value>>;
}

/** A tool as a model is told of it, its schema in place. */
export interface UnifiedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Value;
}

/** A call in the history. */
export interface UnifiedCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Value;
}

/** An image or a document, as it is. */
export interface UnifiedMedia {
  readonly kind: 'media';
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly name: string;
}

/** A part of what is said to a model. */
export type UnifiedPart = { readonly kind: 'text'; readonly text: string } | UnifiedMedia;

/** What a model answered before. */
export interface UnifiedAnswer {
  readonly role: 'assistant';
  readonly text?: string;
  readonly calls: readonly UnifiedCall[];
  /** What only the provider that wrote it reads. It stands before the text. */
  readonly opaque?: readonly OpaquePart[];
}

/** The result of a call of the answer before it. */
export interface UnifiedResult {
  readonly role: 'tool';
  readonly callId: string;
  readonly text: string;
  readonly isError: boolean;
  /** What it shows besides. */
  readonly media?: readonly UnifiedMedia[];
}

/** What is said to a model. */
export interface UnifiedSaying {
  readonly role: 'user';
  readonly parts: readonly UnifiedPart[];
}

/** One message of the history; `layOut` says in which order they stand. */
export type UnifiedMessage = UnifiedSaying | UnifiedAnswer | UnifiedResult;

/** One model call, for any provider. */
export interface UnifiedRequest {
  readonly system: string;
  readonly messages: readonly UnifiedMessage[];
  readonly tools: readonly UnifiedTool[];
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** `auto`, `none`, `required`, or the name of a tool. */
  readonly toolChoice?: string;
  readonly reasoningEffort?: NonNullable<ModelOptions['reasoning_effort']>;
  readonly stopSequences?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  /** Provider-native request fields. */
  readonly providerOptions?: Readonly<Record<string, Value>>;
  /** The provider's own form of a response format. */
  readonly responseFormat?: Value;
}

/** A call that a model asked for. `args` is what it wrote, as text, when an issue stands there. */
export interface RequestedCall extends UnifiedCall {
  readonly issue?: 'args_not_json' | 'args_not_object';
}

/** A request as it goes out. */
export interface WrittenRequest {
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
  /** How many of them the next request of the same conversation begins with, as long as its options are the same. */
  readonly prefixBytes: number;
  /** What of the unified request is not in it, or not as it was asked. */
  readonly warnings: readonly string[];
}

/** What a provider answered. */
export interface UnifiedResponse {
  /** What was sent. */
  readonly request: WrittenRequest;
  /** The bytes of the answer's body, secrets scrubbed. */
  readonly rawBody: Uint8Array;
  readonly text?: string;
  readonly calls: readonly RequestedCall[];
  /** What it asked for beyond those. */
  readonly dropped?: DroppedCalls;
  readonly opaque?: readonly OpaquePart[];
  readonly finishReason: (typeof FINISH_REASONS)[number];
  readonly providerResponseId?: string;
  readonly usage?: Usage;
  readonly usageDetails?: NonNullable<LlmGenerateReceipt['usage_details']>;
  /** What was dropped or changed between the answer as given and as kept. */
  readonly warnings: readonly string[];
}

/** Every outcome but success. */
export type Failure = Exclude<AdapterOutcome<never>, { readonly status: 'ok' }>;

/** What a client answers: a response, or a failure as data. */
export type ModelResult =
  | { readonly ok: true; readonly response: UnifiedResponse }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /** What went wrong, for operators: an error or a text. It is scrubbed before it is kept. */
      readonly error?: unknown;
    };

/** What watchers of this process are told while a model answers; never journaled. */
export type ModelNote =
  | {
      readonly type: 'delta';
      readonly channel: 'text' | 'reasoning' | 'tool_args';
      /** Which of the answer's texts, reasonings or calls it continues. */
      readonly index: number;
      readonly text: string;
    }
  /** The answer is asked for again: what was told of it so far counts for nothing. */
  | { readonly type: 'delta.reset' }
  | { readonly type: 'retry'; readonly retry: number; readonly wait_ms: number; readonly code: string }
  | { readonly type: 'provider_error'; readonly status: number; readonly message: string }
  | { readonly type: 'request_refused'; readonly problems: readonly string[] };

/** What a client is given besides the request. */
export interface ModelContext {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  /** Tells watchers of this process. */
  progress(note: ModelNote): void;
  /** The value of a secret by name. */
  secret(name: string): Promise<string>;
  /** The scrubber of the world: a client declares what it sends as a key. One of its own when absent. */
  readonly scrubber?: Scrubber;
}

/** A client of one model at one provider. */
export interface ModelClient {
  readonly profile: ProviderProfile;
  /** Writes a request as `generate` sends it. Pure: the same request gives the same bytes, now and later. */
  write(request: UnifiedRequest): WrittenRequest;
  /**
   * Asks the model once, retries of the transport included.
   *
   * Contract: answers every outside failure as data and throws only on its own defects; stops soon after `signal`
   * aborts, with `interrupted` and what was said so far when something was, else `cancelled`; nothing it answers holds
   * a secret that `secret` or the client's configuration gave it.
   */
  generate(request: UnifiedRequest, context: ModelContext): Promise<ModelResult>;
}
