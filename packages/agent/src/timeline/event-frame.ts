/** What a frame's records name: effects, sessions, runs, and the cause of each record. */
import type { JournalRecord } from '@reprise/contracts';
import { SESSION_REDUCER } from '../contracts/session.js';
import type { FactValue } from './fact-events.js';

/** The parts of a frame that events are made from. */
export interface EventFrame {
  readonly seq: number;
  readonly at: number;
  readonly head: string;
  readonly records: readonly JournalRecord[];
}

/** How a denial names the cell of a session. */
export const CELL = `cell:${SESSION_REDUCER}/`;

/** Whether a record moves an input to another run, which may have begun before the first frame that was read. */
export function movesInput(record: JournalRecord): boolean {
  return (
    record.kind === 'fact' &&
    record.name === 'aos.agent/InputAccepted@1' &&
    (record.value as FactValue<typeof record.name>).moved_from !== undefined
  );
}

/** The effect that a record is about, besides its emission. */
export function effectNamedBy(record: JournalRecord): string | undefined {
  switch (record.kind) {
    case 'receipt':
    case 'settled':
    case 'deferred':
    case 'ask':
      return record.effect;
    case 'command':
      return 'effect' in record.command.value ? record.command.value.effect : undefined;
    default:
      return undefined;
  }
}

/** The session that a record is about. */
export function sessionNamedBy(record: JournalRecord): string | undefined {
  if (record.kind === 'fact') return record.from?.[0] === SESSION_REDUCER ? record.from[1] : undefined;
  if (record.kind === 'effect') return record.plan[0] === SESSION_REDUCER ? record.plan[1] : undefined;
  if (record.kind !== 'denial' || !record.who.startsWith(CELL)) return undefined;
  return record.who.slice(CELL.length);
}

/** The run that a fact names. */
export function runNamedBy(record: JournalRecord): number | undefined {
  if (record.kind !== 'fact') return undefined;
  const { run } = record.value as { readonly run?: unknown };
  return typeof run === 'number' ? run : undefined;
}

/** The cause of a record: the effect whose settlement led to it, or the ingress record. */
export function causeOf({ records, head }: EventFrame, i: number): string {
  const own = records[i];
  if (own !== undefined && 'effect' in own && typeof own.effect === 'string') return own.effect;
  const direct = own !== undefined && 'c' in own ? own.c : i;
  for (let at = direct; ; ) {
    const record = records[at];
    if (record?.kind === 'receipt' || record?.kind === 'settled') return record.effect;
    if (record === undefined || !('c' in record) || record.c >= at) return `${head}#${direct}`;
    at = record.c;
  }
}
