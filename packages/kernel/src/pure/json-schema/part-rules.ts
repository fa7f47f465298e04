/** Keywords about the parts of a value: the items of a list, the entries of a map. */
import { type CheckRun, type Evaluated, nothing, type Rule, type SchemaNode } from './check-run.js';
import { isMap, type JsonMap, keyOf } from './equal.js';
import type { LinearPattern } from './pattern.js';

/** A rule that holds for whatever is not a list. */
function listRule(rule: (list: readonly unknown[], run: CheckRun, seen: Evaluated) => boolean): Rule {
  return (value, run, seen) => !Array.isArray(value) || rule(value, run, seen);
}

/** A rule that holds for whatever is not a map. */
function mapRule(rule: (map: JsonMap, run: CheckRun, seen: Evaluated) => boolean): Rule {
  return (value, run, seen) => !isMap(value) || rule(value, run, seen);
}

/** `prefixItems` and `items`: the first items each by its own schema, the others by one. */
export function itemsRule(first: readonly SchemaNode[], others: SchemaNode | undefined): Rule {
  return listRule((list, run, seen) => {
    let fits = true;
    const known = others === undefined ? Math.min(first.length, list.length) : list.length;
    for (let at = 0; at < known; at++) {
      const node = first[at] ?? others;
      if (node !== undefined) fits = run.enter(at, node, list[at]) && fits;
      seen.parts.add(at);
    }
    return fits;
  });
}

/** The keyword `contains`, with the bounds `minContains` and `maxContains`. */
export function containsRule(node: SchemaNode, min: number, max: number): Rule {
  return listRule((list, run, seen) => {
    let count = 0;
    for (const [at, item] of list.entries()) {
      if (!run.quietly(() => run.enter(at, node, item))) continue;
      seen.parts.add(at);
      count++;
    }
    return (count >= min && count <= max) || run.problem(`contains ${count} items that fit, not ${range(min, max)}`);
  });
}

export const uniqueRule: Rule = listRule((list, run) => {
  const known = new Set(list.map((item) => keyOf(item, run.budget)));
  return known.size === list.length || run.problem('has an item twice');
});

/** The keywords `minItems`, `maxItems`, `minProperties` and `maxProperties`. */
export function countRule(of: 'items' | 'properties', fits: (count: number) => boolean, message: string): Rule {
  return of === 'items'
    ? listRule((list, run) => fits(list.length) || run.problem(message))
    : mapRule((map, run) => fits(Object.keys(map).length) || run.problem(message));
}

/** The rules of `properties`, `patternProperties` and `additionalProperties` for a map. */
interface Entries {
  readonly named: ReadonlyMap<string, SchemaNode>;
  readonly matching: readonly (readonly [LinearPattern, SchemaNode])[];
  readonly others: SchemaNode | undefined;
}

/** The keywords `properties`, `patternProperties` and `additionalProperties`, in one pass over the entries. */
export function entriesRule({ named, matching, others }: Entries): Rule {
  return mapRule((map, run, seen) => {
    let fits = true;
    for (const key of Object.keys(map)) {
      run.budget.spend(1);
      const own = named.get(key);
      const nodes = own === undefined ? [] : [own];
      for (const [pattern, node] of matching) if (pattern.matches(key, run.budget)) nodes.push(node);
      if (nodes.length === 0 && others !== undefined) nodes.push(others);
      for (const node of nodes) fits = run.enter(key, node, map[key]) && fits;
      if (nodes.length > 0) seen.parts.add(key);
    }
    return fits;
  });
}

/** `required`, and `dependentRequired` when a key is there. */
export function requiredRule(keys: readonly string[], when?: string): Rule {
  return mapRule((map, run) => {
    if (when !== undefined && !Object.hasOwn(map, when)) return true;
    run.budget.spend(keys.length);
    const missing = keys.filter((key) => !Object.hasOwn(map, key));
    for (const key of missing) run.problem('is missing', key);
    return missing.length === 0;
  });
}

/** The keyword `dependentSchemas`: where the key is present, the map fits the schema. */
export function dependentRule(key: string, node: SchemaNode): Rule {
  return mapRule((map, run, seen) => !Object.hasOwn(map, key) || run.visit(node, map, seen));
}

/** The keyword `propertyNames`: each key, as a text, fits the schema. */
export function namesRule(node: SchemaNode): Rule {
  return mapRule((map, run) => {
    const unfit = Object.keys(map).filter((key) => !run.quietly(() => run.visit(node, key, nothing())));
    for (const key of unfit) run.problem('has a name that does not fit', key);
    return unfit.length === 0;
  });
}

/** `unevaluatedItems` and `unevaluatedProperties`: the parts that no other keyword has evaluated. They come last. */
export function unevaluatedRule(of: 'items' | 'properties', node: SchemaNode): Rule {
  const over = (parts: Iterable<readonly [string | number, unknown]>, run: CheckRun, seen: Evaluated): boolean => {
    let fits = true;
    for (const [step, part] of parts) {
      if (!seen.all && !seen.parts.has(step)) fits = run.enter(step, node, part) && fits;
    }
    seen.all = true;
    return fits;
  };
  return of === 'items'
    ? listRule((list, run, seen) => over(list.entries(), run, seen))
    : mapRule((map, run, seen) => over(Object.entries(map), run, seen));
}

function range(min: number, max: number): string {
  return max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`;
}
