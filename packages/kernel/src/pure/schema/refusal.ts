import { RepriseError } from '@reprise/contracts';

/** The place of the compiler: the path for messages, and the surrounding schemas. */
export interface Place {
  readonly where: string;
  readonly inside: readonly object[];
}

/** The place of a part: a longer path, and the same surrounding schemas. */
export function placeOf(place: Place, step: string): Place {
  return { where: place.where + step, inside: place.inside };
}

/** Refuses a schema, with the error, its place, and the schema to write instead. */
export function refuseSchema(place: Place, what: string, hint: string): never {
  throw new RepriseError('invalid_schema', what, { where: place.where, hint });
}

const CODE = 'Check and change values in a reducer or a plan, where code is versioned with the journal.';
const FORM = 'Journaled values are null, booleans, numbers, text, bytes, links, lists and maps.';

/** The replacement for each kind of schema that is refused as a whole. */
export const HINTS: Readonly<Record<string, string>> = {
  any: 'Use value() for data whose shape another schema decides.',
  unknown: 'Use value() for data whose shape another schema decides.',
  bigint: 'Use int(), or text for numbers beyond ±(2^53−1).',
  date: 'Use int() with milliseconds since the epoch.',
  map: 'Use record(), or a list of tuples.',
  set: 'Use array().',
  symbol: FORM,
  undefined: 'Leave the key out: exactOptional().',
  void: 'Leave the key out: exactOptional().',
  nan: FORM,
  file: 'Put the content in the content store and name it with ref().',
  promise: FORM,
  function: FORM,
  transform: CODE,
  pipe: CODE,
  catch: 'Refuse an invalid value: a silent replacement cannot be audited.',
  prefault: 'Use a constant default().',
  success: CODE,
  nonoptional: 'Use the schema without optional().',
  intersection: 'Write one strictObject with all fields, for example with extend().',
  lazy: 'Schemas are finite: use value() for the recursive part, or a list of parts that name their parent.',
  template_literal: 'Use string().regex(…) without flags.',
};
