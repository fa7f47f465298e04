/**
 * The receipts that the original got after the frame of the fork, stored as content of the fork: sorted by effect in
 * chunks, under one list of where each chunk begins. So a fork is self-contained, and a look-up reads one chunk.
 */
import type { Address, Receipt, Ref, Value } from '@reprise/contracts';
import type { ContentReader, ContentStore } from '../../ports/content/port.js';
import { getValue, putValue } from '../../ports/content/values.js';

/** A receipt that the original got after the cut. */
export interface RecordedReceipt {
  /** The effect's id in its own world. */
  readonly effect: string;
  /** The frame of the original that settled it. */
  readonly seq: number;
  /** Its index among the recorded receipts. */
  readonly order: number;
  readonly name: string;
  readonly cell: Address;
  readonly receipt: Receipt;
  /** The world itself settled it, by its plans and cells: a fork with the same plans and cells does so as well. */
  readonly inside: boolean;
}

/** Receipts in one chunk; a receipt has at most 64 KiB. */
const RECEIPTS_PER_CHUNK = 32;

/** Chunks cached in decoded form: effects that follow each other do not have ids that follow each other. */
const CHUNKS_CACHED = 64;

type Row = readonly [string, number, number, string, Address, Receipt, boolean];

/** Stores receipts as content. @returns null for an empty list */
export async function writeRecorded(
  content: Pick<ContentStore, 'put'>,
  receipts: readonly RecordedReceipt[],
): Promise<Ref | null> {
  if (receipts.length === 0) return null;
  const sorted = [...receipts].sort((a, b) => (a.effect < b.effect ? -1 : 1));
  const chunks: Value[] = [];
  for (let from = 0; from < sorted.length; from += RECEIPTS_PER_CHUNK) {
    const rows = sorted.slice(from, from + RECEIPTS_PER_CHUNK).map(rowOf);
    chunks.push([String(rows[0]?.[0]), await putValue(content, rows)]);
  }
  return putValue(content, chunks);
}

/** Reads the stored receipts of a fork. */
export class RecordedReceipts {
  readonly #cached = new Map<string, readonly Row[]>();
  #chunks: readonly (readonly [string, Ref])[] | undefined;

  constructor(
    private readonly content: ContentReader,
    private readonly ref: Ref | null,
  ) {}

  /** The receipt of an effect of the original; undefined without one. */
  async find(effect: string): Promise<RecordedReceipt | undefined> {
    const chunk = (await this.#list()).findLast(([first]) => first <= effect);
    if (chunk === undefined) return undefined;
    const row = (await this.#read(chunk[1])).find(([id]) => id === effect);
    return row && recordedOf(row);
  }

  /** All receipts, ordered by effect. */
  async *all(): AsyncGenerator<RecordedReceipt> {
    for (const [, chunk] of await this.#list()) for (const row of await this.#read(chunk)) yield recordedOf(row);
  }

  async #list(): Promise<readonly (readonly [string, Ref])[]> {
    this.#chunks ??= this.ref === null ? [] : ((await getValue(this.content, this.ref)) as unknown as [string, Ref][]);
    return this.#chunks;
  }

  async #read(ref: Ref): Promise<readonly Row[]> {
    const known = this.#cached.get(ref.hex);
    if (known !== undefined) return known;
    const rows = (await getValue(this.content, ref)) as unknown as readonly Row[];
    if (this.#cached.size >= CHUNKS_CACHED) this.#cached.delete(this.#cached.keys().next().value as string);
    this.#cached.set(ref.hex, rows);
    return rows;
  }
}

function rowOf({ effect, seq, order, name, cell, receipt, inside }: RecordedReceipt): Row {
  return [effect, seq, order, name, cell, receipt, inside];
}

function recordedOf([effect, seq, order, name, cell, receipt, inside]: Row): RecordedReceipt {
  return { effect, seq, order, name, cell, receipt, inside };
}
