/** One line of a history: one thing that a person cares about, in words. */
import type { Actor, Ref } from '@reprise/contracts';
import type { Cursor } from '../contracts/agent-event.js';

/** What an entry is about. */
type EntryKind =
  /** A message of a person, a program or another session. */
  | 'message'
  /** A command other than a message: pause, cancel, close. */
  | 'command'
  | 'answer'
  | 'call'
  | 'result'
  /** A person has to decide or answer. */
  | 'question'
  | 'decision'
  | 'child'
  /** A run waits, pauses, resumes or is being cancelled. */
  | 'run'
  /** A run has ended. */
  | 'end'
  | 'limit'
  | 'config'
  | 'window'
  | 'toolset'
  | 'failure';

/** An entry of a history. Its texts may hold any character: escape them before they reach a terminal. */
export interface HistoryEntry {
  /** Its place in the journal, `frame.record`. */
  readonly place: Cursor;
  /** The time of its frame, in milliseconds since 1970. */
  readonly at: number;
  /** The key of the session. */
  readonly session: string;
  /** The number of the run in its session; null when the entry belongs to none. */
  readonly run: number | null;
  readonly kind: EntryKind;
  /** Who acted: a principal, `model`, a tool, or `session <key>`; null when nobody did. */
  readonly by: string | null;
  /** Who acted from outside: a person, a rule, a program, a node; absent for models, tools and cells. */
  readonly actor?: Actor;
  readonly call_id?: string;
  readonly tool?: string;
  /** The entry in words, with its text last. */
  readonly words: string;
  /** The text that was said, answered or returned, as far as the bound allows. */
  readonly text?: string;
  /** The content that has the text in full. */
  readonly ref?: Ref;
}

/** How much of a text an entry includes, in UTF-16 units. */
export interface TextBounds {
  /** The most characters of the texts of messages and answers. */
  readonly said: number;
  /** The most characters of the texts of arguments and results. */
  readonly data: number;
}

/** What people and models said is shown whole unless it is very long; data that tools exchange is cut sooner. */
export const TEXT_BOUNDS: TextBounds = { said: 8_192, data: 400 };
