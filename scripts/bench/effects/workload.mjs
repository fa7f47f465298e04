/*
 * Durable effects, one after the other in each session, for one commit; or, where the task names a floor, what is below
 * them. It runs bundled with the sources of that commit, in a process of its own, and prints one line of JSON: CPU and wall
 * microseconds of an effect, by block.
 *
 * It uses only names that every commit compared here has.
 */
import { createHash } from 'node:crypto';
import { memory } from 'reprise';
import { creates, defineApp, defineEffect, definePlan, defineReducer, openKernelWorld } from 'reprise/kernel';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';
import { commits, leastLoop, statement } from './least.mjs';

const { floor, store, file, sessions, effects, blocks, warmup } = JSON.parse(process.argv[2] ?? '{}');

/** A disk that takes this long to sync: the processor stops and comes back cold, as after a real one. */
const WAIT_MS = 0.2;

/** A plan has a bound; it goes on as a new one. */
const PLAN_EFFECTS = 200;

const cell = new Int32Array(new SharedArrayBuffer(4));
const wait = () => void Atomics.wait(cell, 0, 0, WAIT_MS);

const number = z.strictObject({ n: z.int() });
const span = z.strictObject({ from: z.int(), to: z.int() });
const note = defineEffect({ kind: 'bench.note@1', params: number, receipt: number });
const work = definePlan({
  name: 'bench/work@1',
  input: span,
  effects: [note],
  *run({ from, to }, plan) {
    const end = Math.min(to, from + PLAN_EFFECTS);
    for (let n = from; n < end; n++) yield* plan.awaitReceipt(plan.emitEffect(note, { n }));
    if (end < to) plan.continueAs({ from: end, to });
    else plan.raiseEvent({ name: 'bench/Worked@1', value: {} });
  },
});
const session = defineReducer({
  name: 'bench/Session@1',
  state: z.strictObject({ done: z.boolean() }),
  events: { 'bench/Asked@1': creates(span), 'bench/Worked@1': z.strictObject({}) },
  init: () => ({ done: false }),
  reduce(draft, event, ctx) {
    if (event.name === 'bench/Asked@1') ctx.emit({ plan: work, input: event.value });
    else draft.done = true;
  },
});

/** Reprise: effects of sessions that go on at the same time. */
async function reprise() {
  const app = defineApp({ reducers: [session], plans: [work] });
  const doExecute = async ({ n }) => ({ status: 'ok', payload: { n } });
  const adapters = [{ effect: note, name: 'noter', concurrency: 64, doExecute }];
  const world = await openKernelWorld({ store: storeOf(), app, adapters });
  let asked = 0;
  return async (count) => {
    const cells = Array.from({ length: sessions }, () => ['bench/Session@1', `s${asked++}`]);
    const event = { name: 'bench/Asked@1', value: { from: 0, to: count } };
    await Promise.all(cells.map((one) => world.request(one, event, { id: one[1] })));
    await world.pump();
    for (const one of cells) if ((await world.state(one))?.done !== true) throw new Error(`${one} is not done`);
  };
}

function storeOf() {
  if (store === 'sqlite') return sqlite(file);
  const inMemory = memory({ hash: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()) });
  return store === 'wait' ? waiting(inMemory) : inMemory;
}

/** A store in memory whose appends wait as for a disk. */
function waiting(inMemory) {
  return {
    ...inMemory,
    open: async () => {
      const opened = await inMemory.open();
      const append = async (...args) => {
        wait();
        return opened.journal.append(...args);
      };
      return view(opened, { journal: view(opened.journal, { append }) });
    },
  };
}

/** An object with some members replaced, the others bound to it. */
function view(target, replaced) {
  const get = (_target, name) => {
    if (Object.hasOwn(replaced, name)) return replaced[name];
    const member = target[name];
    return typeof member === 'function' ? member.bind(target) : member;
  };
  return new Proxy(target, { get });
}

const FLOORS = { 'least loop': leastLoop, commit: commits };

function subject() {
  if (floor === undefined) return reprise();
  const commit = store === 'sqlite' ? statement(file).commit : store === 'wait' ? wait : () => {};
  return FLOORS[floor](commit);
}

const run = await subject();
for (let block = 0; block < warmup; block++) await run(effects);
const measured = [];
for (let block = 0; block < blocks; block++) {
  const before = process.cpuUsage();
  const began = performance.now();
  await run(effects);
  const { user, system } = process.cpuUsage(before);
  const made = effects * (floor === undefined ? sessions : 1);
  measured.push({ cpu: (user + system) / made, wall: ((performance.now() - began) * 1000) / made });
}
console.log(JSON.stringify(measured));
process.exit(0);
