/**
 * The guard: makes clocks, random, timers and I/O throw while pure code runs.
 *
 * The library never patches a host's globals unasked; installing the guard is the host's act. The wrappers cost a
 * flag check outside pure code. A violation is sticky: a reducer that catches it is found all the same.
 */
import { RepriseError } from '@reprise/contracts';
import { purity } from '../engine/index.js';

/** Globals that pure code must not touch, and what to use instead. */
const BANNED_CALLS: Readonly<Record<string, string>> = {
  setTimeout: 'ctx.timer',
  setInterval: 'ctx.timer',
  setImmediate: 'ctx.timer',
  queueMicrotask: 'ctx.send',
  fetch: 'an effect',
  structuredClone: 'a plain copy',
};

const BANNED_MATH = [
  'random',
  'pow',
  'exp',
  'expm1',
  'log',
  'log2',
  'log10',
  'log1p',
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
  'atan',
  'atan2',
  'sinh',
  'cosh',
  'tanh',
  'asinh',
  'acosh',
  'atanh',
  'cbrt',
  'hypot',
] as const;

const BANNED_TEXT = [
  'toLowerCase',
  'toUpperCase',
  'toLocaleLowerCase',
  'toLocaleUpperCase',
  'normalize',
  'localeCompare',
] as const;

const BANNED_LOCALE: readonly (readonly [object, string])[] = [
  [Number.prototype, 'toLocaleString'],
  [Array.prototype, 'toLocaleString'],
  [Date.prototype, 'toLocaleString'],
  [Date.prototype, 'toLocaleDateString'],
  [Date.prototype, 'toLocaleTimeString'],
  [Date.prototype, 'getTimezoneOffset'],
];

/**
 * Installs the guard in this realm. Idempotent.
 *
 * @returns a function that takes it out again
 * @example
 * import { installGuard } from 'reprise/guard'
 * installGuard() // in a test set-up, or in development
 */
export function installGuard(): () => void {
  const undo: (() => void)[] = [];
  if (installed !== undefined) return installed;
  for (const [name, instead] of Object.entries(BANNED_CALLS)) wrap(undo, globalThis, name, name, instead);
  for (const name of BANNED_MATH)
    wrap(undo, Math, name, `Math.${name}`, name === 'random' ? 'ctx.random()' : 'integer arithmetic');
  for (const name of BANNED_TEXT) wrap(undo, String.prototype, name, `String.${name}`, 'asciiLower');
  for (const [owner, name] of BANNED_LOCALE) wrap(undo, owner, name, name, 'text of your own making');
  wrapDate(undo);
  wrap(undo, globalThis.crypto, 'getRandomValues', 'crypto.getRandomValues', 'ctx.id');
  wrap(undo, globalThis.crypto, 'randomUUID', 'crypto.randomUUID', 'ctx.id');
  if (globalThis.performance !== undefined) wrap(undo, globalThis.performance, 'now', 'performance.now', 'ctx.now');
  installed = () => {
    for (const step of undo.splice(0).reverse()) step();
    installed = undefined;
  };
  return installed;
}

let installed: (() => void) | undefined;

/** Throws when pure code is running, and remembers it. */
function forbid(name: string, instead: string): void {
  if (purity.depth === 0) return;
  purity.violation = name;
  throw new RepriseError('nondeterminism', `pure code called ${name}`, { hint: `Use ${instead}.` });
}

function wrap(undo: (() => void)[], owner: object | undefined, key: string, name: string, instead: string): void {
  const original = owner === undefined ? undefined : (owner as Record<string, unknown>)[key];
  if (owner === undefined || typeof original !== 'function') return;
  const had = Object.getOwnPropertyDescriptor(owner, key);
  const guarded = function (this: unknown, ...args: unknown[]): unknown {
    forbid(name, instead);
    return Reflect.apply(original, this, args);
  };
  Object.defineProperty(owner, key, {
    value: guarded,
    configurable: true,
    writable: true,
    enumerable: had?.enumerable ?? false,
  });
  undo.push(() => {
    if (had === undefined) delete (owner as Record<string, unknown>)[key];
    else Object.defineProperty(owner, key, had);
  });
}

/** `Date.now()`, `Date()` and `new Date()` read the clock; `new Date(ms)` does not. */
function wrapDate(undo: (() => void)[]): void {
  const Original = globalThis.Date;
  const Guarded = new Proxy(Original, {
    apply: (target, self, args) => {
      forbid('Date()', 'ctx.now');
      return Reflect.apply(target, self, args);
    },
    construct: (target, args, newTarget) => {
      if (args.length === 0) forbid('new Date()', 'ctx.now');
      return Reflect.construct(target, args, newTarget);
    },
  });
  wrap(undo, Original, 'now', 'Date.now', 'ctx.now');
  globalThis.Date = Guarded;
  undo.push(() => {
    globalThis.Date = Original;
  });
}
