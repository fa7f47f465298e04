/**
 * The references of one schema. One that leads to the root or to a named definition stays as it is, and the definition
 * with it; any other is replaced by its target.
 */
import { isJsonObject, type Json } from '../model/json.js';

export type JsonMap = { readonly [key: string]: Json };

const DEFINITION = /^#\/(?:\$defs|definitions)\/([a-zA-Z0-9_.-]{1,64})$/;

/** The definitions that stand beside the root. */
export const DEFINITIONS = ['$defs', 'definitions'] as const;

/** Finds the targets of references within one schema. */
export class References {
  #byId: Map<string, Json> | undefined;

  constructor(private readonly root: Json) {}

  /** A reference as it is sent; undefined when it cannot be. */
  sent(ref: string): string | undefined {
    if (this.target(ref) === this.root) return '#';
    return this.isKept(ref) ? ref : undefined;
  }

  /** Whether a reference leads to a definition that is sent. */
  isKept(ref: string): boolean {
    return DEFINITION.test(ref) && isJsonObject(this.target(ref)) && !this.#isCircle(ref);
  }

  /** Whether a reference leads to nothing but further references, and back. */
  #isCircle(ref: string): boolean {
    const seen = new Set<unknown>();
    for (let next: Json | undefined = ref; typeof next === 'string'; ) {
      if (seen.has(next)) return true;
      seen.add(next);
      const target = this.target(next);
      next = isJsonObject(target) ? target.$ref : undefined;
    }
    return false;
  }

  /** The target of a reference; undefined when this schema does not hold it. */
  target(ref: string): Json | undefined {
    if (ref === '#') return this.root;
    return ref.startsWith('#/') ? this.#pointed(ref) : this.#named(ref);
  }

  #pointed(ref: string): Json | undefined {
    let found: Json | undefined = this.root;
    for (const step of ref.slice(2).split('/').map(unescaped)) {
      if (step === undefined) return undefined;
      if (Array.isArray(found)) found = (found as readonly Json[])[Number(step)];
      else found = isJsonObject(found) && Object.hasOwn(found, step) ? found[step] : undefined;
    }
    return found;
  }

  #named(ref: string): Json | undefined {
    this.#byId ??= idsIn(this.root);
    return this.#byId.get(ref);
  }
}

function unescaped(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

/** The schemas that carry a name of their own, by the references to them. */
function idsIn(root: Json): Map<string, Json> {
  const found = new Map<string, Json>();
  const look = (part: Json): void => {
    if (Array.isArray(part)) part.forEach(look);
    if (!isJsonObject(part)) return;
    const { $id, id, $anchor } = part;
    for (const name of [$id, id]) if (typeof name === 'string' && !found.has(name)) found.set(name, part);
    if (typeof $anchor === 'string' && !found.has(`#${$anchor}`)) found.set(`#${$anchor}`, part);
    Object.values(part).forEach(look);
  };
  look(root);
  return found;
}
