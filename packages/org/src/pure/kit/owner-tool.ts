/**
 * Tools whose calls the owner of a session answers, each stated once: from the fields that a model writes follow the fields
 * that the owner receives. Long texts and large values of a call do not reach the owner: it receives their links.
 */
import { ref, requireFields } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { bytesOf, oneLine } from './texts.js';

/**
 * How a field of a call is kept: a `text`, an `erasable` text or a `value` in the content store, its link under `<name>_ref`;
 * the `words` of an item with their summary; a `line` as text without line breaks; a fraction in `millionths`, under
 * `<name>_ppm`; `apart` for what the tool keeps by code, or not at all.
 */
export type Keeping = 'text' | 'erasable' | 'value' | 'words' | 'line' | 'millionths' | 'apart';

declare const KEPT: unique symbol;

/** A field that is not kept as the model wrote it. */
export interface KeptAs<K extends Keeping> {
  readonly [KEPT]: K;
}

/**
 * A long text: it is stored as content, and the owner receives its link under `<name>_ref`.
 *
 * @example prompt: text().min(1).max(100_000).describe('All that the child needs to know.')
 */
export function text(): z.Text & KeptAs<'text'> {
  return keptAs('text', z.string());
}

/**
 * A text that can be erased: its link, which the owner receives under `<name>_ref`, does not tell it to those who guess it.
 *
 * @example reason: erasable().max(500).describe('Why.')
 */
export function erasable(): z.Text & KeptAs<'erasable'> {
  return keptAs('erasable', z.string());
}

/**
 * The words of an item: they and their summary are stored as content that can be erased, and the owner receives the links
 * `content_ref` and `summary_ref`.
 *
 * @example text: words().min(1).max(8_000).describe('The memory.')
 */
export function words(): z.Text & KeptAs<'words'> {
  return keptAs('words', z.string());
}

/**
 * A number from 0 to 1. The owner receives millionths under `<name>_ppm`: fractions are no values of a journal.
 *
 * @example confidence: fraction().describe('How sure you are.')
 */
export function fraction(): z.Num & KeptAs<'millionths'> {
  return keptAs('millionths', z.number().min(0).max(1));
}

/**
 * A value of any size: it is stored as content, and the owner receives its link under `<name>_ref`.
 *
 * @example schema: json(z.looseObject({})).describe('The JSON Schema of the result.')
 */
export function json<S extends z.BuiltSchema>(schema: S): S & KeptAs<'value'> {
  return keptAs('value', schema);
}

/**
 * A short text that the owner receives in one line, as {@link oneLine} makes it. A text of which nothing is left is refused.
 *
 * @example goal: line(z.string().min(1).max(500))
 */
export function line(schema: z.Text): z.Text & KeptAs<'line'> {
  return keptAs('line', schema).refine((given) => oneLine(given) !== '', 'is empty');
}

/**
 * The check that a text has at most so many bytes of UTF-8: a model is told how many it has.
 *
 * @example text().max(8_000).superRefine(withinBytes(8_000))
 */
export function withinBytes(bytesMax: number) {
  return (given: string, { addIssue }: z.RefineContext): void => {
    const bytes = bytesOf(given);
    if (bytes > bytesMax) addIssue({ message: `has ${bytes} bytes; at most ${bytesMax} are allowed` });
  };
}

/**
 * A field that the owner does not receive under its name: what it receives of it, code adds (`offerTool`).
 *
 * @example reason: apart(z.string().max(500)).describe('Why, for readers of your conversation.')
 */
export function apart<S extends z.BuiltSchema>(schema: S): S & KeptAs<'apart'> {
  return keptAs('apart', schema);
}

declare const OWNERS: unique symbol;

/** A field that its owner checks by another schema than models are shown. */
export interface CheckedAs<S extends z.AnySchema> {
  readonly [OWNERS]: S;
}

/**
 * A field that the owner checks by a schema of its own, such as a narrower bound. Models are shown the first schema.
 *
 * @example limit: checkedAs(z.int().max(1_000), z.int().max(50))
 */
export function checkedAs<S extends z.BuiltSchema, K extends z.AnySchema>(shown: S, owners: K): S & CheckedAs<K> {
  return shown.meta({ owners }) as S & CheckedAs<K>; // the mark is a type only
}

/**
 * Fields that a call may lack.
 *
 * @example z.strictObject({ task_id: z.int(), ...optional({ note: text().max(500), model: z.string().max(128) }) })
 */
export function optional<F extends z.Shape>(fields: F): { readonly [Name in keyof F]: z.Absent<F[Name]> } {
  const all = Object.entries(fields).map(([name, field]) => [name, z.exactOptional(field)]);
  return Object.fromEntries(all);
}

function keptAs<K extends Keeping, S extends z.BuiltSchema>(kept: K, schema: S): S & KeptAs<K> {
  return schema.meta({ kept }) as S & KeptAs<K>; // the mark is a type only
}

/** How a field is kept; undefined for one that is kept as it is. */
export function keepingOf(field: z.AnySchema): Keeping | undefined {
  return z.defOf(unwrapped(field)).meta?.kept;
}

/** The schema of a field when it is there. */
export function unwrapped(field: z.AnySchema): z.AnySchema {
  const { type, innerType } = z.defOf(field);
  return type === 'optional' || type === 'default' ? innerType : field;
}

type Linked = KeptAs<'text'> | KeptAs<'erasable'> | KeptAs<'value'>;
type Bare<S> = S extends z.Absent<infer Inner> ? Inner : S;
type KeptName<Name, S> =
  S extends KeptAs<'apart'>
    ? never
    : S extends KeptAs<'words'>
      ? (typeof WORDS)[number]
      : S extends Linked
        ? `${Name & string}_ref`
        : S extends KeptAs<'millionths'>
          ? `${Name & string}_ppm`
          : Name;

/** The links to the words of an item, and to their summary. */
const WORDS = ['content_ref', 'summary_ref'] as const;

/** The schema of a field as an owner receives it. */
export type KeptField<S extends z.AnySchema> =
  S extends CheckedAs<infer Owners>
    ? Owners
    : S extends z.Absent<infer Inner extends z.AnySchema>
      ? z.Absent<KeptField<Inner>>
      : S extends z.Defaulted<infer Inner extends z.AnySchema>
        ? z.Absent<KeptField<Inner>>
        : S extends Linked | KeptAs<'words'>
          ? ReturnType<typeof ref>
          : S extends z.Obj<infer Fields>
            ? z.Obj<KeptFields<Fields>>
            : S extends z.List<infer Item extends z.AnySchema>
              ? z.List<KeptField<Item>>
              : S;

/** The fields of a call as an owner receives them. */
export type KeptFields<F extends z.Shape> = {
  readonly [Name in keyof F as KeptName<Name, Bare<F[Name]>>]: KeptField<F[Name]>;
};

/**
 * The fields of a call as an owner receives them, from those that a model writes. Checks in code are left out: they are for
 * what models write.
 *
 * @example keptFields({ task_id: z.int(), note: text() }) // { task_id: z.int(), note_ref: ref() }
 */
export function keptFields<F extends z.Shape>(fields: F): KeptFields<F> {
  const kept = Object.entries(fields).flatMap(([name, field]) => {
    const keeping = keepingOf(field);
    if (keeping === 'apart') return [];
    const present = (schema: z.AnySchema) => (unwrapped(field) === field ? schema : z.exactOptional(schema));
    if (keeping === 'words') return WORDS.map((link) => [link, present(ref())]);
    if (keeping === 'millionths') return [[`${name}_ppm`, present(z.int().min(0).max(MILLION))]];
    if (keeping === undefined || keeping === 'line') return [[name, keptField(field)]];
    return [[`${name}_ref`, present(ref())]];
  });
  return Object.fromEntries(kept);
}

const MILLION = 1_000_000;

/** A fraction as it is kept: in millionths. */
export function inMillionths(part: number): number {
  return Math.round(part * MILLION);
}

/** The schema of a value as an owner receives it: see {@link keptFields}. */
export function keptSchema<S extends z.AnySchema>(field: S): KeptField<S> {
  return keptField(field) as KeptField<S>; // the type follows the code below
}

function keptField(field: z.AnySchema): z.AnySchema {
  if (!(field instanceof z.BuiltSchema)) return field;
  const { type, innerType, element, shape, checks, options, meta } = field.def;
  if (meta?.owners !== undefined) return meta.owners;
  const same = checks === undefined ? {} : { checks: checks.filter(({ _zod }) => _zod.def.check !== 'custom') };
  // What code substitutes for an absent field, models may leave out; so may those who call the owner without it.
  if (type === 'default') return z.exactOptional(keptField(innerType));
  if (type === 'optional' || type === 'nullable') return field.like({ ...same, innerType: keptField(innerType) });
  if (type === 'union') return field.like({ ...same, options: (options as z.AnySchema[]).map(keptField) });
  if (type === 'array') return field.like({ ...same, element: keptField(element) });
  if (type === 'object') return field.like({ ...same, shape: keptFields(shape) });
  return field.like(same);
}

/** What a model writes: an object of these fields, also one of zod. */
type ArgumentsOf<F extends z.Shape> = z.AnySchema & { readonly shape: F };

/** A tool as it is stated. */
export interface OwnerTool<F extends z.Shape = z.Shape, C = unknown> {
  /** Its purpose and when to use it, in the words that models read. */
  readonly description: string;
  /** What a model writes, in the words that models read. */
  readonly args: ArgumentsOf<F>;
  /** The schema by which the owner parses what it receives. */
  readonly call: z.AnySchema<C> & Pick<z.BuiltSchema<C>, 'safeParse' | 'parse'>;
}

/** The arguments of a tool as its owner receives them. */
export type CallTo<T extends OwnerTool> = z.infer<T['call']>;

/**
 * States a tool whose calls the owner of a session answers: from its fields follow the schema that models are shown, what is
 * kept of a call, and the schema by which the owner parses it. `offerTool` makes the tool of it.
 *
 * @param also fields that the owner receives besides: code makes them of the arguments
 * @example
 * export const report = ownerTool({
 *   description: 'Tells the team what you found.',
 *   args: z.strictObject({ task_id: z.int().min(1), found: text().min(1).max(20_000) }),
 * })
 * // in the reducer: const { task_id, found_ref } = parsedCall(report.call, args)
 */
export function ownerTool<F extends z.Shape, A extends z.Shape = Record<never, never>>(spec: {
  readonly description: string;
  readonly args: ArgumentsOf<F>;
  readonly also?: A;
}): { readonly description: string; readonly args: ArgumentsOf<F>; readonly call: z.Obj<KeptFields<F> & A> } {
  requireFields(spec, 'ownerTool(spec)', 'an object with description and args');
  requireFields(spec.args?.shape, 'ownerTool(args)', 'an object schema');
  const { description, args, also } = spec;
  return { description, args, call: z.strictObject({ ...keptFields(args.shape), ...(also as A) }) };
}
