/** Folds an entry into a projection: its rows, and the index entries of each row. */
import { RepriseError, type Value } from '@reprise/contracts';
import {
  copyValue,
  decode,
  decodeKey,
  encodeKernel,
  encodeKey,
  normalValue,
  type RowKey,
} from '../../pure/codec/index.js';
import type { Entry, ProjectionDefinition, Rows } from '../../pure/define/index.js';
import { runPure } from '../../pure/engine/index.js';
import { check } from '../../pure/schema/index.js';
import { RECORD_ROWS_MAX, ROW_BYTES_MAX } from './bounds.js';
import { type Fold, runFold } from './fold-frame.js';
import { indexEntryKey, joined, PART } from './layout.js';
import { binaryText } from './memory-views.js';
import type { Overlay } from './overlay.js';

const ROWS = Uint8Array.of(PART.row);

/** The fold of a projection. */
export function projectionFold(definition: ProjectionDefinition): Fold {
  const { name, from, digest } = definition;
  return {
    name,
    from,
    digest,
    fold: (overlay: Overlay, entry: Entry) => {
      const rows = new OverlayRows(definition, overlay);
      runFold(() => definition.fold(rows, entry));
      return rows.moveInIndexes();
    },
  };
}

/** A row as it is stored, and its value. */
interface Row {
  readonly bytes: Uint8Array;
  readonly value: Value;
}

/** A row that a record's fold wrote. */
interface Written {
  /** The row's key, in bytes that are ordered as keys are. */
  readonly place: Uint8Array;
  /** The key of the entry in which the store has it. */
  readonly entry: Uint8Array;
  /** Null when the fold removed it. */
  readonly row: Row | null;
}

/** The rows of one record's fold. */
class OverlayRows implements Rows<unknown> {
  /** The rows that were written, by the bytes of their keys as text. */
  readonly #written = new Map<string, Written>();

  constructor(
    private readonly definition: ProjectionDefinition,
    private readonly overlay: Overlay,
  ) {}

  get(key: RowKey): Value | undefined {
    const bytes = this.overlay.read(joined(ROWS, encodeKey(key)));
    return bytes === null ? undefined : decode(bytes);
  }

  put(key: RowKey, row: unknown): void {
    this.#write(encodeKey(key), this.#fitted(row));
  }

  remove(key: RowKey): void {
    this.#write(encodeKey(key), null);
  }

  /**
   * Updates the indexes to match the rows, after the fold.
   *
   * @returns the work for rows whose old entries must be loaded; undefined when all are at hand
   */
  moveInIndexes(): (() => Promise<void>) | undefined {
    if (this.definition.indexes.size === 0) return undefined;
    const waiting: Written[] = [];
    for (const written of this.#written.values()) {
      const before = this.overlay.beforeAtHand(written.entry);
      if (before === undefined) waiting.push(written);
      else this.#move(written, before);
    }
    if (waiting.length === 0) return undefined;
    return async () => {
      for (const written of waiting) this.#move(written, await this.overlay.before(written.entry));
    };
  }

  /** @param before the row as the record found it */
  #move({ place, row }: Written, before: Uint8Array | null): void {
    const was = before === null ? [] : this.#placesOf(place, decode(before));
    const is = row === null ? [] : this.#placesOf(place, row.value);
    for (const entry of was) this.overlay.write(entry, null);
    for (const entry of is) this.overlay.write(entry, place);
  }

  #write(place: Uint8Array, row: Row | null): void {
    const entry = joined(ROWS, place);
    this.overlay.write(entry, row === null ? null : row.bytes);
    this.#written.set(binaryText(place), { place, entry, row });
    if (this.#written.size <= RECORD_ROWS_MAX) return;
    throw new RepriseError('bound_exceeded', 'a record changes too many rows', {
      expected: `at most ${RECORD_ROWS_MAX}`,
    });
  }

  /** The row, with constant defaults filled in. */
  #fitted(row: unknown): Row {
    const checked = check(this.definition.row, normalValue(row).value);
    if (!checked.ok) {
      throw new RepriseError('invalid_value', `a row of ${this.definition.name} does not fit its schema`, {
        where: checked.path,
        expected: checked.expected,
        actual: checked.actual,
      });
    }
    const { value } = checked;
    const bytes = encodeKernel(value);
    if (bytes.length <= ROW_BYTES_MAX) return { bytes, value };
    throw new RepriseError('bound_exceeded', 'a row is too large', {
      expected: `at most ${ROW_BYTES_MAX} bytes`,
      actual: bytes.length,
    });
  }

  /** The keys of a row's index entries. */
  #placesOf(place: Uint8Array, value: Value): Uint8Array[] {
    const key = decodeKey(place);
    return [...this.definition.indexes].flatMap(([name, index]) => {
      const stands = runPure(() => index(copyValue(value), key)); // a copy: what one index changes, no other sees
      return stands === undefined ? [] : [indexEntryKey(name, encodeKey(stands), place)];
    });
  }
}
