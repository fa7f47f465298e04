/** A request as the door and what stands behind it see it, carried by Node's server, or a platform's `Request`. */
import type { TOO_LARGE } from './bodies.js';

/** A request under way, and what it holds until it is over. */
export interface Visit {
  readonly method: string;
  /** The target as the client wrote it: a path with its query, or a whole address. */
  readonly target: string;
  /** The origin under which it came, such as `https://app.example.com`, where its carrier knows that. */
  readonly origin?: string;
  readonly headers: Headers;
  readonly remoteAddress: string | undefined;
  /** Aborted when the client leaves before it has the whole answer, or {@link stop} is called. */
  readonly signal: AbortSignal;
  /** Whether nobody waits for the answer any more. */
  readonly isOver: boolean;
  /** Whether an answer that is stopped breaks its connection, since its client would take it for a whole one. */
  breaks: boolean;
  /** Reads the body; stops where it exceeds the bound, in bytes. @throws Error when the client leaves before its end */
  body(bytesMax: number): Promise<string | typeof TOO_LARGE>;
  /** Holds something until the visit is over. @returns gives it back earlier */
  hold(release: () => void): () => void;
  /** Ends the answer: what makes it is aborted. */
  stop(): void;
}
