import { isWhole, type Ref, RepriseError, type Value } from '@reprise/contracts';
import type { RowKey } from '../codec/ordered.js';
import { schemaDigest } from '../schema/index.js';
import { TEXT_TABLE } from '../text/table-number.js';
import { requireFunction, requireObject, requireOwnName } from './parts.js';
import {
  type CompiledSources,
  compileSources,
  type Entry,
  type EntryOf,
  type Sources,
  sourcesValue,
} from './sources.js';

/** Text to index: text itself, the link of content that is UTF-8 text, or a link from `putErasable`. */
export type TextSource = string | Ref | { readonly erasable: Ref };

/**
 * The documents of a text index, as its fold writes them. A document made from content disappears when that content
 * is erased.
 */
export interface Documents {
  /** Writes a document of these texts, replacing the one with this id. */
  put(id: RowKey, text: TextSource | readonly TextSource[]): void;
  /** Deletes a document, if there is one. */
  remove(id: RowKey): void;
}

/** A text index in the form that the runtime uses. */
export interface TextIndexDefinition {
  readonly type: 'text_index';
  readonly name: string;
  readonly from: CompiledSources;
  /** How many leading parts of an id name its partition; 0 for an index that is not partitioned. */
  readonly partition: number;
  /** The digest of the schemas, the names and the text of the code: an index with another digest is rebuilt. */
  readonly digest: string;
  fold(documents: Documents, entry: Entry): void;
}

/** The parts of an id that may name a partition. */
const PARTITION_PARTS_MAX = 4;

/** The parts of a text index that an author writes. */
export interface TextIndexSpec<F extends Sources> {
  /** The wire name of the index, `ns/Name@v`. */
  readonly name: string;
  /** The records it is made from. */
  readonly from: F;
  /**
   * How many leading parts of an id name its partition, at most 4. Each partition is an index of its own: its documents
   * are counted and ranked without those of others, and a search, which names it under `under`, costs as much as that
   * partition is large. Absent: one index of all documents.
   */
  readonly partition?: number;
  /** Writes and deletes the documents of a record. Pure; the runtime reads the content that it links. */
  readonly fold: (documents: Documents, entry: EntryOf<F>) => void;
}

/**
 * Defines a full-text index over the journal: it can be rebuilt like a projection. Open it with `openViews`.
 *
 * @throws RepriseError `invalid_name`, `invalid_schema`, `invalid_definition`
 * @example
 * const notes = defineTextIndex({
 *   name: 'shop/NoteText@1',
 *   from: { 'event:shop/Noted@1': z.strictObject({ text: z.string() }) },
 *   fold(documents, { seq, value }) { documents.put(seq, value.text) },
 * })
 */
export function defineTextIndex<const F extends Sources>(spec: TextIndexSpec<F>): TextIndexDefinition {
  requireObject(spec, 'a text index');
  requireOwnName(spec.name, 'a text index');
  requireFunction(spec.fold, `fold of ${spec.name}`);
  const { partition = 0 } = spec;
  if (!isWhole(partition) || partition > PARTITION_PARTS_MAX) {
    throw new RepriseError('invalid_definition', `invalid partition of ${spec.name}`, {
      expected: `how many parts of an id name it, 0 to ${PARTITION_PARTS_MAX}`,
      actual: partition,
    });
  }
  const from = compileSources(spec.from, spec.name);
  const parts: Value[] = ['text index', TEXT_TABLE, spec.name, sourcesValue(from), String(spec.fold)];
  if (partition > 0) parts.push(partition); // definitions from before there were partitions keep their digest
  return Object.freeze({
    type: 'text_index',
    name: spec.name,
    from,
    partition,
    digest: schemaDigest({ type: 'literal', values: parts }),
    fold: spec.fold as unknown as TextIndexDefinition['fold'],
  });
}
