/**
 * The acceptance of the flow reducers: worlds that die at random commits and are opened again, held to what a plain
 * program would have come to. Nothing may be lost, nothing may happen twice, and the journal must replay.
 */
import type { Address, JournalRecord, Value } from '@reprise/contracts';
import { PROMISE, QUEUE, TOPIC } from '../../../src/pure/flow/index.js';
import { Dice } from './dice.js';
import { type Fate, mortalStore } from './mortal-store.js';
import { client, type Heard, Office } from './office.js';

/** What a trial is made of. */
export interface Trial {
  readonly seed: number;
  /** Items, subscribers: whatever there are many of. */
  readonly size: number;
  /** A commit in about so many is the process's last. */
  readonly killEvery: number;
}

/** What a trial came to. */
export interface Came {
  readonly deaths: number;
  readonly frames: number;
}

const queue: Address = [QUEUE, 'line'];
const topic: Address = [TOPIC, 'news'];

/** An office of which the process dies now and then. */
class Doomed {
  readonly dice: Dice;
  readonly office: Office;
  readonly #fates: Dice;
  #spared = false;

  constructor({ seed, killEvery }: Trial) {
    this.dice = new Dice(seed);
    this.#fates = new Dice(seed + 1);
    const fate = (): Fate | undefined =>
      this.#spared
        ? undefined
        : { commits: 1 + this.#fates.roll(2 * killEvery), side: this.#fates.pick(['before', 'after']) };
    this.office = new Office(mortalStore(fate));
  }

  async end(): Promise<Came> {
    this.#spared = true;
    const { deaths } = this.office.store;
    const { frames } = await this.office.close();
    return { deaths, frames };
  }
}

/** A queue of five slots under items of random priority, from clients that take random times for them. */
export async function queueTrial(trial: Trial): Promise<Came> {
  const doomed = new Doomed(trial);
  const { office, dice } = doomed;
  const clients = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  await office.host(queue, 'flow/OpenQueue@1', { limit: 5, paused: false });
  for (const key of clients) await office.host(client(key), 'test/Trained@1', { work_ms: dice.roll(40) });
  for (let i = 0; i < trial.size; i++) {
    const item = {
      item: `i${i}`,
      priority: dice.roll(7) - 3,
      value: { n: i },
      ...(i % 5 === 0 ? { lease_ms: 1_000_000 } : {}),
    };
    await office.by(dice.pick(clients), queue, 'flow/Enqueue@1', item);
    if (dice.roll(400) === 0) await office.pass(dice.roll(30));
  }
  await office.rest();
  holdLine(await office.records(), 5, trial.size);
  const left = (await office.table(queue, 'items')).length + (await office.table(queue, 'leases')).length;
  if (left > 0) throw new Error(`${left} items or leases are left`);
  return doomed.end();
}

/** Holds a journal to the rules of a line before slots: who comes next, how many run, and that each runs once. */
export function holdLine(records: readonly JournalRecord[], limit: number, items: number): void {
  const waiting = new Map<string, { readonly priority: number; readonly n: number }>();
  const running = new Set<string>();
  const done = new Set<string>();
  for (const record of records) {
    if (record.kind !== 'event') continue;
    const { name, value } = record.event;
    const { item, priority = 0 } = value as { readonly item: string; readonly priority?: number };
    if (name === 'flow/Enqueue@1') waiting.set(item, { priority, n: waiting.size + running.size + done.size });
    else if (name === 'flow/Done@1' && running.delete(item)) done.add(item);
    else if (name === 'flow/Granted@1') {
      const mine = waiting.get(item);
      if (mine === undefined) throw new Error(`${item} was granted twice, or without being in line`);
      const first = [...waiting.values()].every(
        (one) => one.priority < mine.priority || (one.priority === mine.priority && one.n >= mine.n),
      );
      if (!first) throw new Error(`${item} was granted before its turn`);
      waiting.delete(item);
      running.add(item);
      if (running.size > limit) throw new Error(`${running.size} have a slot of ${limit}`);
    }
  }
  if (done.size !== items || waiting.size + running.size > 0) {
    throw new Error(`of ${items} items ${done.size} are done, ${waiting.size} wait, ${running.size} have a slot`);
  }
}

/** A topic with many subscribers, some of whom have a filter, come later or ask for what is kept. */
export async function topicTrial(trial: Trial): Promise<Came> {
  const doomed = new Doomed(trial);
  const { office, dice } = doomed;
  const wants: { readonly key: string; readonly kind: number; readonly from: number }[] = [];
  let published = 0;
  const publish = async (): Promise<void> => {
    await office.host(topic, 'flow/Publish@1', { name: 'n', value: { odd: published % 2 === 1, n: published } });
    published++;
  };
  await office.host(topic, 'flow/OpenTopic@1', { retain: 100 });
  await publish();
  for (let i = 0; i < trial.size; i++) {
    const kind = dice.roll(3);
    const from = dice.roll(20) === 0 ? 0 : undefined;
    const filter = { where: kind === 0 ? [['odd', true]] : [] };
    await office.by(`s${i}`, topic, 'flow/Subscribe@1', { filter, ...(from === undefined ? {} : { from }) });
    wants.push({ key: `s${i}`, kind, from: from ?? published });
    if (i % Math.ceil(trial.size / 4) === 0) await publish();
  }
  for (let n = 0; n < 3; n++) await publish();
  await office.rest();
  for (const { key, kind, from } of wants) {
    const wanted = Array.from({ length: published - from }, (_, n) => from + n).filter((n) => kind > 0 || n % 2 === 1);
    const got = cursorsOf(await office.heard(key));
    if (got.join() !== wanted.join()) throw new Error(`${key} got ${got} instead of ${wanted}`);
  }
  return doomed.end();
}

function cursorsOf(heard: readonly Heard[]): number[] {
  return heard.map(({ value }) => (value as { readonly cursor: number }).cursor);
}

/** Promises of every kind, awaited by many, written late and twice, some of them past their deadlines. */
export async function promiseTrial(trial: Trial): Promise<Came> {
  const doomed = new Doomed(trial);
  const { office, dice } = doomed;
  const parts = ['x', 'y', 'z'];
  const promises: {
    readonly key: string;
    readonly needs: number;
    readonly deadline: number;
    readonly waiters: string[];
  }[] = [];
  for (let i = 0; i < 6; i++) {
    const needs = dice.pick<Value>(['any', 'all', 2]);
    const deadline = office.clock.wall() + 50 + dice.roll(100);
    await office.host([PROMISE, `p${i}`], 'flow/OpenPromise@1', { parts, needs, deadline });
    promises.push({ key: `p${i}`, needs: needs === 'any' ? 1 : needs === 'all' ? 3 : 2, deadline, waiters: [] });
  }
  for (let i = 0; i < trial.size; i++) {
    const one = dice.pick(promises);
    one.waiters.push(`w${i}`);
    await office.by(`w${i}`, [PROMISE, one.key], 'flow/Await@1', {});
  }
  const said = new Map<string, Map<string, boolean>>(promises.map(({ key }) => [key, new Map()]));
  const ended = new Map<string, string>();
  for (let i = 0; i < 30; i++) {
    const one = dice.pick(promises);
    const part = dice.pick(parts);
    const ok = dice.roll(3) > 0;
    const written = said.get(one.key) as Map<string, boolean>;
    if (!ended.has(one.key) && office.clock.wall() >= one.deadline) ended.set(one.key, 'expired');
    await office.host([PROMISE, one.key], 'flow/Write@1', { part, ok, value: i });
    if (!ended.has(one.key) && !written.has(part)) {
      written.set(part, ok);
      const good = [...written.values()].filter((well) => well).length;
      if (good >= one.needs) ended.set(one.key, 'fulfilled');
      else if (parts.length - (written.size - good) < one.needs) ended.set(one.key, 'rejected');
    }
    await office.pass(dice.roll(9));
  }
  await office.rest();
  for (const { key, waiters } of promises) {
    const state = ended.get(key) ?? 'expired';
    for (const waiter of waiters) {
      const heard = (await office.heard(waiter)).map(({ value }) => (value as { readonly status: string }).status);
      if (heard.join() !== state) throw new Error(`${waiter} heard ${heard} of ${key}, which is ${state}`);
    }
  }
  return doomed.end();
}
