/** Folds an entry into a projection: its rows, and the index entries of each row. */
import { RepriseError, type Value } from '@reprise/contracts';
import { decode, decodeKey, encode, encodeKey, type RowKey } from '../../pure/codec/index.js';
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
      return () => rows.moveInIndexes();
    },
  };
}

/** The rows of one record's fold. */
class OverlayRows implements Rows<unknown> {
  /** The rows that were written, by the bytes of their keys as text. */
  readonly #written = new Map<string, { readonly place: Uint8Array; readonly row: Uint8Array | null }>();

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

  /** Updates the indexes to match the rows: after the fold, since the old entries may have to be loaded. */
  async moveInIndexes(): Promise<void> {
    if (this.definition.indexes.size === 0) return;
    for (const { place, row } of this.#written.values()) {
      const before = await this.overlay.before(joined(ROWS, place));
      const [was, is] = [this.#placesOf(place, before), this.#placesOf(place, row)];
      for (const entry of was) this.overlay.write(entry, null);
      for (const entry of is) this.overlay.write(entry, place);
    }
  }

  #write(place: Uint8Array, row: Uint8Array | null): void {
    this.overlay.write(joined(ROWS, place), row);
    this.#written.set(binaryText(place), { place, row });
    if (this.#written.size <= RECORD_ROWS_MAX) return;
    throw new RepriseError('bound_exceeded', 'a record changes too many rows', {
      expected: `at most ${RECORD_ROWS_MAX}`,
    });
  }

  /** The row's bytes, with constant defaults filled in. */
  #fitted(row: unknown): Uint8Array {
    const given = encode(row);
    const value = decode(given);
    const checked = check(this.definition.row, value);
    if (!checked.ok) {
      throw new RepriseError('invalid_value', `a row of ${this.definition.name} does not fit its schema`, {
        where: checked.path,
        expected: checked.expected,
        actual: checked.actual,
      });
    }
    const bytes = checked.value === value ? given : encode(checked.value);
    if (bytes.length <= ROW_BYTES_MAX) return bytes;
    throw new RepriseError('bound_exceeded', 'a row is too large', {
      expected: `at most ${ROW_BYTES_MAX} bytes`,
      actual: bytes.length,
    });
  }

  /** The keys of a row's index entries. */
  #placesOf(place: Uint8Array, row: Uint8Array | null): Uint8Array[] {
    if (row === null) return [];
    const key = decodeKey(place);
    return [...this.definition.indexes].flatMap(([name, index]) => {
      const stands = runPure(() => index(decode(row), key));
      return stands === undefined ? [] : [indexEntryKey(name, encodeKey(stands), place)];
    });
  }
}
