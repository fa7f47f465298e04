import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { value } from '@reprise/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  memory,
  openKernelWorld,
  type World,
} from '../../../src/index.js';
import { installGuard } from '../../../src/replay/guard/index.js';
import { refusalOf } from '../../support/laws/world-laws.js';

const date = new Date(86_400_000);

/** Everything that pure code may not touch: a name, and a call that works for a host. */
const BANNED: readonly (readonly [string, () => unknown])[] = [
  ['Date.now', () => Date.now()],
  ['new Date()', () => new Date()],
  ['Date()', () => Date()],
  ['new Date(text)', () => new Date('2026-01-01 00:00')],
  ['new Date(y, m)', () => new Date(2026, 1)],
  ['Date.parse', () => Date.parse('2026-01-01 00:00')],
  ['date.constructor', () => new (date.constructor as DateConstructor)()],
  ['date.getHours', () => date.getHours()],
  ['date.getDay', () => date.getDay()],
  ['date.getFullYear', () => date.getFullYear()],
  ['date.getTimezoneOffset', () => date.getTimezoneOffset()],
  ['date.setHours', () => new Date(0).setHours(1)],
  ['date.toString', () => date.toString()],
  ['a date as text', () => `${date}`],
  ['date.toLocaleString', () => date.toLocaleString()],
  ['date.toLocaleDateString', () => date.toLocaleDateString()],
  ['date.toLocaleTimeString', () => date.toLocaleTimeString()],
  ['performance.now', () => performance.now()],
  ['Math.random', () => Math.random()],
  ['Math.pow', () => Math.pow(2, 0.5)],
  ['Math.sin', () => Math.sin(1)],
  ['Math.log', () => Math.log(2)],
  ['Math.exp', () => Math.exp(1)],
  ['Math.hypot', () => Math.hypot(1, 2)],
  ['crypto.randomUUID', () => crypto.randomUUID()],
  ['crypto.getRandomValues', () => crypto.getRandomValues(new Uint8Array(1))],
  ['setTimeout', () => clearTimeout(setTimeout(() => undefined))],
  ['setInterval', () => clearInterval(setInterval(() => undefined, 1_000))],
  ['setImmediate', () => clearImmediate(setImmediate(() => undefined))],
  ['queueMicrotask', () => queueMicrotask(() => undefined)],
  ['fetch', () => fetch('data:,x')],
  ['structuredClone', () => structuredClone({})],
  ['toLowerCase', () => 'İ'.toLowerCase()],
  ['toUpperCase', () => 'ß'.toUpperCase()],
  ['normalize', () => 'é'.normalize('NFD')],
  ['localeCompare', () => 'a'.localeCompare('b')],
  ['number.toLocaleString', () => (1_000).toLocaleString()],
  ['list.toLocaleString', () => [1].toLocaleString()],
  ['Intl.NumberFormat', () => new Intl.NumberFormat()],
  ['Intl.DateTimeFormat', () => Intl.DateTimeFormat()],
  ['Intl.Collator', () => new Intl.Collator()],
  ['Intl.Segmenter', () => new Intl.Segmenter()],
  ['WeakRef', () => new WeakRef({})],
  ['process.env', () => process.env.HOME],
  ['process.hrtime', () => process.hrtime.bigint()],
];

/** What pure code may do, among the same things. */
const FREE: readonly (readonly [string, () => unknown])[] = [
  ['a date of milliseconds', () => new Date(0).toISOString()],
  ['a date of a date', () => new Date(new Date(5)).getTime()],
  ['Date.UTC', () => Date.UTC(2026, 0)],
  ['UTC methods', () => date.getUTCHours() + date.getUTCDay()],
  ['portable Math', () => Math.max(Math.floor(1.5), Math.sqrt(4), Math.trunc(2), Math.imul(2, 3))],
  ['JSON', () => JSON.stringify({ date })],
];

const echo = defineEffect({ kind: 'law.echo@1', params: value(), receipt: value() });
const calls = (index: unknown) => (BANNED[index as number]?.[1] ?? FREE[-1 - (index as number)]?.[1]) as () => unknown;

/** Calls what an event names; `caught` swallows what the guard throws. */
function call({ index, caught }: { index: number; caught: boolean }): void {
  if (!caught) return void calls(index)();
  try {
    calls(index)();
  } catch {}
}

const request = z.strictObject({
  index: z.int(),
  caught: z.boolean(),
  where: z.enum(['reduce', 'init', 'run', 'resumed', 'on']),
});
const plan = definePlan({
  name: 'law/guarded_plan@1',
  input: request,
  effects: [echo],
  *run(input, context) {
    if (input.where === 'run') call(input);
    const on = () => {
      if (input.where === 'on') call(input);
      return false;
    };
    yield* context.retry(echo, {}, { max: 2, on });
    if (input.where === 'resumed') call(input);
    context.raiseEvent({ name: 'law/Finished@1', value: {} });
  },
});
const reducer = defineReducer({
  name: 'law/Guarded@1',
  state: z.strictObject({ ended: z.string() }),
  events: {
    'law/Called@1': creates(request),
    'law/Finished@1': z.strictObject({}),
    'sys/PlanFailed@1': z.strictObject({ plan: value(), name: z.string(), code: z.string() }),
  },
  init: (_key, event) => {
    if (event.name === 'law/Called@1' && event.value.where === 'init') call(event.value);
    return { ended: '' };
  },
  reduce(draft, event, ctx) {
    if (event.name === 'law/Finished@1') draft.ended = 'ok';
    else if (event.name === 'sys/PlanFailed@1') draft.ended = event.value.code;
    else if (event.value.where === 'reduce') call(event.value);
    else if (event.value.where !== 'init') ctx.emit({ plan, input: event.value });
  },
});
const app = defineApp({ reducers: [reducer], plans: [plan] });
const adapters = [{ effect: echo, name: 'echo', doExecute: async () => ({ status: 'ok' as const, payload: 1 }) }];

let world: World;
let uninstall: () => void;
const before = globalsNow();

/** Everything that the guard replaces, as it is defined: a trap may answer with what it hides. */
function globalsNow(): (PropertyDescriptor | undefined)[] {
  const owners = [
    Math,
    Date,
    Date.prototype,
    String.prototype,
    Number.prototype,
    Array.prototype,
    Intl,
    crypto,
    performance,
  ];
  const names = [
    'setTimeout',
    'setInterval',
    'setImmediate',
    'queueMicrotask',
    'fetch',
    'structuredClone',
    'Date',
    'WeakRef',
    'process',
  ];
  const own = owners.flatMap((owner) =>
    Object.getOwnPropertyNames(owner).map((name) => Object.getOwnPropertyDescriptor(owner, name)),
  );
  return [...own, ...names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name))];
}

let made = 0;

async function asked(index: number, caught: boolean, where: string): Promise<string> {
  const to = ['law/Guarded@1', `k${made++}`] as [string, string];
  const refusal = await refusalOf(world.request(to, { name: 'law/Called@1', value: { index, caught, where } }));
  if (refusal !== undefined) return refusal.code;
  await world.pump();
  return ((await world.state(to)) as { ended: string }).ended;
}

beforeAll(async () => {
  world = await openKernelWorld({ store: memory(), app, adapters, recheckEvery: 1 });
  uninstall = installGuard();
});

afterAll(async () => {
  uninstall();
  await world.close();
});

describe('without the guard', () => {
  it('no global is touched before the guard is installed, by loading Reprise or by replaying a world [DET-5]', async () => {
    const child = fileURLToPath(new URL('globals-child.ts', import.meta.url));
    const args = ['--conditions=@reprise/source', '--import', import.meta.resolve('tsx'), child];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { unasked, asked: after } = JSON.parse(stdout) as { unasked: string[]; asked: number };
    expect(unasked).toEqual([]);
    expect(after).toBeGreaterThan(10); // the check sees what the guard does
  });
});

describe('with the guard installed', () => {
  const all = BANNED.map(([name], index) => [name, index] as const);

  it.each(all)('%s in a reducer is refused, even when it is caught [DET-3]', async (_, index) => {
    for (const where of ['reduce', 'init']) {
      expect(await asked(index, false, where)).toBe('nondeterminism');
      expect(await asked(index, true, where)).toBe('nondeterminism');
    }
  });

  it.each(all)('%s in a plan ends it, even when it is caught [DET-3]', async (_, index) => {
    for (const where of ['run', 'resumed', 'on']) {
      expect(await asked(index, false, where)).toBe('nondeterminism');
      expect(await asked(index, true, where)).toBe('nondeterminism');
    }
  });

  it.each(FREE.map(([name], i) => [name, -1 - i] as const))('%s stays free', async (_, index) => {
    expect(await asked(index, false, 'reduce')).toBe('');
    expect(await asked(index, false, 'run')).toBe('ok');
  });

  it.each(BANNED)('a host may use %s [DET-4]', (_, use) => {
    expect(use).not.toThrow();
  });

  it('dates, timers and Intl work in the host under the guard', async () => {
    await promisify(setTimeout)(1);
    await promisify(setImmediate)();
    expect(new Date()).toBeInstanceOf(Date);
    expect(Date.name).toBe('Date');
    expect(new (class extends Date {})(5).getTime()).toBe(5);
    expect(Intl.DateTimeFormat.supportedLocalesOf('en')).toEqual(['en']);
  });

  it('a second installation is the first', () => {
    expect(installGuard()).toBe(uninstall);
  });

  it('without the guard every global is the original, and pure code runs unchecked [DET-4]', async () => {
    uninstall();
    expect(globalsNow().every((thing, i) => sameThing(thing, before[i]))).toBe(true);
    expect(await asked(1, true, 'init')).not.toBe('nondeterminism');
    uninstall = installGuard();
    expect(globalsNow().every((thing, i) => sameThing(thing, before[i]))).toBe(false);
    expect(await asked(1, true, 'init')).toBe('nondeterminism');
  });
});

function sameThing(one: PropertyDescriptor | undefined, other: PropertyDescriptor | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const parts = ['value', 'get', 'set', 'writable', 'enumerable', 'configurable'] as const;
  return parts.every((part) => Object.is(one[part], other[part]));
}
