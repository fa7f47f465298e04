/**
 * What an app asks of the cells of a part, and how it hears of the outcome.
 *
 * Owns: ids of requests, reading tables page by page, waiting for a fact. Does not own: what the events and facts mean.
 */
import {
  type Actor,
  type Address,
  formatAddress,
  type JournalRecord,
  type Principal,
  present,
  RepriseError,
  type Value,
} from '@reprise/contracts';
import type { Ack, World } from '@reprise/kernel';
import { recordsOf } from '@reprise/kernel/world';
import { partRequestId } from '../session/request-id.js';
import { requireSound } from '../session/require-sound.js';

/** Who asks, and under which id: a repetition with one id is one act. */
export interface RequestBy {
  readonly id?: string;
  readonly as?: Principal;
  /** Who acts, where that does not follow from `as`. */
  readonly actor?: Actor;
}

/** A range of the entries of a table. */
interface EntryRange {
  readonly from?: string;
  readonly after?: string;
  readonly before?: string;
  readonly limit?: number;
}

/** One cell of a part, as the app asks it and reads it. */
export class PartCell {
  /**
   * @param address the cell
   * @param ids the part that its ids of requests name, and whether an id names one act of the cell, or one of each event
   */
  constructor(
    private readonly world: World,
    readonly address: Address,
    private readonly ids: { readonly part: string; readonly of: 'cell' | 'event' },
  ) {}

  /**
   * Sends an event, once for each id.
   *
   * @throws RepriseError `request_rejected` with the cell's refusal as its reason, and the refusals of the kernel
   */
  send(name: string, value: object, { id, as, actor }: RequestBy = {}): Promise<Ack> {
    const { part, of } = this.ids;
    const own = of === 'event' && id !== undefined ? `${name}/${id}` : id;
    const whole = own === undefined ? undefined : partRequestId(part, this.address[1], own);
    return this.world.request(this.address, { name, value: value as Value }, present({ id: whole, as, actor }));
  }

  /** The durable state; undefined for a cell that nothing has made. */
  async state<S>(): Promise<S | undefined> {
    return (await this.world.state(this.address)) as S | undefined;
  }

  /** @throws RepriseError `cell_failed` when the cell has failed: its state is the one before the fault then */
  requireSound(): Promise<void> {
    return requireSound(this.world, this.address);
  }

  /** A page of a table; empty for a cell that nothing has made. */
  async entries(table: string, range: EntryRange): Promise<readonly (readonly [string, Value])[]> {
    return (await this.state()) === undefined ? [] : this.world.table(this.address, table, range);
  }

  /** All entries of a table, page by page. */
  async *each(
    table: string,
    range: Pick<EntryRange, 'from' | 'before'> = {},
  ): AsyncGenerator<readonly [string, Value]> {
    for (let page = await this.entries(table, range); page.length > 0; ) {
      yield* page;
      const after = page.at(-1)?.[0] ?? '';
      page = await this.entries(table, present({ after, before: range.before }));
    }
  }

  /** One entry of a table. */
  async entry(table: string, at: string): Promise<Value | undefined> {
    const [first] = await this.entries(table, { from: at, limit: 1 });
    return first?.[0] === at ? first[1] : undefined;
  }

  /** The records of the frame of a request: from memory when that frame was just written. */
  async records(ack: Ack): Promise<readonly JournalRecord[]> {
    const own = recordsOf(ack);
    if (own !== undefined) return own;
    for await (const { records } of this.world.frames(ack.seq)) return records;
    return [];
  }

  /**
   * The first fact of the cell that fits, from the frame of a request on.
   *
   * @throws RepriseError `cell_failed` when the cell has failed; what closed the world, when it closes before
   */
  async fact<T>(ack: Pick<Ack, 'seq'>, name: string, fits: (value: T) => boolean): Promise<T> {
    const at = this.#factIn(recordsOf(ack as Ack) ?? [], name, fits);
    if (at !== undefined) return at;
    for await (const { records } of this.world.frames(ack.seq, undefined, [this.address])) {
      const found = this.#factIn(records, name, fits);
      if (found !== undefined) return found;
    }
    throw this.world.closedBy ?? closed(this.address);
  }

  #factIn<T>(records: readonly JournalRecord[], name: string, fits: (value: T) => boolean): T | undefined {
    for (const record of records) {
      if (record.kind !== 'fact' || record.name !== name || record.from === null) continue;
      if (record.from[0] !== this.address[0] || record.from[1] !== this.address[1]) continue;
      // The reducer's own schema checked the value before it was journaled.
      const value = record.value as unknown as T;
      if (fits(value)) return value;
    }
    return undefined;
  }
}

function closed(cell: Address): RepriseError {
  return new RepriseError('world_closed', 'the world was closed before the cell answered', {
    where: formatAddress(cell),
  });
}
