/**
 * The port between a model's adapter and the recorded code of an app: argument schemas, approval rules, context sources,
 * what a run returns. It is asked once, where the model is; what it answers enters the receipt, so that a deploy can
 * change the code and not what was decided.
 */
import type { ContextText, LlmGenerateParams, LlmGenerateReceipt, LlmToolCall, Value } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';

/** A call as a model asked for it. `args` is what it wrote, as text, when an issue stands there. */
export interface AskedCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Value;
  readonly issue?: 'args_not_json' | 'args_not_object';
}

/** What a judge knows of the model call. */
export interface JudgeContext {
  readonly params: LlmGenerateParams;
  readonly content: ContentStore;
  readonly signal: AbortSignal;
}

/**
 * Asks the recorded code of an app. None of these throws for what author code does: a rule that throws asks for
 * approval. What they answer fits the receipt's schema, whatever a model wrote.
 */
export interface Judge {
  /**
   * Judges the calls of one answer, in order. Their `call_id` may differ from what the model wrote: they are made unique
   * within the answer, so whoever keeps the answer keeps these.
   */
  calls(asked: readonly AskedCall[], context: JudgeContext): Promise<readonly LlmToolCall[]>;
  /** Judges a final answer; undefined when the agent takes any text. */
  returns(text: string, context: JudgeContext): Promise<LlmGenerateReceipt['returns'] | undefined>;
  /** Asks the context sources of the agent, in the order of their lanes. */
  context(context: JudgeContext): Promise<readonly ContextText[]>;
}
