/**
 * The types between the `llm.generate` adapter and a provider's client: one request and one response for every
 * provider. A client speaks a wire format and never sees the journal; the adapter never sees the wire.
 */
import type { OpaquePart, Price } from '@reprise/agent';
import type { DroppedCalls, FINISH_REASONS, LlmGenerateReceipt, ModelOptions, Usage, Value } from '@reprise/contracts';
import type { LargeNumbers } from '@reprise/contracts/json';
import type { AdapterOutcome, Scrubber, ServiceFailure } from '@reprise/kernel';
import type { Sendable } from './sendable.js';

/** What a provider can do, and its defaults. Code branches on the profile, never on a provider's name. */
export interface ProviderProfile {
  /** Identifies the provider in receipts and transcripts; opaque parts go back only to the same profile and model. */
  readonly profile_id: string;
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model_default: string;
  /** If false, an answer with several calls is sent as a series of single calls. */
  readonly supports_parallel_tool_calls: boolean;
  readonly supports_reasoning_effort: boolean;
  readonly supports_streaming: boolean;
  readonly supports_tool_choice_named: boolean;
  /** The media types that the model reads directly; other media are described in words. Default: no media types. */
  readonly media_types?: readonly string[];
  /** The model's price. Without it, limits in money cannot be set for the model. */
  readonly price?: Price;
  /** The size of the model's context window in tokens, if known. */
  readonly context_window_hint?: number;
  /** Provider-native request fields that are sent unless a call overrides them. */
  readonly provider_options_default?: Readonly<Record<string, Value>>;
}

/** A tool as it is described to a model, with its schema inlined. */
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

/** An image or a document with its bytes. */
export interface UnifiedMedia {
  readonly kind: 'media';
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly name: string;
  /** The digest of its content in the transcript: it names the part. */
  readonly content?: string;
}

/** A part of a user message. */
export type UnifiedPart = { readonly kind: 'text'; readonly text: string } | UnifiedMedia;

/** An earlier answer of a model. */
export interface UnifiedAnswer {
  readonly role: 'assistant';
  readonly text?: string;
  readonly calls: readonly UnifiedCall[];
  /** Parts that only the provider that wrote them can read. They stand before the text. */
  readonly opaque?: readonly OpaquePart[];
}

/** The result of a call in the preceding answer. */
export interface UnifiedResult {
  readonly role: 'tool';
  readonly callId: string;
  readonly text: string;
  readonly isError: boolean;
  /** Images and documents beside the text. */
  readonly media?: readonly UnifiedMedia[];
}

/** A message on the user's side. */
export interface UnifiedSaying {
  readonly role: 'user';
  readonly parts: readonly UnifiedPart[];
}

/** One message of the history; `layOut` decides their order. */
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
  /** Fields of the request in the provider's own form. */
  readonly providerOptions?: Readonly<Record<string, Value>>;
  /** The provider's own form of a response format. */
  readonly responseFormat?: Value;
}

/** A call that a model requested. `args` is the model's text when the call has an `issue`. */
export interface RequestedCall extends UnifiedCall {
  readonly issue?: 'args_not_json' | 'args_not_object' | 'args_invalid';
  /** What is wrong with the arguments, for the model: of a call whose issue is `args_invalid`. */
  readonly problem?: string;
  /** The numbers among the arguments that are texts here, because no number holds them exactly. */
  readonly largeNumbers?: LargeNumbers;
}

/** A request as it is sent. */
export interface WrittenRequest {
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
  /** How many of these bytes the conversation's next request begins with, as long as its options stay the same. */
  readonly prefixBytes: number;
  /** Codes of parts of the unified request that were left out or changed. */
  readonly warnings: readonly string[];
}

/** The answer of a model, and the request that it answers. */
export interface UnifiedResponse {
  /** The request that was sent. */
  readonly request: WrittenRequest;
  /** The bytes of the answer's body, secrets scrubbed. */
  readonly rawBody: Uint8Array;
  readonly text?: string;
  readonly calls: readonly RequestedCall[];
  /** Calls beyond the ones in `calls`. */
  readonly dropped?: DroppedCalls;
  readonly opaque?: readonly OpaquePart[];
  readonly finishReason: (typeof FINISH_REASONS)[number];
  readonly providerResponseId?: string;
  /** The name of the model that the provider says has answered; it may be more precise than the one that was asked. */
  readonly responseModel?: string;
  readonly usage?: Usage;
  readonly usageDetails?: NonNullable<LlmGenerateReceipt['usage_details']>;
  /** Codes of what was dropped or changed when the answer was read. */
  readonly warnings: readonly string[];
}

/** How a call ended that has no answer. */
export type Failure = Exclude<AdapterOutcome<never>, { readonly status: 'ok' }>;

/** A client's result: a response, or a failure as data. */
export type ModelResult =
  | { readonly ok: true; readonly response: UnifiedResponse }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /** An error or text for operators. It is scrubbed of secrets before it is stored. */
      readonly error?: unknown;
    };

/** Progress for watchers in this process while a model answers; never journaled. */
export type ModelNote =
  | {
      readonly type: 'delta';
      readonly channel: 'text' | 'reasoning' | 'tool_args';
      /** Which of the answer's texts, reasoning blocks or calls it continues. */
      readonly index: number;
      readonly text: string;
    }
  /** The request is sent again: discard everything reported of the answer so far. */
  | { readonly type: 'delta.reset' }
  | { readonly type: 'retry'; readonly retry: number; readonly wait_ms: number; readonly code: string }
  | { readonly type: 'provider_error'; readonly status: number; readonly message: string }
  | { readonly type: 'request_refused'; readonly problems: readonly string[] };

/** What a client receives besides the request. */
export interface ModelContext {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  /** Reports progress to watchers in this process. */
  progress(note: ModelNote): void;
  /** Returns the value of a secret by its name. */
  secret(name: string): Promise<string>;
  /**
   * Says that the server of the model fails, at each attempt that it fails: `again` when the client will try again by
   * itself. It stands in `world.trouble()` until the server works. Absent outside of a world.
   */
  serverFails?(server: string, failure: ServiceFailure): void;
  /** Says that the server of the model works. */
  serverWorks?(server: string): void;
  /** The world's scrubber: a client declares the keys that it sends. Default: a scrubber of the client's own. */
  readonly scrubber?: Scrubber;
}

/** A client of one model at one provider. */
export interface ModelClient {
  readonly profile: ProviderProfile;
  /** The host name of the server that it calls, without a port, where it knows it: receipts name it. */
  readonly server?: string;
  /** Which images and documents its format carries. Default: those that its profile names, whatever their size. */
  readonly sendable?: Sendable;
  /** Writes a request as `generate` sends it. Pure: the same request always gives the same bytes. */
  write(request: UnifiedRequest): WrittenRequest;
  /**
   * Calls the model once, including the transport's retries.
   * Contract: reports every outside failure as data and throws only for its own defects; stops soon after `signal`
   * aborts, with `interrupted` and the text so far if there is some, else `cancelled`; its result holds no secret from
   * `secret` or from the client's configuration.
   */
  generate(request: UnifiedRequest, context: ModelContext): Promise<ModelResult>;
}
