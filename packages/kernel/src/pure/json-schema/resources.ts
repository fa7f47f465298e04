/** The targets of a schema's references: its own parts, by address, anchor or pointer. Nothing outside is looked up. */
import { isMap, type JsonMap } from './equal.js';
import { pointerSteps, resolve } from './uri.js';
import { subschemas } from './vocabulary.js';

/** How deep schemas may nest in schemas. */
export const SCHEMA_DEPTH_MAX = 128;

/** How many lists, maps and scalars a schema may consist of. */
export const SCHEMA_NODES_MAX = 50_000;

/** How many characters the texts of a schema may have, its keys among them. */
export const SCHEMA_UNITS_MAX = 1_048_576;

/** The address of a schema without an `$id`. */
const ROOT = 'schema:/';

/** Why a schema is refused, and where in it. */
export class SchemaRefused extends Error {
  constructor(
    readonly where: string,
    message: string,
  ) {
    super(message);
  }
}

/** A part of a schema, and the address that its references are resolved against. */
export interface Located {
  readonly schema: unknown;
  readonly base: string;
}

/** The parts of one schema. */
export class Resources {
  readonly #roots = new Map<string, unknown>();
  readonly #anchors = new Map<string, Located>();
  readonly #dynamic = new Map<string, Located>();
  readonly root: Located;

  /** @throws SchemaRefused when it is too large */
  constructor(schema: unknown) {
    requireSize(schema);
    this.root = { schema, base: baseOf(schema, ROOT) };
    this.#roots.set(ROOT, schema);
    this.#index(schema, ROOT);
  }

  /** The target of a reference. @throws SchemaRefused when that is not a part of this schema */
  find(reference: string, base: string, where: string): Located {
    const place = resolve(base, reference);
    const steps = pointerSteps(place.fragment);
    const found =
      steps === undefined
        ? this.#anchors.get(`${place.base}#${place.fragment}`)
        : walk({ schema: this.#roots.get(place.base), base: place.base }, steps);
    if (found?.schema === undefined) {
      throw new SchemaRefused(where, `the reference ${reference.slice(0, 200)} has no target in this schema`);
    }
    return found;
  }

  /** The name of the dynamic anchor that a reference leads to, where it does. */
  dynamicName(reference: string, base: string): string | undefined {
    const place = resolve(base, reference);
    return this.#dynamic.has(`${place.base}#${place.fragment}`) ? place.fragment : undefined;
  }

  /** The dynamic anchor of a name at an address. */
  dynamic(base: string, name: string): Located | undefined {
    return this.#dynamic.get(`${base}#${name}`);
  }

  /** The addresses of all parts that have one. */
  get addresses(): Iterable<string> {
    return this.#roots.keys();
  }

  #index(schema: unknown, outer: string): void {
    if (!isMap(schema)) return;
    const base = baseOf(schema, outer);
    if (base !== outer && !this.#roots.has(base)) this.#roots.set(base, schema);
    const { $anchor, $dynamicAnchor, $recursiveAnchor } = schema;
    const here = { schema, base };
    if (typeof $anchor === 'string') this.#anchors.set(`${base}#${$anchor}`, here);
    if (typeof $dynamicAnchor === 'string') {
      this.#anchors.set(`${base}#${$dynamicAnchor}`, here);
      this.#dynamic.set(`${base}#${$dynamicAnchor}`, here);
    }
    if ($recursiveAnchor === true) this.#dynamic.set(`${base}#`, here);
    for (const one of subschemas(schema)) this.#index(one, base);
  }
}

/** The address of a part, by its `$id`. */
export function baseOf(schema: unknown, outer: string): string {
  if (!isMap(schema)) return outer;
  const id = schema.$id ?? schema.id;
  return typeof id === 'string' && !id.startsWith('#') ? resolve(outer, id).base : outer;
}

function walk(from: Located, steps: readonly string[]): Located | undefined {
  let { schema, base } = from;
  for (const step of steps) {
    if (Array.isArray(schema) && /^(0|[1-9][0-9]{0,9})$/.test(step)) schema = schema[Number(step)];
    else if (isMap(schema) && Object.hasOwn(schema, step)) schema = (schema as JsonMap)[step];
    else return undefined;
    base = baseOf(schema, base);
  }
  return { schema, base };
}

/** Recursion is bounded here, so that everything that follows may recurse. */
function requireSize(schema: unknown): void {
  let nodes = 0;
  let units = 0;
  const visit = (part: unknown, depth: number): void => {
    if (depth > SCHEMA_DEPTH_MAX) throw new SchemaRefused('#', `it nests deeper than ${SCHEMA_DEPTH_MAX}`);
    if (++nodes > SCHEMA_NODES_MAX) throw new SchemaRefused('#', `it has more than ${SCHEMA_NODES_MAX} parts`);
    if (typeof part === 'string') units += part.length;
    if (isMap(part)) for (const key of Object.keys(part)) units += key.length;
    if (units > SCHEMA_UNITS_MAX) throw new SchemaRefused('#', `it is longer than ${SCHEMA_UNITS_MAX} characters`);
    if (Array.isArray(part)) for (const item of part) visit(item, depth + 1);
    else if (isMap(part)) for (const key of Object.keys(part)) visit(part[key], depth + 1);
  };
  visit(schema, 0);
}
