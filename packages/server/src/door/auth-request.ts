/** Who sends a request, as an app finds it. */
import type { Principal } from '@reprise/contracts';

/** What a request shows of itself, before it is known who sent it. */
export interface AuthRequest {
  readonly method: string;
  /** The path and the query. */
  readonly url: string;
  /** A header; names are in lower case. */
  header(name: string): string | undefined;
  /** The address of the other side of the connection, which may be a proxy. */
  readonly remoteAddress?: string;
}

/** Finds the principal of a request; undefined refuses it. */
export type Authenticate = (request: AuthRequest) => Promise<Principal | undefined> | Principal | undefined;
