/**
 * The schemas of our vocabulary, by the names that zod has for them, without zod: loading it takes longer than loading
 * everything else. Data that is journaled is checked by the kernel's compiled form; these schemas declare it, and check
 * what enters elsewhere. Apps use zod itself, whose schemas may hold these, and the kernel compiles both.
 */
export {
  array,
  discriminatedUnion,
  type List,
  looseObject,
  type Obj,
  object,
  record,
  type Shape,
  strictObject,
  tuple,
} from './containers.js';
export { type AnySchema, defOf, type infer, type output } from './internals.js';
export {
  boolean,
  enum,
  int,
  type Listed,
  literal,
  matching,
  type Num,
  never,
  null,
  number,
  string,
  type Text,
  undefined,
  unknown,
} from './scalars.js';
export {
  type Absent,
  BuiltSchema,
  type Choice,
  custom,
  type Defaulted,
  exactOptional,
  nullable,
  type OrNull,
  type RefineContext,
  union,
} from './schema.js';
