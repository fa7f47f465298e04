/** Frames as the checks of an audit read them. */
import type { Address, JournalRecord, Value } from '@reprise/contracts';
import type { AuditCode, AuditPlace, AuditProblem } from './report.js';

export interface AuditRecord<R extends JournalRecord = JournalRecord> extends AuditPlace {
  readonly record: R;
  readonly i: number;
  readonly all: readonly JournalRecord[];
}

/** One concern of an audit: it is given every record, in order. */
export interface AuditCheck {
  take(read: AuditRecord): void;
}

/** An event as it was delivered to a cell: sent by a cell, or a request from outside. */
export interface Delivered {
  readonly from: readonly (string | number)[] | null;
  readonly name: string;
  readonly value: Readonly<Record<string, Value>>;
}

/** The event in a record, if it goes to a cell of a reducer. */
export function eventTo(reducer: string, record: JournalRecord): (Delivered & { readonly key: string }) | undefined {
  if (record.kind !== 'event' && record.kind !== 'request') return undefined;
  if (record.to[0] !== reducer) return undefined;
  const { name, value } = record.event;
  return { key: record.to[1], from: record.kind === 'event' ? record.from : null, name, value: fieldsIn(value) };
}

/** The fact in a record, if a cell of a reducer states it about itself. */
export function factOf(reducer: string, record: JournalRecord): (Delivered & { readonly key: string }) | undefined {
  if (record.kind !== 'fact' || record.from === null) return undefined;
  const [of, key] = record.from;
  return of === reducer ? { key, from: record.from, name: record.name, value: fieldsIn(record.value) } : undefined;
}

/** The record that another one follows from; undefined for one of an earlier frame. */
export function causeOf({ record, all }: AuditRecord): JournalRecord | undefined {
  const c = 'c' in record ? record.c : 0;
  return c === 0 && all[0]?.kind === 'continue' ? undefined : all[c];
}

export function placeOf({ seq, at }: AuditPlace): AuditPlace {
  return { seq, at };
}

/** A cell as text, and a plan's cell as well. */
export function cellName(of: readonly (string | number)[] | Address): string {
  return `${of[0]}/${of[1]}`;
}

/** A value that is a map; empty for any other. */
export function fieldsIn(value: unknown): Readonly<Record<string, Value>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Value>>)
    : {};
}

/** Adds an item to the list under a key. */
export function pushTo<T>(map: Map<string, T[]>, key: string, item: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [item]);
  else list.push(item);
}

/** Collects what is wrong, up to a bound. */
export class Problems {
  readonly #all: AuditProblem[] = [];

  add(
    code: AuditCode,
    agent_id: string | null,
    { seq, i }: { readonly seq: number; readonly i: number },
    { expected, actual }: { readonly expected: unknown; readonly actual: unknown },
  ): void {
    this.#all.push({ code, agent_id, seq, i, expected: expected as Value, actual: actual as Value });
  }

  /** In the order of frames; of one record in the order of codes. */
  sorted(): readonly AuditProblem[] {
    return this.#all.toSorted((a, b) => a.seq - b.seq || a.i - b.i || (a.code < b.code ? -1 : a.code > b.code ? 1 : 0));
  }
}
