/**
 * Work whose passes are counted: `workload.mjs turns|effects|garbage FOLDER COUNT`. A turn of a session has two answers of a
 * model, which answers in the process at once, and a tool; an effect is one of a plan, executed one after the other. The
 * world is in a SQLite file. It prints what one of them took, as JSON, after as many that are not counted: its passes, or,
 * as `garbage`, how many bytes of an effect lived until old objects were collected.
 */
import { createHook } from 'node:async_hooks';
import crypto from 'node:crypto';
import { type HeapProfiler, Session } from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import { defineAgent, defineTool, openWorld } from 'reprise';
import { creates, defineApp, defineEffect, definePlan, defineReducer, openKernelWorld } from 'reprise/kernel';
import { scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';
import { counts } from './counts.js';

const [work = '', folder = '', count = ''] = process.argv.slice(2);
const store = sqlite(`${folder}/${work}.db`);

/** Effects of one plan: a plan has a bound. */
const PLAN_EFFECTS = 100;

/** Counts the calls of a function of the platform. */
function counted<K extends string>(owner: { [key in K]: unknown }, name: K, as: string): void {
  const original = owner[name] as (...args: unknown[]) => unknown;
  owner[name] = function (this: unknown, ...args: unknown[]) {
    counts[as] = (counts[as] ?? 0) + 1;
    return original.apply(this, args);
  };
}

function watchPlatform(): void {
  counted(crypto, 'hash', 'hashes');
  counted(globalThis, 'setTimeout', 'timers');
  counted(globalThis, 'setImmediate', 'macrotasks');
  counted(EventTarget.prototype, 'addEventListener', 'listeners');
  syncBuiltinESMExports();
  const Original = globalThis.AbortController;
  globalThis.AbortController = class extends Original {
    constructor() {
      super();
      counts.controllers = (counts.controllers ?? 0) + 1;
    }
  };
  createHook({
    init: (_id, type) => {
      if (type === 'PROMISE') counts.promises = (counts.promises ?? 0) + 1;
    },
  }).enable();
}

async function turns(): Promise<(from: number, to: number) => Promise<void>> {
  const text = 'Lorem ipsum dolor sit amet, consetetur sadipscing elitr. '.repeat(9);
  const read = defineTool({
    name: 'read',
    description: 'Reads a chapter.',
    args: z.strictObject({ chapter: z.string() }),
    run: ({ chapter }) => `${chapter}: ${text}`,
  });
  const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Answer from the chapters.', tools: [read] });
  const main = scriptBy(({ unified }) =>
    unified.messages.at(-1)?.role === 'user' ? { calls: [{ tool: 'read', args: { chapter: 'one' } }] } : { text },
  );
  const world = await openWorld({ store, agents: [clerk], models: { main } });
  return async (from, to) => {
    for (let n = from; n < to; n++)
      await (await world.session('s', clerk).send(`${n} ${text}`, { id: `m${n}` })).text();
  };
}

async function effects(): Promise<(from: number, to: number) => Promise<void>> {
  const number = z.strictObject({ n: z.int() });
  const range = z.strictObject({ from: z.int(), to: z.int() });
  const note = defineEffect({ kind: 'bench.note@1', params: number, receipt: number });
  const noting = definePlan({
    name: 'bench/noting@1',
    input: range,
    effects: [note],
    *run({ from, to }, plan) {
      for (let n = from; n < to; n++) yield* plan.awaitReceipt(plan.emitEffect(note, { n }));
    },
  });
  const session = defineReducer({
    name: 'bench/Session@1',
    state: z.strictObject({}),
    events: { 'bench/Asked@1': creates(range) },
    init: () => ({}),
    reduce: (_draft, event, ctx) => void ctx.emit({ plan: noting, input: event.value }),
  });
  const doExecute = async ({ n }: { n: number }) => ({ status: 'ok' as const, payload: { n } });
  const app = defineApp({ reducers: [session], plans: [noting] });
  const world = await openKernelWorld({ store, app, adapters: [{ effect: note, name: 'noter', doExecute }] });
  return async (first, end) => {
    for (let from = first; from < end; from += PLAN_EFFECTS) {
      const value = { from, to: Math.min(from + PLAN_EFFECTS, end) };
      await world.request(['bench/Session@1', `${from}`], { name: 'bench/Asked@1', value });
      await world.pump();
    }
    if ((await world.openEffects()).length > 0) throw new Error('effects are still open');
  };
}

/** What both drivers of SQLite have. */
interface Driven {
  exec(sql: string): void;
  prepare(sql: string): { run(): void; get(): void; all(): void };
}

/** The driver that the store takes, too. */
async function watchDriver(): Promise<void> {
  const builtin = process.getBuiltinModule?.('node:sqlite') as
    | { DatabaseSync: new (path: string) => Driven }
    | undefined;
  const Database =
    builtin?.DatabaseSync ?? ((await import('libsql')) as unknown as { default: new (path: string) => Driven }).default;
  const db = new Database(':memory:');
  counted(Object.getPrototypeOf(db) as Driven, 'exec', 'statements of SQLite');
  const statement = Object.getPrototypeOf(db.prepare('SELECT 1')) as ReturnType<Driven['prepare']>;
  for (const name of ['run', 'get', 'all'] as const) counted(statement, name, 'statements of SQLite');
}

/** The bytes that survived the collections of young objects while something ran, by samples of what was allocated. */
async function oldBytes(body: () => Promise<void>): Promise<number> {
  const inspector = new Session();
  inspector.connect();
  const how = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: false };
  inspector.post('HeapProfiler.startSampling', { samplingInterval: 512, ...how });
  await body();
  let bytes = 0;
  const add = ({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): void => {
    bytes += selfSize;
    children.forEach(add);
  };
  inspector.post('HeapProfiler.stopSampling', (_error, { profile }) => add(profile.head)); // it answers at once
  return bytes;
}

if (work !== 'garbage') {
  watchPlatform();
  await watchDriver();
}
const run = await (work === 'turns' ? turns() : effects());
const many = Number(count);
await run(0, many);
for (const name of Object.keys(counts)) counts[name] = 0;
const again = (): Promise<void> => run(many, 2 * many);
if (work === 'garbage') counts.bytes = await oldBytes(again);
else await again();
const found = { ...counts };
console.log(JSON.stringify(Object.fromEntries(Object.entries(found).map(([name, all]) => [name, all / many]))));
process.exit(0);
