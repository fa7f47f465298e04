/** Checks of stores as arguments. Apart from the other checks, which know the engine: what only reads a store loads none. */
import { fieldsOf, isFunction, requireArgument } from '@reprise/contracts';

/** Refuses anything but an open store. */
export function requireReadable(thing: unknown, call = 'this function', name = 'store'): void {
  const { journal, content, openReadonly } = fieldsOf(thing);
  const whole = isFunction(fieldsOf(journal).read) && isFunction(fieldsOf(content).get);
  const next = isFunction(openReadonly) || typeof thing === 'string' ? OPEN_FIRST : undefined;
  requireArgument(whole, `${call}(${name})`, 'an open store, from openReadonly()', thing, next);
}

const OPEN_FIRST = "Open it first: await sqlite('world.db').openReadonly().";

/** Refuses anything but a store that can be opened, such as `sqlite('world.db')`. */
export function requireStore(thing: unknown, call: string, name = 'store'): void {
  const { open, openReadonly } = fieldsOf(thing);
  const next = typeof thing === 'string' ? "A path is not enough: write sqlite('world.db')." : undefined;
  requireArgument(isFunction(open) && isFunction(openReadonly), `${call}(${name})`, STORE, thing, next);
}

const STORE = "a store, such as memory() or sqlite('world.db')";
