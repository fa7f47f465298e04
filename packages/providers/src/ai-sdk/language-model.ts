/**
 * The language models of the AI SDK, as far as we speak to them: their shape, not their package. Loose on what comes
 * back, since providers are many and their releases differ.
 */
import type { Fields } from '../wire/answer-stream.js';

/** The releases of the shape that we speak to. */
export const SPECIFICATIONS = ['v2', 'v3', 'v4'] as const;

/** A release of the shape. */
export type Specification = (typeof SPECIFICATIONS)[number];

/** What stands beside a call and is no part of what the model is told. */
export interface CallSurroundings {
  readonly abortSignal: AbortSignal;
  readonly headers: Record<string, string>;
}

/** A language model of the AI SDK. */
export interface AiSdkModel {
  readonly specificationVersion: Specification;
  readonly provider: string;
  readonly modelId: string;
  // Methods on purpose: each provider narrows what it takes in its own way.
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** What a whole answer is, as far as it is read. */
export interface Generated {
  readonly content: readonly Fields[];
  readonly finishReason: unknown;
  readonly usage: unknown;
  readonly warnings: readonly Fields[];
  readonly response: Fields;
}
