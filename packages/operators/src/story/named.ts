/** What frames name of the frames before them: the effects that they are about, and the sessions whose steps they belong to. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { JournalRecord } from '@reprise/contracts';

/** Effects and sessions that a reader has to know something of. */
export interface Named {
  readonly effects: ReadonlySet<string>;
  readonly sessions: ReadonlySet<string>;
}

/** The effect that a record is about, besides its emission. */
export function effectNamedBy(record: JournalRecord): string | undefined {
  switch (record.kind) {
    case 'receipt':
    case 'settled':
    case 'deferred':
    case 'ask':
    case 'attempt':
      return record.effect;
    case 'command':
    case 'cell_command':
      return 'effect' in record.command.value ? record.command.value.effect : undefined;
    default:
      return undefined;
  }
}

/** The session that states a fact. */
export function sessionStating(record: JournalRecord): string | undefined {
  return record.kind === 'fact' && record.from?.[0] === SESSION_REDUCER ? record.from[1] : undefined;
}

/** The lifecycles in which a session has no run. A test compares them. */
const WITHOUT_RUN: readonly unknown[] = ['Idle', 'Completed', 'Failed', 'Cancelled'];

/** The session of which a record says where it is from then on: it begins a run, or requests a step. */
export function sessionPlacedBy(record: JournalRecord): string | undefined {
  if (record.kind !== 'fact') return undefined;
  const { from } = record.value as { readonly from?: unknown };
  const isPlacing =
    record.name === 'aos.agent/LlmStepRequested@1' ||
    (record.name === 'aos.agent/LifecycleChanged@1' && WITHOUT_RUN.includes(from));
  return isPlacing ? sessionStating(record) : undefined;
}

/** The session whose plan emits an effect. */
export function sessionEmitting(record: JournalRecord): string | undefined {
  return record.kind === 'effect' && record.plan[0] === SESSION_REDUCER ? record.plan[1] : undefined;
}

/** The sessions that a frame makes: it states the generation of each. */
export function sessionsMadeIn(records: readonly JournalRecord[]): readonly string[] {
  const state = records.at(-1);
  if (state?.kind !== 'state') return [];
  return state.leaves.flatMap(([[kind, reducer, key], changed]) =>
    kind === 'cell' && reducer === SESSION_REDUCER && changed !== null && 'inc' in changed ? [String(key)] : [],
  );
}

/** The session whose step a record belongs to. */
function sessionOf(record: JournalRecord): string | undefined {
  const prefix = `cell:${SESSION_REDUCER}/`;
  if (record.kind === 'denial' && record.who.startsWith(prefix)) return record.who.slice(prefix.length);
  return sessionEmitting(record);
}

/** Follows what is known of effects and sessions from the frames that were read. */
export class Context {
  /** The effects whose emission was read, each with the session whose place was not known then. */
  readonly #effects = new Map<string, string | undefined>();
  readonly #placed: Set<string>;

  /** @param known what is known of the frames before the first one that is taken */
  constructor(known: Named = { effects: new Set(), sessions: new Set() }) {
    for (const effect of known.effects) this.#effects.set(effect, undefined);
    this.#placed = new Set(known.sessions);
  }

  /** Takes the next frame. @param missing takes what the frame says of effects and sessions that is not known */
  take(records: readonly JournalRecord[], missing: Missing = { effects: new Set(), sessions: new Set() }): void {
    for (const session of sessionsMadeIn(records)) this.#placed.add(session);
    for (const record of records) {
      const placed = sessionPlacedBy(record);
      if (placed !== undefined) this.#placed.add(placed);
      this.#about(record, missing);
      const session = sessionOf(record);
      const unplaced = session === undefined || this.#placed.has(session) ? undefined : session;
      if (unplaced !== undefined) missing.sessions.add(unplaced);
      if (record.kind === 'effect') this.#effects.set(record.effect, unplaced);
    }
  }

  #about(record: JournalRecord, missing: Missing): void {
    const effect = effectNamedBy(record);
    if (effect === undefined) return;
    const unplaced = this.#effects.get(effect);
    if (!this.#effects.has(effect)) missing.effects.add(effect);
    else if (unplaced !== undefined) missing.sessions.add(unplaced);
  }
}

/** What is not known, to be looked up. */
interface Missing {
  readonly effects: Set<string>;
  readonly sessions: Set<string>;
}
