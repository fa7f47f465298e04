/** Refuses parts of definitions that have the wrong type: callers may be untyped. */
import { EFFECT_KIND, hintOf, RepriseError, unknownFields, WIRE_NAME } from '@reprise/contracts';

/** The longest name: what records and manifests have room for. */
const NAME_UNITS_MAX = 128;

const MADE_BY = {
  reducer: 'a reducer made by defineReducer',
  plan: 'a plan made by definePlan',
  effect: 'an effect made by defineEffect',
};

/** The form of names that fit a leaf's key. */
const LEAF_NAME = /^[A-Za-z0-9_.:-]{1,64}$/;

/** Refuses a definition, or a part of one, that is not a plain object. */
export function requireObject(thing: unknown, what: string): asserts thing is Readonly<Record<string, unknown>> {
  const prototype = typeof thing === 'object' && thing !== null ? Object.getPrototypeOf(thing) : undefined;
  if (prototype === null || prototype === Object.prototype) return;
  refuse(`${what} must be an object`, 'a plain object', thing);
}

/** Refuses a part that is not a function. */
export function requireFunction(thing: unknown, what: string): void {
  if (typeof thing !== 'function') refuse(`${what} is not a function`, 'a function', thing);
}

/** Refuses a part that is not a function, and one that is asynchronous: its result would come after its frame. */
export function requireSynchronous(thing: unknown, what: string): void {
  requireFunction(thing, what);
  const hint = 'Pure code awaits nothing: emit an effect from a plan, and let its adapter do the asynchronous work.';
  refuseAsync(thing, what, 'a function without async', hint);
}

/** Refuses the body of a plan that is asynchronous: a plan waits with `yield*`. */
export function requirePlanBody(thing: unknown, what: string): void {
  requireFunction(thing, what);
  const hint = 'Wait for an effect with `yield* plan.awaitReceipt(…)` instead of `await`.';
  refuseAsync(thing, what, 'a generator function: *run(input, plan) { … }', hint);
}

function refuseAsync(thing: unknown, what: string, expected: string, hint: string): void {
  if (!/^\[object Async/.test(Object.prototype.toString.call(thing))) return;
  const actual = 'an async function';
  throw new RepriseError('invalid_definition', `${what} is asynchronous`, { expected, actual, hint });
}

/** Refuses fields that a definition does not have: a misspelled one would be ignored. */
export function requireKnownFields(spec: unknown, known: Readonly<Record<string, true>>, what: string): void {
  const [unknown] = unknownFields(spec, known);
  if (unknown === undefined) return;
  throw new RepriseError('invalid_definition', `${what} has an unknown option "${unknown}"`, {
    expected: Object.keys(known).join(', '),
    actual: unknown,
    ...hintOf(unknown, known),
  });
}

/** Refuses a part that is not a list of definitions of one type. */
export function requireDefinitions(things: unknown, type: 'reducer' | 'plan' | 'effect', what: string): void {
  if (!Array.isArray(things)) refuse(`the ${type}s of ${what} must be a list`, 'a list', things);
  for (let i = 0; i < things.length; i++) {
    const thing = things[i] as { readonly type?: unknown } | null | undefined;
    if (typeof thing === 'object' && thing !== null && thing.type === type) continue;
    refuse(`${type} ${i} of ${what} is not a ${type}`, MADE_BY[type], thing);
  }
}

/** Refuses an invalid wire name, and one that belongs to the kernel. */
export function requireOwnName(name: unknown, what: string): void {
  requireWireName(name, what);
  if (String(name).startsWith('sys/'))
    refuse(`${what} cannot have a name in sys/, which belongs to the kernel`, 'another namespace', name);
}

/** Refuses a name that is not `ns/Name@v`. */
export function requireWireName(name: unknown, what: string): void {
  requireName(name, WIRE_NAME, `the wire name of ${what}`, 'namespace/Name@version, such as demo/Counter@1');
}

/** Refuses a kind that is not `dotted.name@v`. */
export function requireEffectKind(kind: unknown): void {
  requireName(kind, EFFECT_KIND, 'an effect kind', 'a dotted lower-case name and a version, such as llm.generate@2');
}

/** Refuses the name of a log that would not fit a leaf's key. */
export function requireLogName(name: string): void {
  requireName(name, LEAF_NAME, 'the name of a log', 'up to 64 letters, digits and _ . : -');
}

/** Refuses the name of a table that would not fit a leaf's key. */
export function requireTableName(name: string): void {
  requireName(name, LEAF_NAME, 'the name of a table', 'up to 64 letters, digits and _ . : -');
}

function requireName(name: unknown, pattern: RegExp, what: string, form: string): void {
  if (typeof name === 'string' && name.length <= NAME_UNITS_MAX && pattern.test(name)) return;
  const expected = `${form}, at most ${NAME_UNITS_MAX} characters`;
  throw new RepriseError('invalid_name', `invalid name: not ${what}`, { expected, actual: name });
}

function refuse(what: string, expected: string, actual: unknown): never {
  throw new RepriseError('invalid_definition', what, { expected, actual });
}
