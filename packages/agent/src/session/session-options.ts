/** The options of a session's methods, and what its commands return. */
import type { Principal } from '@reprise/contracts';
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
  /** The principal that sends the command; `operator` when absent. */
  readonly as?: Principal;
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
export interface SendOptions extends Pick<SayOptions, 'id' | 'as' | 'pin'> {
  /** Higher values come first; 0 when absent. */
  readonly priority?: number;
}

/** The names of the options of an input. */
export const SEND_OPTIONS: Readonly<Record<keyof SendOptions, true>> = {
  id: true,
  as: true,
  pin: true,
  priority: true,
};

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
export interface SpawnOptions extends Pick<CommandOptions, 'id' | 'as'> {
  /** The budget of the child's runs; its agent's own limits apply as well. */
  readonly budget?: Pick<Limits, 'tokens' | 'usd' | 'wall'>;
}
