/** The schemas of links, values and bytes, which apps put into schemas of zod. */
import { array, type List } from './containers.js';
import { Custom } from './schema.js';

/** A schema that the kernel knows by its function. */
export class Marker<T> extends Custom<T> {
  array(): List<this> {
    return array(this);
  }
}

/** A schema that accepts what fits, and keeps it as it is. */
export function marker<T>(fits: (value: unknown) => boolean): Marker<T> {
  return new Marker<T>({ type: 'custom', check: 'custom', fn: fits, abort: true });
}
