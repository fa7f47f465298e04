/**
 * Calls in a reducer whose results differ at another time, in another process or elsewhere, each with its replacement.
 */
import type { ReducerContext } from '@reprise/kernel';

/** One thing that pure code might use. */
export interface Use {
  readonly name: string;
  readonly how: string;
  /** The guard's name for it; absent when the guard cannot see it. */
  readonly guard?: string;
  /** A second fold of the same frame comes out otherwise. */
  readonly secondFold?: true;
  /** So does a verification, in the process that wrote it. */
  readonly here?: true;
  /** So does a verification in another time zone, language and environment, on an engine that rounds and cases otherwise. */
  readonly elsewhere?: true;
  /** The mutant. */
  use(ctx: ReducerContext): unknown;
  /** The sound one. */
  instead(ctx: ReducerContext): unknown;
}

/** Reads a clock until it moves: two readings are never the same. */
function moved<T>(read: () => T): T {
  const before = read();
  for (;;) {
    const now = read();
    if (now !== before) return now;
  }
}

const earlyClock = Date.now;
let calls = 0;
const cached = new Map<string, number>();
const drafts: { seen: unknown }[] = [];
const shared = globalThis as { repriseTold?: number };

/** One day after the beginning of 1970. */
const aDay = new Date(86_400_000);

/** Every use. */
export const USES: readonly Use[] = [
  {
    name: 'chance',
    how: '`Math.random()`',
    guard: 'Math.random',
    secondFold: true,
    here: true,
    use: () => Math.random(),
    instead: (ctx) => ctx.random(),
  },
  {
    name: 'a random identifier',
    how: '`crypto.randomUUID()`',
    guard: 'crypto.randomUUID',
    secondFold: true,
    here: true,
    use: () => crypto.randomUUID(),
    instead: (ctx) => ctx.id('seen'),
  },
  {
    name: 'random bytes',
    how: '`crypto.getRandomValues(…)`',
    guard: 'crypto.getRandomValues',
    secondFold: true,
    here: true,
    // One text: of eight numbers the first is the same by chance, once in 256 times.
    use: () => crypto.getRandomValues(new Uint8Array(8)).join(' '),
    instead: (ctx) => ctx.id('seen'),
  },
  {
    name: 'the clock',
    how: '`Date.now()`',
    guard: 'Date.now',
    secondFold: true,
    here: true,
    use: () => moved(() => Date.now()),
    instead: (ctx) => ctx.now,
  },
  {
    name: 'the clock, as a date',
    how: '`new Date()`',
    guard: 'new Date()',
    secondFold: true,
    here: true,
    use: () => moved(() => new Date().toISOString()),
    instead: (ctx) => new Date(ctx.now).toISOString(),
  },
  {
    name: 'a clock that was taken before',
    how: '`const now = Date.now` as the module loads, before the guard is installed',
    secondFold: true,
    here: true,
    use: () => moved(earlyClock),
    instead: (ctx) => ctx.now,
  },
  {
    name: 'the time since the process began',
    how: '`performance.now()`',
    guard: 'performance.now',
    secondFold: true,
    here: true,
    use: () => moved(() => performance.now()),
    instead: (ctx) => ctx.now,
  },
  {
    name: 'the hour of a date',
    how: '`date.getHours()` of a fixed date: another time zone',
    guard: 'Date.getHours',
    elsewhere: true,
    use: () => aDay.getHours(),
    instead: () => aDay.getUTCHours(),
  },
  {
    name: 'a date as text',
    how: '`String(date)` of a fixed date: another time zone',
    guard: 'Date.toString',
    elsewhere: true,
    use: () => String(aDay),
    instead: () => aDay.toISOString(),
  },
  {
    name: 'a date from text',
    how: '`new Date("2026-01-01 00:00")`: another time zone',
    guard: 'new Date(…) in local time',
    elsewhere: true,
    use: () => new Date('2026-01-01 00:00').getTime(),
    instead: () => Date.UTC(2026, 0, 1),
  },
  {
    name: 'the time zone',
    how: '`Intl.DateTimeFormat().resolvedOptions().timeZone`',
    guard: 'Intl.DateTimeFormat',
    elsewhere: true,
    use: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
    instead: () => 'UTC',
  },
  {
    name: 'a number in words of the locale',
    how: '`(1234.5).toLocaleString()`: another language',
    guard: 'toLocaleString',
    elsewhere: true,
    use: () => (1_234.5).toLocaleString(),
    instead: () => String(1_234.5),
  },
  {
    name: 'the order of the locale',
    how: '`"ä".localeCompare("z")`: another language',
    guard: 'String.localeCompare',
    elsewhere: true,
    use: () => 'ä'.localeCompare('z'),
    instead: () => 'ä'.charCodeAt(0) - 'z'.charCodeAt(0),
  },
  {
    name: 'the environment',
    how: '`process.env.REGION`',
    guard: 'process',
    elsewhere: true,
    use: () => process.env.REPRISE_REGION ?? 'none',
    instead: () => 'none',
  },
  {
    name: 'a stack',
    how: '`error.stack`: the files, lines and callers that led there',
    secondFold: true,
    here: true,
    elsewhere: true,
    use: () => new Error('x').stack ?? '',
    instead: () => 'x',
  },
  {
    name: 'a power',
    how: '`Math.pow(2, 0.5)`: engines round it differently',
    guard: 'Math.pow',
    elsewhere: true,
    use: () => Math.pow(2, 0.5),
    instead: () => Math.sqrt(2),
  },
  {
    name: 'a sine',
    how: '`Math.sin(1)`: engines round it differently',
    guard: 'Math.sin',
    elsewhere: true,
    use: () => Math.sin(1),
    instead: () => 0.8414709848078965,
  },
  {
    name: 'upper case',
    how: '`text.toUpperCase()`: follows the Unicode version of the engine',
    guard: 'String.toUpperCase',
    elsewhere: true,
    use: () => '\u019b'.toUpperCase(),
    instead: () => '\u019b',
  },
  {
    name: 'a normal form',
    how: '`text.normalize()`: follows the Unicode version of the engine',
    guard: 'String.normalize',
    elsewhere: true,
    use: () => 'e\u0301'.normalize('NFC'),
    instead: () => 'e\u0301',
  },
  {
    name: 'what the collector has left',
    how: '`new WeakRef(…).deref()`',
    guard: 'WeakRef',
    use: () => new WeakRef({}).deref() !== undefined,
    instead: () => true,
  },
  {
    name: 'a timeout',
    how: '`setTimeout(…)`',
    guard: 'setTimeout',
    use: () => void setTimeout(() => undefined, 0),
    instead: (ctx) => void ctx.timer('later', ctx.now + 60_000),
  },
  {
    name: 'the network',
    how: '`fetch(…)`',
    guard: 'fetch',
    use: () => void fetch('data:,x').catch(() => undefined),
    instead: () => undefined,
  },
  {
    name: 'a counter of the module',
    how: 'a variable outside of the definition that each call counts up',
    secondFold: true,
    here: true,
    use: () => ++calls,
    instead: () => 1,
  },
  {
    name: 'a cache of a closure',
    how: 'a map outside of the definition that distinguishes a second call from the first',
    secondFold: true,
    here: true,
    use: (ctx) => {
      const hits = cached.get(ctx.address[1]) ?? 0;
      cached.set(ctx.address[1], hits + 1);
      return hits;
    },
    instead: () => 0,
  },
  {
    name: 'the memory of an earlier event',
    how: 'the drafts of earlier deliveries, stored in a variable',
    secondFold: true,
    here: true,
    use: () => drafts.push({ seen: null }),
    instead: () => 1,
  },
  {
    name: 'a global of its own',
    how: 'a property that it sets on `globalThis`',
    secondFold: true,
    here: true,
    use: () => {
      shared.repriseTold = (shared.repriseTold ?? 0) + 1;
      return shared.repriseTold;
    },
    instead: () => 1,
  },
];
