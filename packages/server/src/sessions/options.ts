/** What clients may do with sessions over HTTP. */
import {
  type ArgumentCheck,
  checkOf,
  isObject,
  type KnownOptions,
  type Principal,
  requireKnownOptions,
} from '@reprise/contracts';

/** A session that a client asks for. */
export interface AskedSession {
  readonly principal: Principal;
  readonly session: string;
}

/** A session that a client wants to begin. */
export interface WantedSession extends AskedSession {
  /** The name of the agent. */
  readonly agent: string;
}

/** An organization that a client asks for, with the sessions that belong to it. */
export interface AskedOrganization {
  readonly principal: Principal;
  /** What kind of organization it is, such as `tree`, `project` or `swarm`. */
  readonly kind: string;
  readonly name: string;
}

/** What clients may do with sessions over HTTP. It narrows what the rights of their principals say, and adds nothing. */
export interface SessionsOptions {
  /**
   * Whether a session is one of a principal's: for others it is not there. By default a person has the sessions whose key is the
   * person's name or begins with it and `/`: `human:ann` has `ann` and `ann/trip`; a session that an organization made is nobody's
   * own. For operators: `() => true`.
   */
  readonly mayUse?: (asked: AskedSession) => boolean | Promise<boolean>;
  /**
   * Whether an organization is one of a principal's, and with it the sessions that belong to it, for reading and decisions. By
   * default it is that of the principal that made it; of a swarm, that of its creator and of those above the creator.
   */
  readonly mayFollow?: (asked: AskedOrganization) => boolean | Promise<boolean>;
  /** Whether a principal may begin one of its sessions, with this agent. By default it may. */
  readonly mayStart?: (wanted: WantedSession) => boolean | Promise<boolean>;
}

const OPTIONS: KnownOptions<SessionsOptions> = { mayUse: true, mayFollow: true, mayStart: true };

/** Refuses what are no options. @param call the function that takes them */
export function requireApiOptions(sessions: unknown, call: string): void {
  const require: ArgumentCheck = checkOf('invalid_argument', `invalid option of ${call}`);
  if (typeof sessions === 'boolean') return;
  require(isObject(sessions), 'sessions', 'true, false, or options', typeof sessions);
  requireKnownOptions(sessions, OPTIONS, `${call} sessions`);
  for (const [name, decides] of Object.entries(sessions))
    if (decides !== undefined)
      require(typeof decides === 'function', `sessions.${name}`, 'a function that says true or false', typeof decides);
}

/** Whether a key is a person's own: what {@link SessionsOptions.mayUse} says by default. */
export function ownKey({ principal, session }: AskedSession): boolean {
  if (!principal.startsWith('human:')) return false;
  const name = principal.slice('human:'.length);
  return session === name || session.startsWith(`${name}/`);
}
