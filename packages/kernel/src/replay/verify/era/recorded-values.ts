/**
 * Proves that changed definitions accept what was recorded under their names.
 *
 * Requests and receipts are parsed when they are admitted, and never when a frame is folded: replay gives the same
 * bytes whatever their new schema says. So every recorded event and receipt is parsed here once more.
 *
 * Invariants
 * V1  A recorded value fits when the new schema accepts it and adds nothing: a default that it filled in would be
 *     another value than the one that was reduced.
 * V2  A live cell that the era does not touch was not replayed: its state, too, fits, or its next event would fault.
 */
import {
  type Address,
  type EventEnvelope,
  formatAddress,
  type IngressOf,
  type JournalRecord,
  type Value,
} from '@reprise/contracts';
import { readInputs } from '../../../ports/journal/frame.js';
import type { StoredFrame } from '../../../ports/journal/port.js';
import { type App, type ReducerDefinition, reducerFor } from '../../../pure/define/index.js';
import { type CellLeaf, effectKey, REVIVE, writerOf } from '../../../pure/engine/index.js';
import { check, type SchemaNode } from '../../../pure/schema/index.js';
import type { LeafTable } from '../../../state/leaf-table.js';
import type { Replayer } from './replayer.js';

/** How many recorded values of one name the changed definition accepts. */
export interface FittingRecords {
  /** The changed reducer or effect. */
  readonly definition: string;
  /** The event; the effect itself for its receipts. */
  readonly name: string;
  readonly records: number;
}

/** A recorded value that a changed definition does not accept as it is. */
export interface Misfit {
  readonly definition: string;
  /** What does not fit, in words. */
  readonly what: string;
  /** The frame, the record, and the path in it. */
  readonly where: string;
  readonly expected: string;
  readonly actual: unknown;
}

/** A recorded value, the schema that must accept it, and where it was recorded. */
interface Recorded {
  readonly definition: string;
  readonly name: string;
  readonly node: SchemaNode;
  readonly value: Value;
  readonly place: string;
  readonly path: string;
}

/** Collects what changed definitions accept, frame after frame. */
export class RecordedValues {
  readonly #counts = new Map<string, FittingRecords>();
  readonly #edited: ReadonlySet<string>;

  constructor(
    private readonly app: App,
    edited: readonly string[],
  ) {
    this.#edited = new Set(edited);
  }

  /** What was accepted so far, in the order of the names. */
  get fitting(): readonly FittingRecords[] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
  }

  /**
   * Replays the next frame and parses what it recorded.
   *
   * @returns the first value that does not fit; undefined when all do
   * @throws RepriseError as {@link Replayer.step}
   */
  async takeNext(stored: StoredFrame, replayer: Replayer): Promise<Misfit | undefined> {
    const answered = await answeredBy(stored, replayer.table); // it is no longer open afterwards
    const { frame } = await replayer.step(stored);
    for (const [i, record] of frame.records.entries()) {
      const place = `frame ${stored.seq}, record ${i} (${record.kind})`;
      for (const recorded of this.#valuesOf(place, record, answered)) {
        const misfit = misfitOf(recorded);
        if (misfit !== undefined) return misfit;
        this.#count(recorded);
      }
    }
    return undefined;
  }

  /** The first live cell of a changed reducer whose state its new schema does not accept as it is (V2). */
  async misfitOfCells(table: LeafTable): Promise<Misfit | undefined> {
    for await (const { key, leaf } of table.all('cell')) {
      const [, name, part] = key.path as readonly ['cell', string, string];
      const misfit = this.#misfitOfCell([name, part], leaf);
      if (misfit !== undefined) return misfit;
    }
    return undefined;
  }

  #misfitOfCell(address: Address, cell: CellLeaf): Misfit | undefined {
    const reducer = this.#editedReducer(address);
    // The state of an earlier version is migrated: the report of a check says which cells fail at it.
    if (!cell.live || reducer === undefined || reducer.name !== writerOf(cell, address)) return undefined;
    const { name: definition, state: node } = reducer;
    const place = `the state of ${formatAddress(address)}`;
    return misfitOf({ definition, name: definition, node, value: cell.state as Value, place, path: '' });
  }

  #valuesOf(place: string, record: JournalRecord, answered: string | undefined): Recorded[] {
    if (record.kind === 'receipt') return this.#receiptIn(place, record, answered);
    if (record.kind !== 'request' && record.kind !== 'event') return [];
    const to: Address = [record.to[0], record.to[1]];
    if (record.event.name !== REVIVE) return this.#eventTo(to, record.event, { place, path: '.event.value' });
    const { next } = record.event.value as { readonly next?: EventEnvelope };
    return next === undefined ? [] : this.#eventTo(to, next, { place, path: '.event.value.next.value' });
  }

  #eventTo(to: Address, event: EventEnvelope, where: Pick<Recorded, 'place' | 'path'>): Recorded[] {
    const reducer = this.#editedReducer(to);
    const node = reducer?.events.get(event.name)?.node;
    if (reducer === undefined || node === undefined) return []; // no cell took it: its frame says so, and was replayed
    return [{ definition: reducer.name, name: event.name, node, value: event.value, ...where }];
  }

  #receiptIn(place: string, { receipt }: IngressOf<'receipt'>, answered: string | undefined): Recorded[] {
    const effect = answered === undefined ? undefined : this.app.effects.get(answered);
    if (effect === undefined || !this.#edited.has(effect.name) || receipt.payload === undefined) return [];
    const { name, receipt: node } = effect;
    return [{ definition: name, name, node, value: receipt.payload, place, path: '.receipt.payload' }];
  }

  #editedReducer(to: Address): ReducerDefinition | undefined {
    const reducer = reducerFor(this.app, to[0]);
    return reducer !== undefined && this.#edited.has(reducer.name) ? reducer : undefined;
  }

  #count({ definition, name }: Recorded): void {
    const key = `${definition}\0${name}`;
    const before = this.#counts.get(key)?.records ?? 0;
    this.#counts.set(key, { definition, name, records: before + 1 });
  }
}

/** The kind of the effect that a receipt is for; undefined for other frames, and when the effect is not open. */
async function answeredBy(stored: StoredFrame, table: LeafTable): Promise<string | undefined> {
  if (stored.kind !== 'receipt') return undefined;
  const { ingress } = readInputs(stored.bytes, stored.seq);
  return ingress.kind === 'receipt' ? (await table.read(effectKey(ingress.effect)))?.name : undefined;
}

// V1
function misfitOf({ definition, name, node, value, place, path }: Recorded): Misfit | undefined {
  const checked = check(node, value);
  if (checked.ok && checked.value === value) return undefined;
  const what = name === definition ? `a recorded value of ${name}` : `a recorded ${name}`;
  if (checked.ok)
    return { definition, what, where: `${place}, $${path}`, expected: 'the recorded value', actual: checked.value };
  const inside = checked.path.startsWith('$') ? checked.path.slice(1) : checked.path;
  const where = `${place}, $${path}${inside}`;
  return { definition, what, where, expected: checked.expected, actual: checked.actual };
}
