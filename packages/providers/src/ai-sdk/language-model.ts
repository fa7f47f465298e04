/**
 * The shape of a language model of the AI SDK, as far as this client uses it, without importing the SDK's package. The
 * types of answers are loose, since providers differ and so do releases.
 */
import type { Fields } from '../wire/answer-stream.js';

/** The specifications of the AI SDK that this client speaks. */
export const SPECIFICATIONS = ['v2', 'v3', 'v4'] as const;

export type Specification = (typeof SPECIFICATIONS)[number];

/** Fields of a call that the model does not see. */
export interface CallSurroundings {
  readonly abortSignal: AbortSignal;
  readonly headers: Record<string, string>;
}

/** A language model of the AI SDK. */
export interface AiSdkModel {
  readonly specificationVersion: Specification;
  readonly provider: string;
  readonly modelId: string;
  // Methods, not properties, on purpose: each provider narrows the options in its own way.
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** The fields of a whole answer that are read. */
export interface Generated {
  readonly content: readonly Fields[];
  readonly finishReason: unknown;
  readonly usage: unknown;
  readonly warnings: readonly Fields[];
  readonly response: Fields;
}
