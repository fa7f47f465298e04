/** The options of a session's methods, and what its commands return. */
import {
  type Actor,
  aFlag,
  anObject,
  aPrincipal,
  aText,
  type KnownOptions,
  type OptionKind,
  oneOf,
  type Principal,
  textOf,
  textsByName,
  wholeFrom,
} from '@reprise/contracts';
import type { Rejection } from '../contracts/commands.js';
import type { Limits } from '../define/limits.js';

/** The options of a session command. */
export interface CommandOptions {
  /**
   * The command's id: sent again with the same content, it changes nothing and returns the same answer; with other
   * content it is refused with `request_conflict`.
   */
  readonly id?: string;
  /** Accepts the command only in this epoch of the session: `state().session_epoch`. */
  readonly ifEpoch?: number;
  /** The principal that sends the command; `operator` when absent. A message of a person is sent `as` that person. */
  readonly as?: Principal;
  /**
   * Who sends it, where that does not follow from `as`: a rule or a program that acts with a person's rights, a node.
   * At most 1,024 bytes. A person can state no other person.
   */
  readonly actor?: Actor;
}

/** The options of a message. */
export interface SayOptions extends CommandOptions {
  /** The `traceparent` with which it came from elsewhere: the trace of its run links to that span. */
  readonly traceparent?: string;
  /**
   * Whether the message stays in the window word for word when a summary replaces the conversation around it; the last
   * 16 pinned messages do.
   */
  readonly pin?: boolean;
}

/** The options of an input. */
export interface SendOptions extends Pick<SayOptions, 'id' | 'as' | 'actor' | 'pin' | 'traceparent'> {
  /** Higher values come first; 0 when absent. */
  readonly priority?: number;
}

/** The options of a cancel. */
export interface CancelOptions extends CommandOptions {
  /**
   * `turn` ends the turn of a run that stays open for input, `run` (default) ends the run, `all` also drops the waiting
   * inputs.
   */
  readonly scope?: 'turn' | 'run' | 'all';
  /** For readers of the journal; the model is not told. */
  readonly reason?: string;
}

/** The result of a command, as recorded in the journal. */
export type CommandReceipt =
  | {
      readonly command_id: string;
      readonly status: 'accepted';
      /** Of a follow-up: the number of its run, which may begin later. */
      readonly run?: number;
      /** Of a cancel: how many inputs still wait. */
      readonly still_queued?: number;
    }
  | { readonly command_id: string; readonly status: 'rejected'; readonly code: Rejection | 'session_absent' };

/** The options of a new session. */
export interface SessionOptions {
  /**
   * Labels of the session: tools and rules receive them, and `world.sessions` finds sessions by them. They must not
   * contain personal data.
   */
  readonly labels?: Readonly<Record<string, string>>;
}

/** The options of a child session. */
export interface SpawnOptions extends Pick<CommandOptions, 'id' | 'as' | 'actor'> {
  /** The budget of the child's runs; its agent's own limits apply as well. */
  readonly budget?: Pick<Limits, 'tokens' | 'usd' | 'wall'>;
}

/** The bounds of a priority, as the recorded input has them. */
const PRIORITY_MAX = 1_000;

/** The ids of commands and inputs. */
export const anId: OptionKind = textOf(128);

const COMMAND: KnownOptions<CommandOptions> = { id: anId, ifEpoch: wholeFrom(0), as: aPrincipal, actor: true };
const SAY: KnownOptions<SayOptions> = { ...COMMAND, pin: aFlag, traceparent: aText };

/** The options of each method: another name is a misspelled one, and is refused. */
export const OPTION_NAMES: {
  readonly command: KnownOptions<CommandOptions>;
  readonly say: KnownOptions<SayOptions>;
  readonly send: KnownOptions<SendOptions>;
  readonly cancel: KnownOptions<CancelOptions>;
  readonly session: KnownOptions<SessionOptions>;
  readonly spawn: KnownOptions<SpawnOptions>;
} = {
  command: COMMAND,
  say: SAY,
  send: {
    id: anId,
    as: aPrincipal,
    actor: true,
    pin: aFlag,
    traceparent: aText,
    priority: wholeFrom(-PRIORITY_MAX, PRIORITY_MAX),
  },
  cancel: { ...COMMAND, scope: oneOf('turn', 'run', 'all'), reason: aText },
  session: { labels: textsByName },
  spawn: { id: anId, as: aPrincipal, actor: true, budget: anObject },
};
