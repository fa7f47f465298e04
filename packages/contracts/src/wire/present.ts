/** The keys that may be undefined or absent. */
type Lacking<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** The same fields, of which those that may be undefined may be absent instead. */
export type Present<T> = Omit<T, Lacking<T>> & { [K in Lacking<T>]?: Exclude<T[K], undefined> };

/**
 * The fields that are not undefined, in the same order: an absent field and one that is undefined have different bytes.
 *
 * @example present({ name, key: key === '' ? undefined : key })
 */
export function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined)) as Present<T>;
}
