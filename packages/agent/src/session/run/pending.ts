/** The items that wait for people, as apps see them. */
import type { Value } from '@reprise/contracts';
import type { ToolChange } from '../../tools/tool/tool-change.js';

/** A question that waits for an answer. */
export interface PendingQuestion {
  readonly question: string;
  /** The permitted answers, if they are a list. */
  readonly options?: readonly { readonly id: string; readonly label: string }[];
  /** The JSON Schema of an answer. */
  readonly answer?: Value;
  /** The problems with the previous answer. */
  readonly problems?: string;
}

/** Tools of a toolset that are withheld until a person approves. */
export interface ToolsetChange {
  readonly toolset: string;
  readonly tools: readonly {
    readonly tool: string;
    /** The toolset's description when the session took the tool up; absent for a new tool. */
    readonly before?: Value;
    /** How the service describes the toolset by now. */
    readonly after: Value;
  }[];
}

/** An item that waits for a person. */
export interface Pending {
  /** The id that `decide` takes. */
  readonly id: string;
  /** The kind: a call that waits for approval, or a question that waits for an answer. */
  readonly kind: 'approval' | 'question';
  /** The key of the session; absent when another cell of the world asks. */
  readonly session?: string;
  /** The labels of the session; of another cell's question those that it states. */
  readonly labels: Readonly<Record<string, string>>;
  /** What asks, in the words of the part that it belongs to. */
  readonly title?: string;
  /** The call that waits; absent for a question of the session itself. */
  readonly tool?: string;
  readonly callId?: string;
  /** Of an approval: the arguments. */
  readonly args?: Value;
  /** Of an approval: why a person has to decide, where the tool states a reason. */
  readonly reason?: string;
  /** Of an approval of changed tools: their old and new descriptions. */
  readonly drift?: ToolsetChange;
  /**
   * Of an approval: both versions of the tool, where a deployment changed what the call means. `digest` covers them:
   * only a decision that names it is taken.
   */
  readonly changed?: ToolChange;
  /** Of a question: its content. */
  readonly question?: PendingQuestion;
  /** The digest of everything shown. A decision that names an old digest is `stale`. */
  readonly digest: string;
  /** Who may decide besides the operator, as a pattern of principals. */
  readonly to: string;
  /** Since when the item waits, in journal milliseconds. */
  readonly since: number;
  /** When the item expires, in journal milliseconds; null when it does not. */
  readonly deadline: number | null;
}
