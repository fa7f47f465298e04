/** The sources of views: the records they choose, by kind and name, and what a fold sees of each. */
import type { Address, JournalRecord, Value } from '@reprise/contracts';
import { RepriseError } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { compileSchema, type SchemaNode, schemaValue } from '../schema/index.js';
import { requireObject } from './parts.js';

/** Kinds of records that have a name: their own, or that of the effect which they concern. */
export const NAMED_KINDS = [
  'request',
  'event',
  'command',
  'fact',
  'intent',
  'effect',
  'denial',
  'attempt',
  'deferred',
  'ask',
  'settled',
  'receipt',
  'late',
] as const;

/** A kind of record that has a name. */
export type NamedKind = (typeof NAMED_KINDS)[number];

/**
 * Selects records: those of a kind (`receipt`), those of a kind with a name (`event:shop/Placed@1`,
 * `receipt:bank.pay@1`), or all (`*`). An `event` is anything sent to a cell, by a cell, a plan or the outside, so it
 * includes requests. When several sources match a record, the most specific one counts.
 */
export type SourceName = '*' | JournalRecord['kind'] | `${NamedKind}:${string}`;

/** The records that a view folds, each with the schema of its value, or `true` for any. */
export type Sources = { readonly [S in SourceName]?: z.AnySchema | true };

type KindOf<S> = S extends `${infer K}:${string}` ? K : S;
type RecordOf<S> = S extends '*' ? JournalRecord : Extract<JournalRecord, { readonly kind: TakenBy<KindOf<S>> }>;
/** The kinds of records that a source takes. */
type TakenBy<K> = K extends 'event' ? 'event' | 'request' : K;
type ValueOf<S, D> = D extends z.AnySchema
  ? KindOf<S> extends 'receipt'
    ? z.output<D> | undefined
    : z.output<D>
  : Value | undefined;

/** A record as a fold sees it, with its place. */
export interface Entry<S extends string = string, R = JournalRecord, V = Value | undefined> {
  /** The source that chose it: switch on it, and `record` and `value` are typed. */
  readonly from: S;
  readonly record: R;
  /**
   * The author's data in it, checked where a schema was given: the value of an event, command or fact, an
   * intent's input, an effect's parameters, a question, a receipt's payload (undefined when it has none).
   */
  readonly value: V;
  /** The sequence number of the frame. */
  readonly seq: number;
  /** The record's place in its frame. */
  readonly i: number;
  /** The frame's time in milliseconds. */
  readonly at: number;
  /** The cell that it concerns: for an event the receiver, for an effect and its receipt the cell of the plan. */
  readonly cell: Address | null;
  /** The effect that it concerns, for effects, denials, attempts, receipts and other records that name one. */
  readonly effect: EffectSeen | null;
  /** All records of the frame. */
  readonly frame: readonly JournalRecord[];
}

/** The journal's record of an effect's emission. */
export interface EffectSeen {
  readonly id: string;
  /** The kind, for example `llm.generate@2`. */
  readonly name: string;
  readonly cell: Address;
  /** The ordinal of its plan in the cell; null when it was denied. */
  readonly plan: number | null;
}

/** The entries of a set of sources: a union discriminated by `from`. */
export type EntryOf<F extends Sources> = {
  [S in keyof F & string]: Entry<S, RecordOf<S>, ValueOf<S, F[S]>>;
}[keyof F & string];

/** The schemas of a set of sources, by name; null where any value is accepted. */
export type CompiledSources = ReadonlyMap<string, SchemaNode | null>;

/**
 * Compiles a set of sources.
 *
 * @throws RepriseError `invalid_definition`, `invalid_schema`
 */
export function compileSources(from: Sources, what: string): CompiledSources {
  requireObject(from, `what ${what} is made from`);
  const entries = Object.entries(from as Readonly<Record<string, z.AnySchema | true>>);
  if (entries.length === 0) throw refusal(`${what} has no sources`, 'one kind of record or more', from);
  return new Map(entries.map(([name, schema]) => [name, compileSource(name, schema, what)]));
}

function compileSource(name: string, schema: z.AnySchema | true, what: string): SchemaNode | null {
  const [kind = '', ...rest] = name.split(':');
  const named = (NAMED_KINDS as readonly string[]).includes(kind);
  if ((rest.length > 0 && (!named || rest.join(':') === '')) || kind === '')
    throw refusal(
      `${what} names an unknown source`,
      `*, a kind, or one of ${NAMED_KINDS.join(', ')} with a name`,
      name,
    );
  if (schema === true) return null;
  if (named) return compileSchema(schema);
  throw refusal(`records of the kind ${kind} have no value to check`, 'true', name);
}

/** Sources as they enter a definition's digest. */
export function sourcesValue(from: CompiledSources): Value {
  return [...from]
    .map(([name, node]): [string, Value] => [name, node === null ? null : schemaValue(node)])
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

function refusal(what: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_definition', what, { expected, actual });
}
