/**
 * Seals a realm: what asks a clock, chance, a locale, memory or the outside is gone from it, and the rest of the
 * language cannot be changed any more.
 *
 * Invariants
 * L1  What the guard lets through in a live world replays here: the traps are the same, and of the language nothing is
 *     gone but what makes code of text or bytes and what shares memory.
 * L2  While pure code replays, reaching for what is not there is a violation with a name, and not a mere error:
 *     catching it does not hide it. While a module loads it is absent, so that libraries may look for it.
 * L3  No code can be made of text, and nobody can change what the engine itself stands on.
 */
import { RepriseError } from '@reprise/contracts';
import { purity, violate } from '../../pure/engine/index.js';
import { installGuard } from '../guard/index.js';

/** What hosts have and a sandbox does not. Other names of hosts are absent as well; these are named when they are wanted. */
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

/** Parts of the language that make code of text or bytes, or share memory with somebody who does not replay. */
const WITHHELD = ['Atomics', 'SharedArrayBuffer', 'WebAssembly', 'eval'] as const;

/** Whose properties code assigns on objects of its own, such as `error.name`: a frozen prototype must not stop it. */
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

/** One function of each kind: their prototypes lead to the constructors that make code of text. */
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

/** What the module that was loaded last looked for in vain. */
export function missedNames(): readonly string[] {
  return [...missed];
}

/** L2 */
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
    hint: 'A sandbox has the language and the kernel, and nothing else.',
  });
}

/** L3 */
function withholdCompiler(prototype: object): void {
  const original = prototype.constructor;
  const trapped = new Proxy(original, { apply: refuseText, construct: refuseText });
  Object.defineProperty(prototype, 'constructor', { value: trapped, configurable: true });
  if (original === Function) Object.defineProperty(globalThis, 'Function', { value: trapped, configurable: true });
}

function refuseText(): never {
  if (loading) missed.add('Function');
  forbid('Function');
  throw new EvalError('a sandbox makes no code of text');
}

/** Stacks differ between engines, and the hook that formats them is handed what it must not have. */
function quietErrors(): void {
  Object.defineProperty(Error, 'stackTraceLimit', { value: 0, writable: false, configurable: false });
  Object.defineProperty(Error, 'prepareStackTrace', { value: undefined, writable: false, configurable: false });
}

/** What live code writes to a console is nobody's input. */
function hush(): void {}

/** L3: freezes everything that the global object leads to, what only syntax leads to, and itself. */
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

/** Lets each property be assigned on heirs, as it could be if nothing were frozen. */
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
