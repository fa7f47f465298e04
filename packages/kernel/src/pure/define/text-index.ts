import type { Ref, Value } from '@reprise/contracts';
import type { RowKey } from '../codec/ordered.js';
import { schemaDigest } from '../schema/index.js';
import { TEXT_TABLE } from '../text/table.js';
import { requireFunction, requireObject, requireOwnName } from './parts.js';
import {
  type CompiledSources,
  compileSources,
  type Entry,
  type EntryOf,
  type Sources,
  sourcesValue,
} from './sources.js';

/** Text to be found: text itself, the link of content that is UTF-8 text, or that of what `putErasable` kept. */
export type TextSource = string | Ref | { readonly erasable: Ref };

/**
 * The documents of a text index, as its fold writes them. A document that was made from content goes by itself when
 * that content is erased.
 */
export interface Documents {
  /** Makes a document of these texts, in place of the one with this id. */
  put(id: RowKey, text: TextSource | readonly TextSource[]): void;
  /** Takes a document away; nothing happens when there is none. */
  remove(id: RowKey): void;
}

/** A text index as the runtime holds it. */
export interface TextIndexDefinition {
  readonly type: 'text_index';
  readonly name: string;
  readonly from: CompiledSources;
  /** The digest of the schemas, the names and the text of the code: an index that was made by another is rebuilt. */
  readonly digest: string;
  fold(documents: Documents, entry: Entry): void;
}

/** What an author writes to define a text index. */
export interface TextIndexSpec<F extends Sources> {
  /** The wire name, `ns/Name@v`. */
  readonly name: string;
  /** The records it is made from. */
  readonly from: F;
  /** Says which documents a record makes or takes away. Pure; content that it links is read by the runtime. */
  readonly fold: (documents: Documents, entry: EntryOf<F>) => void;
}

/**
 * Defines a full-text index over what the journal says: disposable as a projection is. Open it with `openViews`.
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
  const from = compileSources(spec.from, spec.name);
  const parts: Value[] = ['text index', TEXT_TABLE, spec.name, sourcesValue(from), String(spec.fold)];
  return Object.freeze({
    type: 'text_index',
    name: spec.name,
    from,
    digest: schemaDigest({ type: 'literal', values: parts }),
    fold: spec.fold as unknown as TextIndexDefinition['fold'],
  });
}
