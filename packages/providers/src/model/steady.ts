/**
 * Work on the parts of a conversation that is done once, although each request holds all of them again.
 *
 * Invariants
 * S1  A steady object never changes: it is frozen throughout, and holds no bytes, which cannot be frozen. So the object
 *     stands for its content, and what was derived from it stays right.
 * S2  What is derived from objects that are not steady is derived each time.
 * S3  What is derived lives no longer than the object that it was derived from, and is steady itself.
 */
import { isRef } from '@reprise/contracts';

/** Steady objects, each with a number that no other object gets. */
const numbers = new WeakMap<object, number>();
let last = 0;

/** How many results one object keeps for different keys: more than one only when conversations share the object. */
const VARIANTS_MAX = 8;

/** Freezes an object throughout and marks it as steady, unless it holds bytes. Returns the object. */
export function steady<T extends object>(thing: T): T {
  if (!numbers.has(thing) && freeze(thing)) numbers.set(thing, ++last);
  return thing;
}

/** Whether an object is steady. */
export function isSteady(thing: object): boolean {
  return numbers.has(thing);
}

/** Freezes an object and all that it holds; false when it holds bytes. */
function freeze(thing: unknown): boolean {
  if (typeof thing !== 'object' || thing === null || numbers.has(thing) || isRef(thing)) return true;
  if (ArrayBuffer.isView(thing)) return false;
  Object.freeze(thing);
  let whole = true;
  for (const part of Object.values(thing)) whole = freeze(part) && whole;
  return whole;
}

/** The results of one pure function of steady objects and a key. */
export class Derived<T extends object> {
  readonly #results = new WeakMap<object, Map<string, T>>();

  /**
   * The result for these objects, in this order, and this key; `make` derives it when it is not known.
   *
   * @param first the object that the result is kept with
   * @param others further objects that the result depends on
   * @param key all else that the result depends on
   */
  of(first: object, others: readonly object[], key: string, make: () => T): T {
    if (!isSteady(first) || !others.every(isSteady)) return make(); // S2
    const name = others.length === 0 ? key : `${others.map((other) => numbers.get(other)).join(' ')} ${key}`;
    const known = this.#results.get(first);
    const found = known?.get(name);
    if (found !== undefined) return found;
    const made = steady(make());
    if (!isSteady(made)) return made;
    if (known === undefined) this.#results.set(first, new Map([[name, made]]));
    else {
      if (known.size >= VARIANTS_MAX) known.clear();
      known.set(name, made);
    }
    return made;
  }
}
