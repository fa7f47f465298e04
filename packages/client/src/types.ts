/** What a server of sessions says, as a client reads it. */
import type { AgentEvent, Delta } from '@reprise/agent/contracts';
import type { Ref } from '@reprise/contracts';

/** A value as JSON has it: a link is the text of its digest. */
type Wire<T> = T extends Ref
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : T extends object
      ? { readonly [Field in keyof T]: Wire<T[Field]> }
      : T;

/** An event of a session; its `type` says which. */
export type SessionEvent = Wire<AgentEvent>;

/** A piece of an answer while the model writes it. `restart`: earlier pieces of this step count no more. */
export type Piece = Delta & { readonly restart?: true };

/** What an organization states: a tree, a project or a swarm. */
export interface OrganizationEvent {
  readonly type: 'organization.changed';
  /** What kind of organization it is. */
  readonly organization: OrganizationKind;
  readonly name: string;
  /** The name of the fact, such as `tree/NodeChanged@1`. */
  readonly fact: string;
  readonly value: unknown;
  readonly event_seq: string;
  /** The time of its frame, in milliseconds. */
  readonly at: number;
}

/** What kind of organization it is; parts of an app may bring others. */
export type OrganizationKind = 'tree' | 'project' | 'swarm' | (string & {});

/** An organization in a list: its name, and what it is and does now. */
export interface OrganizationSummary extends Readonly<Record<string, unknown>> {
  readonly kind: OrganizationKind;
  readonly name: string;
  readonly status: string;
}

/** What a stream tells: a durable event with its cursor, or a piece. */
export type StreamItem<E = SessionEvent> = { readonly cursor: string; readonly event: E } | { readonly piece: Piece };

/** A session in a list. */
export interface SessionSummary {
  readonly session: string;
  readonly agent: string;
  readonly model: string;
  readonly status: string;
  readonly closed: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** When it was made and last changed, in journal milliseconds. */
  readonly made: number;
  readonly updated: number;
  readonly runs: number;
  readonly usage: Readonly<Record<string, number>>;
}

/** A page of a list; `next` is given back for the following page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
}

/** A message of a transcript. */
export interface TranscriptEntry {
  readonly index: number;
  readonly role: string;
  readonly text?: string;
  readonly tool?: string;
  readonly call_id?: string;
  readonly calls?: readonly { readonly call_id: string; readonly tool: string }[];
  /** The paths of content that it links. */
  readonly links: readonly string[];
}

/** A message. The same id is the same message, however often it is sent. */
export interface Message {
  readonly id: string;
  readonly text?: string;
  readonly parts?: readonly (
    | { readonly text: string }
    | { readonly base64: string; readonly media_type: string; readonly name?: string }
  )[];
  /** `input` (default) begins a run or waits for its turn; `steer` is read before the next step; `follow_up` after the run. */
  readonly as?: 'input' | 'steer' | 'follow_up';
  /** The agent of a session that begins with this message. */
  readonly agent?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly priority?: number;
}

/** A command to a session. The same id is the same command. */
export type Command = { readonly id: string } & (
  | { readonly type: 'cancel'; readonly scope?: 'turn' | 'run' | 'all'; readonly reason?: string }
  | { readonly type: 'pause' | 'resume' | 'retry' | 'compact' | 'close' }
  | { readonly type: 'withdraw'; readonly input: string }
);

/** How a message or a command was taken. */
export interface Acceptance {
  readonly session: string;
  readonly id: string;
  readonly status: 'accepted' | 'rejected';
  /** The number of the run, where there is one. */
  readonly run?: number;
  /** Why the session rejected it, such as `nothing_to_pause`. */
  readonly code?: string;
}

/** What a run does now. */
export interface RunNow {
  readonly session: string;
  readonly run: number;
  readonly id: string;
  readonly status: 'running' | 'waiting' | 'stalled' | 'ended';
  /** Of an ended run: its last answer, its value, why it ended, and what it used. */
  readonly text?: string;
  readonly value?: unknown;
  readonly stop?: { readonly kind: string } & Readonly<Record<string, unknown>>;
  readonly usage?: Readonly<Record<string, number>>;
  /** Of a waiting run: for what, until when, and the items that people decide. */
  readonly for?: string;
  readonly until?: number | null;
  readonly pending?: readonly PendingDecision[];
  /** Of a stalled run: the code of its trouble, and since when, in journal milliseconds. */
  readonly code?: string;
  readonly since?: number;
}

/** An approval or a question that waits for a person. */
export interface PendingDecision {
  readonly id: string;
  readonly kind: 'approval' | 'question';
  readonly session?: string;
  readonly tool?: string;
  readonly call_id?: string;
  readonly args?: unknown;
  readonly title?: string;
  readonly reason?: string;
  readonly question?: { readonly question: string } & Readonly<Record<string, unknown>>;
  /** Names all that is shown: give it back with the decision. */
  readonly digest: string;
  readonly to: string;
  readonly since: number;
  readonly deadline: number | null;
}

/** A decision: exactly one of `approve`, `deny` and `answer`. */
export type ItemDecision = { readonly id?: string; readonly digest?: string } & (
  | {
      readonly approve: true;
      readonly args?: unknown;
      readonly comment?: string;
      readonly remember?: true | { readonly for: string };
    }
  | { readonly deny: string }
  | { readonly answer: unknown }
);

/** What became of a decision. */
export interface DecisionResult {
  readonly status: 'applied' | 'already_settled' | 'stale' | 'changed';
  readonly item?: PendingDecision;
}
