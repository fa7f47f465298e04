/** The options of a session's methods, and what its commands return. */
import type { Actor, Principal } from '@reprise/contracts';
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
  /**
   * Whether the message stays in the window word for word when a summary replaces the conversation around it; the last
   * 16 pinned messages do.
   */
  readonly pin?: boolean;
}

/** The options of an input. */
export interface SendOptions extends Pick<SayOptions, 'id' | 'as' | 'actor' | 'pin'> {
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

type Names<O> = Readonly<Record<keyof O, true>>;

const COMMAND: Names<CommandOptions> = { id: true, ifEpoch: true, as: true, actor: true };
const SAY: Names<SayOptions> = { ...COMMAND, pin: true };

/** The names of the options of each method: another name is a misspelled one, and is refused. */
export const OPTION_NAMES: {
  readonly command: Names<CommandOptions>;
  readonly say: Names<SayOptions>;
  readonly send: Names<SendOptions>;
  readonly cancel: Names<CancelOptions>;
  readonly session: Names<SessionOptions>;
  readonly spawn: Names<SpawnOptions>;
} = {
  command: COMMAND,
  say: SAY,
  send: { id: true, as: true, actor: true, pin: true, priority: true },
  cancel: { ...COMMAND, scope: true, reason: true },
  session: { labels: true },
  spawn: { id: true, as: true, actor: true, budget: true },
};
