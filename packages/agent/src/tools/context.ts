/** What a handler is given besides its arguments. */
import type { Principal, Ref, SessionInfo, Value } from '@reprise/contracts';
import type { ContentStore, Scrubber } from '@reprise/kernel';
import type { Artifact, FileChange } from '../contracts/tool-call.js';
import type { Duration } from './duration.js';
import type { OutputOf, Schema } from './schema.js';

/** What a handler is given besides its arguments. `D` is what the app hands to its tools, by `openWorld({ deps })`. */
export interface ToolContext<D = unknown> {
  readonly deps: D;
  /** The session whose model called. */
  readonly session: SessionInfo;
  /** Aborted on cancel, timeout and shutdown, with an `AbortError`: what `fetch` and the like throw then. */
  readonly signal: AbortSignal;
  /** The effect's id: hand it to services that take an idempotency key. The same in every attempt. */
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the world closes: what a call leaves running has to end then. */
  readonly closing: AbortSignal;
  /** What may be looked up about the world that the call is made in. */
  readonly world: WorldReader;
  /** When the call is given up, in journal milliseconds; null when it is not. */
  readonly deadline: number | null;
  /** The world's content store. */
  readonly content: ContentStore;
  /** Tells watchers of this process how far the call is; never journaled. */
  progress(note: Value): void;
  /** The value of a secret by name. It is concealed: see `scrubber`. */
  secret(name: string): Promise<string>;
  /**
   * Removes the secrets of the world from what a tool answers, puts, asks and throws. Conceal what is sent to the
   * outside and did not come from `secret`: `ctx.scrubber?.conceal(token)`. Absent where a handler is called by hand.
   */
  readonly scrubber?: Scrubber;
  /** Tells `onError` of the world of an error that the call survives. Never throws. */
  report?(error: unknown): void;
  /**
   * Asks somebody and waits. Question and answer are journaled: a call that is run again after a crash and asks the
   * same questions in the same order gets the answers that were given.
   *
   * @throws RepriseError `bound_exceeded`, `invalid_value`; `invalid_argument` when answers never fit their schema
   */
  ask<S extends Schema>(question: Question<S>): Promise<Answer<OutputOf<S>>>;
  /** Keeps a file that the call made; it is listed in the receipt, and shown to the model only when it is answered as a part. */
  put(file: NewFile): Promise<Artifact>;
  /** Notes that a file outside was changed: its content before and after, null where it was absent. */
  changed(path: string, before: Ref | null, after: Ref | null): FileChange;
}

/** Looks things up about a world, as plain data for a model. */
export interface WorldReader {
  /** Sessions, those that changed last first: how they fare, what they have used. `next` goes on behind a page. */
  sessions(page: {
    readonly after?: string;
    readonly limit: number;
  }): Promise<{ readonly items: readonly Value[]; readonly next?: string }>;
  /** What waits for somebody: approvals and questions, the oldest first. */
  pending(page: { readonly limit: number }): Promise<readonly Value[]>;
  /** What a session has used. */
  usage(session: string): Promise<Value>;
  /** The items of a session's transcript from an index on, texts cut to a size that can be read. */
  transcript(session: string, page: { readonly from: number; readonly limit: number }): Promise<readonly Value[]>;
}

/** A question of a handler. */
export interface Question<S extends Schema = Schema> {
  readonly question: string;
  /** Who besides the host may answer, as a pattern of principals; people when absent. */
  readonly to?: string;
  /** What an answer has to be. One that does not fit is asked for again, with what is wrong. */
  readonly answer?: S;
  readonly options?: readonly { readonly id: string; readonly label: string }[];
  /** What counts when nobody answers in time. */
  readonly default?: OutputOf<S>;
  /** How long an answer is waited for; as long as the call may take when absent. */
  readonly within?: Duration;
}

/** How a question ended. */
export type Answer<T> =
  | { readonly how: 'answered'; readonly by: Principal; readonly value: T }
  | { readonly how: 'default'; readonly value: T }
  | { readonly how: 'expired' | 'cancelled' };

/** A file that a call made. */
export interface NewFile {
  /** What it is called, for people. */
  readonly path: string;
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>;
  /** Default `application/octet-stream`. */
  readonly mediaType?: string;
}
