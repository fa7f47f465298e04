/**
 * The chunks of a UI message stream for the AI SDK's `useChat`. The types are structural: that library is not required.
 */

import type { Actor } from '@reprise/contracts';
import { requireFields } from '@reprise/contracts';

/** A value of JSON, which chunks consist of. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Marks a part that does not count: see {@link isSuperseded}. */
interface PartMark {
  [key: string]: { superseded: true };
}

/** What a message reveals about its run. */
export interface RunMetadata {
  readonly reprise: {
    readonly session: string;
    readonly run: string;
    /** Who decided the approvals of the answer, by the ids of the approvals; absent before the first decision. */
    readonly decisions?: Readonly<Record<string, DecisionData>>;
    /** How the run ended; absent while it runs. */
    readonly stop?: string;
    /** What the run used; absent while it runs. */
    readonly usage?: { readonly steps: number; readonly tokens_in: number; readonly tokens_out: number };
  };
}

/** A decision about an approval: of a person, a rule, a program or a node. */
export interface DecisionData {
  /** The decision in one word: `approved` or `denied`. */
  readonly state: string;
  /** Who decided, in words to show. */
  readonly by: string;
  /** The reason of a denial or the comment of an approval, where there is one. */
  readonly reason?: string;
}

/** A question that waits for an answer: `world.answer(id, …)`. */
export interface QuestionData {
  readonly question: Json;
  readonly toolCallId: string | null;
  /** `open`, or how the question ended. */
  readonly state: string;
  /** Who answered: a person, a rule, a program, a node; absent while it is open, and when nobody did. */
  readonly actor?: Actor;
  /** The same in words, to show. */
  readonly by?: string;
}

/** The outcome of an approval. */
export interface ApprovalData {
  readonly toolCallId: string;
  /** `approved`, `denied`, or how it ended without a decision: `expired` or `cancelled`. */
  readonly state: string;
  /** Who decided: a person, a rule, a program, a node; absent when nobody did. */
  readonly actor?: Actor;
  /** The same in words, to show. */
  readonly by?: string;
  /** The reason of a denial or the comment of an approval, where there is one. */
  readonly reason?: string;
}

/** A session that the run's agent spawned. */
export interface ChildData {
  readonly child: string;
  readonly session: string;
  readonly agent: string;
  readonly status: string;
  /** The child's result; absent while it runs. */
  readonly text?: string;
}

/** An input that arrived during the run; its id is the command's id. */
export interface SteerData {
  /** `accepted`; then `read` once the model has received it, or `dropped` when the run ends first. */
  readonly state: 'accepted' | 'read' | 'dropped';
  /** The first text of the input. */
  readonly text?: string;
}

/** One chunk of a message stream, as the AI SDK reads it. */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string; readonly messageMetadata: RunMetadata }
  | { readonly type: 'start-step' }
  | { readonly type: 'finish-step' }
  | { readonly type: 'text-start'; readonly id: string }
  | { readonly type: 'text-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'text-end'; readonly id: string; readonly providerMetadata?: PartMark }
  | { readonly type: 'reasoning-start'; readonly id: string }
  | { readonly type: 'reasoning-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'reasoning-end'; readonly id: string; readonly providerMetadata?: PartMark }
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      readonly dynamic?: boolean;
    }
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string }
  | { readonly type: 'tool-output-available'; readonly toolCallId: string; readonly output: unknown }
  | { readonly type: 'tool-output-error'; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | { readonly type: 'data-question'; readonly id: string; readonly data: QuestionData }
  | { readonly type: 'data-approval'; readonly id: string; readonly data: ApprovalData; readonly transient: true }
  | { readonly type: 'data-child'; readonly id: string; readonly data: ChildData }
  | { readonly type: 'data-steer'; readonly id: string; readonly data: SteerData; readonly transient?: true }
  | { readonly type: 'finish'; readonly finishReason: 'stop' | 'length'; readonly messageMetadata: RunMetadata }
  | { readonly type: 'message-metadata'; readonly messageMetadata: RunMetadata }
  | { readonly type: 'abort'; readonly reason: string }
  | { readonly type: 'error'; readonly errorText: string };

/**
 * Whether a part of a message does not count: a model's answer broke off, was requested again, and came out
 * differently. This stream protocol cannot remove parts, so the part remains with a mark; do not show it.
 *
 * @example message.parts.filter((part) => !isSuperseded(part))
 */
export function isSuperseded(part: object): boolean {
  requireFields(part, 'isSuperseded(part)', 'a part of a message');
  const { providerMetadata } = part as { readonly providerMetadata?: unknown };
  const { reprise } = (providerMetadata ?? {}) as { readonly reprise?: { readonly superseded?: unknown } };
  return reprise?.superseded === true;
}
