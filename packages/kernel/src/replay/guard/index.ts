/**
 * The guard: makes clocks, random, timers and I/O throw while pure code runs.
 *
 * The library never patches a process's globals unasked; the program installs the guard itself. The wrappers cost a
 * flag check outside pure code. A violation is sticky: a reducer that catches it is found all the same.
 *
 * Why each kind is banned. Clocks, `Math.random` and I/O differ between two runs. Timers and microtasks run after the
 * fold, when nothing that they do is part of a frame. Functions of `Math` beyond the four operations and the square root
 * are not exact: engines differ in the last bit, and that bit reaches the state. Text that is compared, sorted or changed
 * in case by the locale, or normalized by the tables of Unicode, changes with the version of ICU that a host has.
 */
import { RepriseError } from '@reprise/contracts';
import { purity, violate } from '../../pure/engine/index.js';

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
  [BigInt.prototype, 'toLocaleString'],
  [Array.prototype, 'toLocaleString'],
  [Object.getPrototypeOf(Uint8Array.prototype) as object, 'toLocaleString'],
];

/** Date methods in local time: their results depend on the machine's time zone. The UTC methods are allowed. */
const BANNED_DATE = [
  'getDate',
  'getDay',
  'getFullYear',
  'getHours',
  'getMinutes',
  'getMonth',
  'getSeconds',
  'getTimezoneOffset',
  'getYear',
  'setDate',
  'setFullYear',
  'setHours',
  'setMinutes',
  'setMonth',
  'setSeconds',
  'setYear',
  'toDateString',
  'toLocaleDateString',
  'toLocaleString',
  'toLocaleTimeString',
  'toString',
  'toTimeString',
] as const;

/** Classes whose instances depend on the machine's locale, by the object that holds them. */
const BANNED_INTL = [
  'Collator',
  'DateTimeFormat',
  'DisplayNames',
  'DurationFormat',
  'ListFormat',
  'NumberFormat',
  'PluralRules',
  'RelativeTimeFormat',
  'Segmenter',
] as const;

/**
 * Installs the guard in this realm. Idempotent.
 *
 * @returns a function that removes it
 * @example
 * import { installGuard } from 'reprise/kernel'
 * installGuard() // in a test set-up, or in development
 */
export function installGuard(): () => void {
  if (installed !== undefined) return installed;
  const undo: (() => void)[] = [];
  for (const [name, instead] of Object.entries(BANNED_CALLS)) wrap(undo, globalThis, name, name, instead);
  for (const name of BANNED_MATH) wrap(undo, Math, name, `Math.${name}`, insteadOfMath(name));
  for (const name of BANNED_TEXT) wrap(undo, String.prototype, name, `String.${name}`, 'asciiLower');
  for (const [owner, name] of BANNED_LOCALE) wrap(undo, owner, name, name, 'text of your own making');
  for (const name of BANNED_DATE) wrap(undo, Date.prototype, name, `Date.${name}`, 'a UTC method');
  for (const name of BANNED_INTL) wrap(undo, Intl, name, `Intl.${name}`, 'text of your own making');
  for (const name of ['WeakRef', 'FinalizationRegistry']) wrap(undo, globalThis, name, name, 'a plain reference');
  wrapDate(undo);
  wrap(undo, globalThis.crypto, 'getRandomValues', 'crypto.getRandomValues', 'ctx.id');
  wrap(undo, globalThis.crypto, 'randomUUID', 'crypto.randomUUID', 'ctx.id');
  if (globalThis.performance !== undefined) wrap(undo, globalThis.performance, 'now', 'performance.now', 'ctx.now');
  hide(undo, 'process', 'data from an event or a state');
  installed = () => {
    for (const step of undo.splice(0).reverse()) step();
    installed = undefined;
  };
  return installed;
}

const insteadOfMath = (name: string): string => (name === 'random' ? 'ctx.random()' : 'integer arithmetic');

let installed: (() => void) | undefined;

/** Throws when pure code is running, and remembers it. */
function forbid(name: string, instead: string): void {
  if (purity.depth === 0) return;
  violate(name);
  throw new RepriseError('nondeterminism', `pure code called ${name}`, { hint: `Use ${instead}.` });
}

/**
 * Replaces a function or class with a trap. A proxy, so that its properties (what `promisify` looks for,
 * static methods, its name) stay available outside pure code.
 */
function wrap(undo: (() => void)[], owner: object | undefined, key: string, name: string, instead: string): void {
  const original = owner === undefined ? undefined : (owner as Record<string, unknown>)[key];
  if (owner === undefined || typeof original !== 'function') return;
  const guarded = new Proxy(original, {
    apply: (target, self, args) => {
      forbid(name, instead);
      return Reflect.apply(target as (...given: unknown[]) => unknown, self, args);
    },
    construct: (target, args, newTarget) => {
      forbid(name, instead);
      return Reflect.construct(target, args, newTarget) as object;
    },
  });
  replace(undo, owner, key, guarded);
}

function replace(undo: (() => void)[], owner: object, key: string, value: unknown): void {
  const had = Object.getOwnPropertyDescriptor(owner, key);
  Object.defineProperty(owner, key, {
    value,
    configurable: true,
    writable: true,
    enumerable: had?.enumerable ?? false,
  });
  undo.push(() => {
    if (had === undefined) delete (owner as Record<string, unknown>)[key];
    else Object.defineProperty(owner, key, had);
  });
}

/** Replaces a global object that pure code may not read at all: environment, platform, time. */
function hide(undo: (() => void)[], name: string, instead: string): void {
  const had = Object.getOwnPropertyDescriptor(globalThis, name);
  if (had === undefined || had.configurable !== true) return;
  const { enumerable = false } = had;
  Object.defineProperty(globalThis, name, {
    configurable: true,
    enumerable,
    get: () => {
      forbid(name, instead);
      return had.get === undefined ? had.value : had.get.call(globalThis);
    },
    set: (value: unknown) => {
      if (had.set === undefined) had.value = value;
      else had.set.call(globalThis, value);
    },
  });
  undo.push(() => Object.defineProperty(globalThis, name, had));
}

/** Arguments that give the same date everywhere: milliseconds, or another date. Others read a clock or a time zone. */
function isPortable(args: readonly unknown[]): boolean {
  return args.length === 1 && (typeof args[0] === 'number' || args[0] instanceof Date);
}

/** `Date()`, `new Date()` and `Date.now()` read the clock; `new Date(text)` and `new Date(y, m, …)` may read the zone. */
function wrapDate(undo: (() => void)[]): void {
  const Original = globalThis.Date;
  wrap(undo, Original, 'now', 'Date.now', 'ctx.now');
  wrap(undo, Original, 'parse', 'Date.parse', 'milliseconds');
  const Guarded = new Proxy(Original, {
    apply: (target, self, args) => {
      forbid('Date()', 'ctx.now');
      return Reflect.apply(target, self, args);
    },
    construct: (target, args, newTarget) => {
      if (!isPortable(args))
        forbid(args.length === 0 ? 'new Date()' : 'new Date(…) in local time', 'milliseconds, and ctx.now');
      return Reflect.construct(target, args, newTarget);
    },
  });
  replace(undo, globalThis, 'Date', Guarded);
  replace(undo, Original.prototype, 'constructor', Guarded);
}
