/**
 * Decides which typed lines may decide a question. Pure: times are given.
 *
 * Invariants
 * G1  Only keys pressed while the question stands on the screen decide: a line with an earlier key decides nothing.
 * G2  A paste decides nothing. Several characters in one read, or reads at the speed of a machine, count as a paste; one
 *     character and its Enter do not, in one read or in two. A free answer may be pasted, if Enter is pressed by itself.
 * G3  An approval counts only after the end of what is approved was on the screen.
 * G4  A line decides after a moment of quiet: input that follows at once shows that the line was part of a paste.
 */

/** How a line would decide: approve a call, settle it otherwise, or answer in free words. */
export type Deciding = 'approve' | 'settle' | 'answer';

/** The question that is asked. */
export interface Asked {
  readonly id: string;
  /** How many rows there are to see before an approval counts, and how many of them were on the screen. */
  readonly rows: number;
  readonly seen: number;
  /** Whether the question stands on the screen, and all input from before was read. */
  readonly isOpen: boolean;
}

/** Where the keys of the current line come from. */
export interface Origin {
  readonly isEarly: boolean;
  readonly isPasted: boolean;
  /** Whether its last key came at the speed of a machine. */
  readonly isRushed: boolean;
}

/** The state of the gate. */
export interface Gate {
  readonly asked: Asked | undefined;
  readonly line: Origin | undefined;
  /** When the last input was read, in milliseconds. */
  readonly lastAt: number;
  /** The question that a line will decide, if nothing follows it. */
  readonly held: string | undefined;
}

/** Why a line does not decide. */
export type Refusal = 'early' | 'pasted' | 'unseen';

/** Two inputs within this time were not typed by a person. In milliseconds. */
export const QUIET_MS = 10;

/** No question, and nothing typed. */
export const GATE: Gate = { asked: undefined, line: undefined, lastAt: Number.NEGATIVE_INFINITY, held: undefined };

/** A question will be drawn, with a number of rows to see. */
export function ask(gate: Gate, id: string, rows: number): Gate {
  return { ...gate, asked: { id, rows, seen: 0, isOpen: false }, held: undefined };
}

/** The first rows, up to this number, were on the screen. */
export function see(gate: Gate, seen: number): Gate {
  const { asked } = gate;
  return asked === undefined || seen <= asked.seen ? gate : { ...gate, asked: { ...asked, seen } };
}

/** The screen has another width, so the same text has another number of rows. What was seen to its end stays seen. */
export function remeasure(gate: Gate, rows: number): Gate {
  const { asked } = gate;
  if (asked === undefined) return gate;
  return { ...gate, asked: { ...asked, rows, seen: isSeen(gate) ? rows : 0 } };
}

/** The question stands on the screen now, and all input from before was read. */
export function open(gate: Gate, id: string): Gate {
  const { asked } = gate;
  return asked?.id !== id ? gate : { ...gate, asked: { ...asked, isOpen: true } };
}

/** There is no question any more. */
export function unask(gate: Gate): Gate {
  return { ...gate, asked: undefined, held: undefined };
}

/** How a key was read. */
export interface Reading {
  readonly isPaste?: boolean;
  /** It is the Enter of one character, in the same read or in the next one: it came as fast as that did. */
  readonly isSame?: boolean;
}

/** A key or a paste was read at a time. G4: it spoils a line that is held. */
export function typed(gate: Gate, at: number, { isPaste = false, isSame = false }: Reading = {}): Gate {
  const { line, asked, lastAt } = gate;
  const isRushed = isSame ? line?.isRushed === true : at - lastAt < QUIET_MS;
  const next: Origin = {
    isEarly: asked?.isOpen !== true || line?.isEarly === true,
    isPasted: isPaste || isRushed || line?.isPasted === true,
    isRushed,
  };
  return { ...gate, line: next, lastAt: at, held: undefined };
}

/** A key that is no part of a line was read at a time. What follows it at once was not typed by a person. */
export function pressed(gate: Gate, at: number): Gate {
  return { ...gate, lastAt: at, held: undefined };
}

/** The typed line is empty now. */
export function cleared(gate: Gate): Gate {
  return gate.line === undefined ? gate : { ...gate, line: undefined };
}

/** Whether all rows were on the screen. */
export function isSeen({ asked }: Gate): boolean {
  return asked === undefined || asked.seen >= asked.rows;
}

/** Takes a line that would decide: holds it, or says why it does not count. The line was read by {@link typed}. */
export function submit(gate: Gate, deciding: Deciding): { readonly gate: Gate; readonly refused?: Refusal } {
  const { asked, line } = gate;
  const after = cleared(gate);
  if (asked === undefined || !asked.isOpen || line === undefined || line.isEarly)
    return { gate: after, refused: 'early' }; // G1
  if (deciding === 'answer' ? line.isRushed : line.isPasted || line.isRushed) return { gate: after, refused: 'pasted' }; // G2
  if (deciding === 'approve' && !isSeen(gate)) return { gate: after, refused: 'unseen' }; // G3
  return { gate: { ...after, held: asked.id } };
}

/** Nothing followed the held line. Returns the question that it decides. */
export function quiet(gate: Gate): { readonly gate: Gate; readonly decides?: string } {
  const { held, asked } = gate;
  if (held === undefined || held !== asked?.id) return { gate: { ...gate, held: undefined } };
  return { gate: { ...gate, held: undefined }, decides: held };
}
