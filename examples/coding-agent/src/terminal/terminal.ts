/** What the program needs of a terminal: a screen that is drawn, or plain lines in its place. */
import type { Gate } from '../approvals/gate.js';
import type { Paint } from './text/paint.js';
import type { Line } from './text/spans.js';

/** A line that is printed: styled, or plain text. */
export type Printed = Line | string;

/** A question that stays on the screen until it is decided. */
export interface Panel {
  /** The id of the question, for the gate. */
  readonly id: string;
  /** What is asked about, whole. */
  readonly body: readonly Line[];
  /** The question with its choices. It is drawn after the body, and after all earlier input was read. */
  readonly ask: readonly Line[];
}

/** The callbacks of a terminal. */
export interface TerminalEvents {
  /** A line was submitted; the gate still knows where its keys came from. True: it belongs into the history. */
  line(text: string): boolean;
  /** Ctrl-C with nothing typed. */
  interrupt(): void;
  /** The typed text was thrown away by Ctrl-C or Esc. */
  dropped(): void;
  /** Esc with nothing typed. */
  escape(): void;
  /** The last output should be shown whole. */
  expand(): void;
  /** What is asked should be shown whole. */
  view(): void;
  /** The names that a typed beginning can be completed to. */
  complete(text: string): readonly string[];
  /** An input was read: what it does to the gate was applied. */
  read(): void;
  /** The input has ended. */
  end(): void;
}

/** A terminal, or a pipe in its place. */
export interface Terminal {
  readonly paint: Paint;
  readonly columns: number;
  /** Whether there is a place for the state of the conversation. */
  readonly hasFooter: boolean;
  /** Which lines may decide the question of the panel. */
  gate: Gate;
  /** Prints lines; they stay. */
  print(...lines: readonly Printed[]): void;
  /** Adds to the answer that is being written. */
  say(piece: string): void;
  /** Ends the answer that is being written. */
  endSaying(): void;
  /** Forgets the answer that is being written, as far as it is not printed. */
  unsay(): void;
  /** Shows lines that change, for example the last lines of a running program; no lines: shows nothing. */
  live(lines: readonly Line[]): void;
  /** Shows the current activity; an empty text for nothing. */
  status(text: string): void;
  /** Shows the state of the conversation below the input. */
  footer(text: string): void;
  /** Sets the mark before the typed text. */
  label(line: Line): void;
  /** Asks a question, or asks nothing. */
  panel(panel: Panel | undefined): void;
  /** Shows a text whole; resolves when the person has closed it. What is seen of the panel's body is noted. */
  page(title: string, lines: readonly Line[], isPanel?: boolean): Promise<void>;
  /** Puts a text into the input, to be edited; false where that is not possible. */
  prefill(text: string): boolean;
  /** Accepts no more input, and leaves the terminal as it was. */
  close(): void;
}
