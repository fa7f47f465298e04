/** The second argument of a tool's handler. */
import type { Principal, Ref, SessionInfo, Value } from '@reprise/contracts';
import type { ContentStore, Scrubber } from '@reprise/kernel';
import type { Duration } from '../../contracts/duration.js';
import type { OwnerReply } from '../../contracts/owner.js';
import type { Artifact, FileChange } from '../../contracts/tool-call.js';
import type { OutputOf, Schema } from '../schema/schema.js';
import type { Tool } from './tool.js';

/**
 * The second argument of a tool's handler. `D` is the type of `deps`, which the app passes to `openWorld({ deps })`.
 */
export interface ToolContext<D = unknown> {
  readonly deps: D;
  /** The session whose model called. */
  readonly session: SessionInfo;
  /** Aborted with an `AbortError` on cancel, timeout and shutdown; `fetch` and similar functions throw it. */
  readonly signal: AbortSignal;
  /** The effect's id: pass it to services that accept an idempotency key. The same in every attempt. */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the world closes: work that a call leaves running has to end then. */
  readonly closing: AbortSignal;
  /** Reads the world in which the call is made. */
  readonly world: WorldReader;
  /** When the call expires, in journal milliseconds; null when it does not. */
  readonly deadline: number | null;
  /** The content store of the world, which the call may read and write. */
  readonly content: ContentStore;
  /** Reports progress to watchers in this process; never journaled. */
  progress(note: Value): void;
  /** The value of a secret by name. It is concealed: see `scrubber`. */
  secret(name: string): Promise<string>;
  /**
   * Removes the secrets of the world from everything that a tool returns, stores, asks or throws. Conceal secrets that
   * are sent outside and did not come from `secret`: `ctx.scrubber?.conceal(token)`. Absent when a handler is called by
   * hand.
   */
  readonly scrubber?: Scrubber;
  /** Reports an error that the call survives to the world's `onError`. Never throws. */
  report?(error: unknown): void;
  /**
   * Says where the answer departs from what came from outside, such as numbers that are kept as text: a warning of the
   * receipt, for operators. A receipt has at most 16.
   */
  warn?(what: string): void;
  /**
   * Asks a person and waits. Question and answer are journaled: when a call is run again after a crash and asks the
   * same questions in the same order, it gets the recorded answers.
   *
   * @throws RepriseError `bound_exceeded`, `invalid_value`; `invalid_argument` when no answer fits the schema
   */
  ask<S extends Schema>(question: Question<S>): Promise<Answer<OutputOf<S>>>;
  /**
   * Stores a file that the call made. It is listed in the receipt; the model sees it only when the answer has it as a
   * part.
   */
  put(file: NewFile): Promise<Artifact>;
  /**
   * Calls the owner of the session, as the session: for a program that works during this call. The owner's answer is
   * journaled; the same id gives the same answer. `pending` when no answer comes within the given time.
   *
   * @param name the name of an owner tool
   * @param args its arguments
   * @throws RepriseError `invalid_value` for arguments that do not fit the tool; `request_rejected` when the call is over
   *   (`no_turn`), the session has no owner (`no_owner`), or too much is asked (`too_large`, `too_many_calls`)
   */
  owner(name: string, args: Value, options?: OwnerCallOptions): Promise<OwnerAnswered | 'pending'>;
  /** Records that an outside file was changed: its content before and after, null where it did not exist. */
  changed(path: string, before: Ref | null, after: Ref | null): FileChange;
}

/** How a handler calls the owner of its session. */
export interface OwnerCallOptions {
  /** Names the call: 1 to 126 characters. A repetition gets the first answer. Made up when absent. */
  readonly id?: string;
  /** How long the call waits for its answer; as long as the handler may run when absent. */
  readonly within?: Duration;
  /**
   * The tool that was offered, which checks and makes the arguments. When absent, it is the first owner tool of the world
   * with the name: several may have one name.
   */
  readonly tool?: Tool;
}

/** The answer of an owner. */
export interface OwnerAnswered extends OwnerReply {
  readonly isError: boolean;
}

/** Reads a world, as plain data for a model. */
export interface WorldReader {
  /** Sessions, the last changed first: their status and usage. `next` begins behind a page. */
  sessions(page: {
    readonly after?: string;
    readonly limit: number;
  }): Promise<{ readonly items: readonly Value[]; readonly next?: string }>;
  /** The pending approvals and questions, the oldest first. */
  pending(page: { readonly limit: number }): Promise<readonly Value[]>;
  /** The usage of a session. */
  usage(session: string): Promise<Value>;
  /** The items of a session's transcript from an index on, with texts cut to a readable size. */
  transcript(session: string, page: { readonly from: number; readonly limit: number }): Promise<readonly Value[]>;
}

/** A question of a handler. */
export interface Question<S extends Schema = Schema> {
  readonly question: string;
  /** Who may answer besides the operator, as a pattern of principals; any person when absent. */
  readonly to?: string;
  /** The schema of the answer. An answer that does not fit is requested again, with the problems. */
  readonly answer?: S;
  readonly options?: readonly { readonly id: string; readonly label: string }[];
  /** The default answer when none arrives in time. */
  readonly default?: OutputOf<S>;
  /** How long the question waits for an answer; as long as the call may take when absent. */
  readonly within?: Duration;
}

/** The result of a question. */
export type Answer<T> =
  | { readonly how: 'answered'; readonly by: Principal; readonly value: T }
  | { readonly how: 'default'; readonly value: T }
  | { readonly how: 'expired' | 'cancelled' };

/** A file that a call made. */
export interface NewFile {
  /** The file's name, for people. */
  readonly path: string;
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>;
  /** The media type; `application/octet-stream` when absent. */
  readonly mediaType?: string;
}
