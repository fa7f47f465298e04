/** What servers of a world have in common, whatever carries their messages. */

import { type ArgumentCheck, checkOf, escapeLine, fieldsOf } from '@reprise/contracts';
import type { McpServerOptions } from '../protocol/mcp-types.js';
import type { OfferedWorld } from './served-world.js';

/** A server of a world. */
export interface Serving extends AsyncDisposable {
  /** Where clients reach it; absent on standard input. */
  readonly url?: string;
  /** Resolves when it has ended, because it was closed or its client is gone. */
  readonly ended: Promise<void>;
  /** Takes no further requests, lets those that are under way end for a while, and ends the rest. Idempotent. */
  close(): Promise<void>;
}

/** What clients are told of a server. */
export interface ServerNames {
  /** The name that clients show. Default `reprise`. */
  readonly name?: string;
  /** Words for the models of clients. */
  readonly instructions?: string;
  /** Receives what went wrong in a part: clients learn only that a call failed. Default: written to standard error. */
  readonly onError?: (error: Error) => void;
}

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid argument of a server');

/** Refuses anything but a world: callers may be untyped. */
export function requireWorld(world: unknown): void {
  const { kernel, served } = fieldsOf(world);
  require(typeof kernel === 'object' && Array.isArray(served), 'world', 'an open world of agents', typeof world);
}

/** Where errors go: `onError`, or standard error when it is absent. */
export function errorsTo({ onError }: ServerNames): (error: Error) => void {
  return onError ?? ((error) => void process.stderr.write(`reprise server: ${escapeLine(error.message)}\n`));
}

/**
 * The message core's options for one client.
 *
 * @param session names the session of the client, for revisions that have sessions
 */
export function coreOptions(offer: OfferedWorld, names: ServerNames, session: string): McpServerOptions {
  return {
    name: names.name ?? 'reprise',
    version: VERSION,
    ...(names.instructions === undefined ? {} : { instructions: names.instructions }),
    tools: () => offer.tools(),
    tool: (name) => offer.tool(name),
    resources: offer.resources,
    call: (call) => offer.call(call, session),
    onError: errorsTo(names),
  };
}

/** The version of the package. A test compares it with `package.json`, which a bundle of an app does not have. */
const VERSION = '0.1.0';
