/** What clients may do with sessions over HTTP. */
import {
  type ArgumentCheck,
  checkOf,
  isObject,
  type KnownOptions,
  type Principal,
  requireKnownOptions,
} from '@reprise/contracts';

/** A session that a client wants to begin. */
export interface WantedSession {
  readonly principal: Principal;
  readonly session: string;
  /** The name of the agent. */
  readonly agent: string;
}

/** What clients may do with sessions over HTTP, besides what the rights of their principals say. */
export interface SessionsOptions {
  /**
   * Whether a principal may begin a session. By default a person may, under a key that is the person's name or begins with it
   * and `/`: `human:ann` may begin `ann/trip`.
   */
  readonly mayStart?: (wanted: WantedSession) => boolean | Promise<boolean>;
}

const OPTIONS: KnownOptions<SessionsOptions> = { mayStart: true };

/** Refuses what are no options. @param call the function that takes them */
export function requireApiOptions(sessions: unknown, call: string): void {
  const require: ArgumentCheck = checkOf('invalid_argument', `invalid option of ${call}`);
  if (typeof sessions === 'boolean') return;
  require(isObject(sessions), 'sessions', 'true, false, or options', typeof sessions);
  requireKnownOptions(sessions, OPTIONS, `${call} sessions`);
  const { mayStart } = sessions as SessionsOptions;
  const fits = mayStart === undefined || typeof mayStart === 'function';
  require(fits, 'sessions.mayStart', 'a function that decides about a new session', typeof mayStart);
}

/** The default of {@link SessionsOptions.mayStart}. */
export function ownKey({ principal, session }: WantedSession): boolean {
  if (!principal.startsWith('human:')) return false;
  const name = principal.slice('human:'.length);
  return session === name || session.startsWith(`${name}/`);
}
