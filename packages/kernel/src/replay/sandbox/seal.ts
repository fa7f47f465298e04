/**
 * Seals a realm: clocks, random numbers, locales, weak references and I/O are removed from it, and the rest of the
 * language is frozen.
 *
 * Invariants
 * L1  Code that passes the guard in a live world replays here: the traps are the same, and the language lacks only
 *     what turns text or bytes into code and what shares memory.
 * L2  While pure code replays, reaching for a removed name is a violation with that name, and not a mere error:
 *     catching it does not hide it. While a module loads it is absent, so that libraries may look for it.
 * L3  No code can be made from text, and no code can change the objects that the engine relies on.
 */
import { RepriseError } from '@reprise/contracts';
import { purity, violate } from '../../pure/engine/index.js';
import { installGuard } from '../guard/index.js';

/** Globals of Node and browsers that a sandbox lacks. Others are absent as well; these are named in violations. */
const OUTSIDE = [
  'AbortController',
  'AbortSignal',
  'Buffer',
  'BroadcastChannel',
  'EventSource',
  'MessageChannel',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'URLSearchParams',
  'WebSocket',
  'Worker',
  'XMLHttpRequest',
  'atob',
  'btoa',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'crypto',
  'document',
  'fetch',
  'global',
  'localStorage',
  'location',
  'navigator',
  'performance',
  'process',
  'queueMicrotask',
  'self',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'structuredClone',
  'window',
] as const;

/** Parts of the language that turn text or bytes into code, or share memory with code outside. */
const WITHHELD = ['Atomics', 'SharedArrayBuffer', 'WebAssembly', 'eval'] as const;

/** Prototypes whose properties code assigns on its own objects, such as `error.name`: freezing must not stop that. */
const OVERRIDABLE: readonly object[] = [
  Object.prototype,
  Error.prototype,
  EvalError.prototype,
  RangeError.prototype,
  ReferenceError.prototype,
  SyntaxError.prototype,
  TypeError.prototype,
  URIError.prototype,
];

/** One function of each kind: their prototypes lead to the constructors that turn text into code. */
const FUNCTIONS: readonly object[] = [
  () => undefined,
  async () => undefined,
  function* () {
    yield undefined;
  },
  async function* () {
    yield undefined;
  },
];

let loading = false;
const missed = new Set<string>();

/** Seals the realm that this runs in, for good. */
export function sealRealm(): void {
  installGuard();
  for (const name of [...OUTSIDE, ...WITHHELD]) withhold(name);
  for (const example of FUNCTIONS) withholdCompiler(Object.getPrototypeOf(example) as object);
  quietErrors();
  const silent = Object.fromEntries(['debug', 'error', 'info', 'log', 'trace', 'warn'].map((name) => [name, hush]));
  Object.defineProperty(globalThis, 'console', { value: silent });
  freezeAll();
}

/** Runs the body of a module that is being loaded. */
export function whileLoading(body: () => void): void {
  loading = true;
  missed.clear();
  purity.depth++; // the guard's traps hold here, too
  try {
    body();
  } finally {
    purity.depth--;
    loading = false;
  }
}

/** The names that the last loaded module looked for in vain. */
export function missedNames(): readonly string[] {
  return [...missed];
}

// L2
function withhold(name: string): void {
  Object.defineProperty(globalThis, name, {
    configurable: true,
    get: () => {
      if (loading) missed.add(name);
      else forbid(name);
      return undefined;
    },
  });
}

function forbid(name: string): void {
  if (purity.depth === 0) return;
  violate(name);
  throw new RepriseError('nondeterminism', `pure code reached for ${name}`, {
    hint: 'A sandbox has only the language and the kernel.',
  });
}

// L3
function withholdCompiler(prototype: object): void {
  const original = prototype.constructor;
  const trapped = new Proxy(original, { apply: refuseText, construct: refuseText });
  Object.defineProperty(prototype, 'constructor', { value: trapped, configurable: true });
  if (original === Function) Object.defineProperty(globalThis, 'Function', { value: trapped, configurable: true });
}

function refuseText(): never {
  if (loading) missed.add('Function');
  forbid('Function');
  throw new EvalError('a sandbox cannot make code from text');
}

/** Stacks differ between engines, and the hook that formats them receives objects it must not have. */
function quietErrors(): void {
  Object.defineProperty(Error, 'stackTraceLimit', { value: 0, writable: false, configurable: false });
  Object.defineProperty(Error, 'prepareStackTrace', { value: undefined, writable: false, configurable: false });
}

/** Console output of pure code is dropped: nothing reads it. */
function hush(): void {}

/** L3: freezes everything reachable from the global object, everything reachable only by syntax, and the global itself. */
function freezeAll(): void {
  const seen = new Set<object>();
  const open: unknown[] = [globalThis, ...FUNCTIONS, ...onlyBySyntax()];
  while (open.length > 0) {
    const thing = open.pop();
    if (!isObject(thing) || seen.has(thing)) continue;
    seen.add(thing);
    open.push(Object.getPrototypeOf(thing));
    for (const key of Reflect.ownKeys(thing)) {
      const { value, get, set } = Object.getOwnPropertyDescriptor(thing, key) as PropertyDescriptor;
      open.push(value, get, set);
    }
  }
  for (const owner of OVERRIDABLE) makeOverridable(owner);
  for (const thing of seen) Object.freeze(thing);
}

function isObject(thing: unknown): thing is object {
  return (typeof thing === 'object' && thing !== null) || typeof thing === 'function';
}

/** Objects whose prototypes no global leads to. */
function onlyBySyntax(): object[] {
  const [, , generator, asyncGenerator] = FUNCTIONS as readonly (() => object)[];
  const generators = [generator?.() ?? {}, asyncGenerator?.() ?? {}];
  return [[][Symbol.iterator](), new Map().entries(), new Set().values(), ''[Symbol.iterator](), ...generators].concat(
    'a'.matchAll(/a/g),
  );
}

/** Keeps each property assignable on derived objects, as if nothing were frozen. */
function makeOverridable(owner: object): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(owner))) {
    if (!('value' in descriptor) || descriptor.configurable !== true) continue;
    const { value, enumerable = false } = descriptor as PropertyDescriptor;
    Object.defineProperty(owner, name, {
      enumerable,
      configurable: false,
      get: () => value,
      set(this: object, own: unknown) {
        if (this === owner) throw new TypeError(`${name} cannot be changed in a sandbox`);
        Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
      },
    });
  }
}
