/** Which session a thread of AG-UI is, and what clients may do with it. */
import {
  type ArgumentCheck,
  checkOf,
  isObject,
  type KnownOptions,
  type Principal,
  requireKnownOptions,
} from '@reprise/contracts';
import type { SessionsOptions } from '../sessions/options.js';

/** A thread that a client asks for. */
export interface AskedThread {
  readonly principal: Principal;
  /** The id as the client chose it. */
  readonly thread: string;
}

/** What clients may do over AG-UI. `mayUse` and `mayStart` count as they do for sessions. */
export interface AgUiOptions extends SessionsOptions {
  /**
   * The key of a thread's session; undefined when there is no such thread. By default a thread is a session of its person: thread
   * `abc` of `human:ann` is the session `ann/abc`, and thread `ann/abc` is that session too.
   */
  readonly sessionOf?: (asked: AskedThread) => string | undefined | Promise<string | undefined>;
}

const OPTIONS: KnownOptions<AgUiOptions> = { mayUse: true, mayFollow: true, mayStart: true, sessionOf: true };

/** Refuses what are no options. @param call the function that takes them */
export function requireAgUiOptions(agUi: unknown, call: string): void {
  const require: ArgumentCheck = checkOf('invalid_argument', `invalid option of ${call}`);
  if (typeof agUi === 'boolean') return;
  require(isObject(agUi), 'agUi', 'true, false, or options', typeof agUi);
  requireKnownOptions(agUi, OPTIONS, `${call} agUi`);
  for (const [name, decides] of Object.entries(agUi))
    if (decides !== undefined) require(typeof decides === 'function', `agUi.${name}`, 'a function', typeof decides);
}

/** The session of a thread: what {@link AgUiOptions.sessionOf} says by default. */
export function ownThread({ principal, thread }: AskedThread): string | undefined {
  if (!principal.startsWith('human:')) return undefined;
  const own = `${principal.slice('human:'.length)}/`;
  return thread.startsWith(own) ? thread : `${own}${thread}`;
}
