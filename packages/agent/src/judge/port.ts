/**
 * The port between a model's adapter and the recorded code of an app: argument schemas, approval rules, context
 * sources, return schemas. The code runs once, beside the model call; its answers enter the receipt, so a deploy can
 * change the code but not the decisions.
 */
import type { ContextText, LlmGenerateParams, LlmGenerateReceipt, LlmToolCall, Value } from '@reprise/contracts';
import type { LargeNumbers } from '@reprise/contracts/json';
import type { ContentStore } from '@reprise/kernel';

/** A call as a model requested it. `args` is the model's own text when `issue` is set. */
export interface AskedCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Value;
  readonly issue?: 'args_not_json' | 'args_not_object' | 'args_invalid';
  /** What is wrong with the arguments, for the model: of a call whose issue is `args_invalid`. */
  readonly problem?: string;
  /** The numbers among the arguments that are texts here, because no number holds them exactly. */
  readonly largeNumbers?: LargeNumbers;
}

/** The facts about a model call that a judge is given. */
export interface JudgeContext {
  readonly params: LlmGenerateParams;
  readonly content: ContentStore;
  readonly signal: AbortSignal;
  /** Reports that code of the app failed, to `onError` of the world: what was decided in its place ends no effect. */
  report?(error: unknown): void;
}

/**
 * Runs the recorded code of an app. No method throws because of author code: a rule that throws requires an approval, and is reported.
 * The answers fit the receipt's schema, whatever a model wrote.
 */
export interface Judge {
  /**
   * Judges the calls of one answer, in order. A `call_id` may differ from the model's own, since ids are made unique
   * within the answer; a caller that stores the answer must store these ids.
   */
  calls(asked: readonly AskedCall[], context: JudgeContext): Promise<readonly LlmToolCall[]>;
  /** Judges a final answer; undefined when the agent accepts any text. */
  returns(text: string, context: JudgeContext): Promise<LlmGenerateReceipt['returns'] | undefined>;
  /** Reads the context sources of the agent, in the order of their lanes. */
  context(context: JudgeContext): Promise<readonly ContextText[]>;
}
