/**
 * The language between the `llm.generate` adapter and a provider's client: one request and one response, the same
 * for every provider. A client speaks a wire format; it never sees the journal, and the adapter never sees the wire.
 */
import type { FINISH_REASONS, LlmGenerateReceipt, LlmToolCall, ToolDescriptor, Usage, Value } from '@reprise/contracts';
import type { Outcome } from '@reprise/kernel';

/** What a provider can do and what it is called with by default. It decides; nothing branches on a provider's name. */
export interface ProviderProfile {
  readonly profile_id: string;
  readonly provider: string;
  readonly model_default: string;
  readonly supports_parallel_tool_calls: boolean;
  readonly supports_reasoning_effort: boolean;
  readonly supports_streaming: boolean;
  readonly supports_tool_choice_named: boolean;
  /** How many tokens the model's window holds, when known. */
  readonly context_window_hint?: number;
  /** Provider-native request fields to send unless a call says otherwise. */
  readonly provider_options_default?: Readonly<Record<string, Value>>;
}

/** A tool as a model is told of it, its schema in place. */
export interface UnifiedTool extends Pick<ToolDescriptor, 'name' | 'description'> {
  readonly schema: Value;
}

/** A call in the history. */
export interface UnifiedCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Value;
}

/** One message of the history. Every tool message answers a call of the assistant message before it. */
export type UnifiedMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text?: string; readonly calls: readonly UnifiedCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly text: string; readonly isError: boolean };

/** One model call, for any provider. */
export interface UnifiedRequest {
  readonly system: string;
  readonly messages: readonly UnifiedMessage[];
  readonly tools: readonly UnifiedTool[];
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** `auto`, `none`, `required`, or the name of a tool. */
  readonly toolChoice?: string;
  readonly reasoningEffort?: 'low' | 'medium' | 'high';
  readonly stopSequences?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  /** Provider-native request fields. */
  readonly providerOptions?: Readonly<Record<string, Value>>;
  /** The provider's own form of a response format. */
  readonly responseFormat?: Value;
}

/** A call that a model asked for. `args` is what it wrote, as text, when an issue stands there. */
export interface RequestedCall extends UnifiedCall {
  readonly issue?: NonNullable<LlmToolCall['issue']>;
}

/** What a provider answered. */
export interface UnifiedResponse {
  /** The exact bytes of the request's body. */
  readonly requestBody: Uint8Array;
  /** The bytes of the answer's body, secrets scrubbed. */
  readonly rawBody: Uint8Array;
  readonly text?: string;
  readonly calls: readonly RequestedCall[];
  readonly finishReason: (typeof FINISH_REASONS)[number];
  readonly providerResponseId?: string;
  readonly usage?: Usage;
  readonly usageDetails?: NonNullable<LlmGenerateReceipt['usage_details']>;
  /** What was dropped or changed between the request as asked and as sent, or the answer as given and as kept. */
  readonly warnings: readonly string[];
}

/** Every outcome but success. */
export type Failure = Exclude<Outcome<never>, { readonly status: 'ok' }>;

/** What a client answers: a response, or a failure as data. */
export type ModelResult =
  | { readonly ok: true; readonly response: UnifiedResponse }
  | { readonly ok: false; readonly failure: Failure };

/** What a client is given besides the request. */
export interface ModelContext {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  /** Tells watchers of this process about retries; never journaled. */
  progress(note: Value): void;
  /** The value of a secret by name. */
  secret(name: string): Promise<string>;
}

/** A client of one model at one provider. */
export interface ModelClient {
  readonly profile: ProviderProfile;
  /**
   * Asks the model once, retries of the transport included.
   *
   * Contract: answers every outside failure as data and throws only on its own defects; stops soon after `signal`
   * aborts; nothing it answers holds a secret that `secret` or the client's configuration gave it.
   */
  generate(request: UnifiedRequest, context: ModelContext): Promise<ModelResult>;
}
