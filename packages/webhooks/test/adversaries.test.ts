/**
 * Two receivers that answer as they like: they take, fail, ask to wait, hang, redirect, cut the connection (before or after they
 * have taken a delivery), and send bodies without an end. The world is closed and opened again in between. A day passes by a clock
 * that the test moves.
 */
import type { AgentWorld } from '@reprise/agent';
import { memory } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { randomFrom } from '../../../conformance/random.js';
import { type Mood, Receiver, TAKES } from './support/receiver.js';
import { agent, drive, newSecret, opened, partFor } from './support/world.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const HISTORIES = 42 / stepOf(14);
const MOODS: readonly Mood[] = [
  ...['takes', 'takes', 'takes', 'fails', 'asks to wait', 'hangs', 'redirects', 'cuts'],
  ...['takes and cuts', 'floods', 'never ends'],
] as readonly Mood[];
const NAMES = ['ops', 'audit'] as const;
const MESSAGES = ['Hi', 'fail', 'book'] as const;

/** One history, to its end. */
class History {
  readonly #secrets: Readonly<Record<(typeof NAMES)[number], string>>;
  readonly #store = memory();
  readonly #clock = new VirtualClock();
  readonly #random: () => number;
  readonly #receivers: Readonly<Record<(typeof NAMES)[number], Receiver>>;
  #part: ReturnType<typeof partFor>;
  #due = 0;

  private constructor(
    seed: number,
    receivers: readonly [Receiver, Receiver],
    secrets: Readonly<Record<(typeof NAMES)[number], string>>,
  ) {
    this.#random = randomFrom(seed);
    this.#secrets = secrets;
    this.#receivers = { ops: receivers[0], audit: receivers[1] };
    this.#part = partFor(this.#receivers);
  }

  static async run(seed: number): Promise<void> {
    const secrets = { ops: newSecret(), audit: newSecret() };
    const trap = await Receiver.listen(secrets.ops);
    const receivers = await Promise.all([
      Receiver.listen(secrets.ops, trap.url),
      Receiver.listen(secrets.audit, trap.url),
    ] as const);
    const history = new History(seed, receivers, secrets);
    await history.#live();
    expect(trap.received).toEqual([]); // a redirect is never followed
    await Promise.all([...receivers, trap].map((one) => one.close()));
  }

  async #live(): Promise<void> {
    for (const one of Object.values(this.#receivers)) {
      const dead = this.#random() < 0.2;
      one.mood = () => (dead ? 'fails' : (MOODS[Math.floor(this.#random() * MOODS.length)] ?? 'takes'));
    }
    for (let life = 0; life < 3; life++) {
      const world = await this.#open();
      for (let i = 0; i < 1 + Math.floor(this.#random() * 3); i++) await this.#act(world, `${life}.${i}`);
      await this.#clock.advance(Math.floor(this.#random() * 3_600_000));
      await world.close(); // whatever is under way
    }
    const world = await this.#open();
    await this.#toEnd(world);
    await this.#check(world);
    await world.close();
  }

  #open(): Promise<AgentWorld> {
    this.#part = partFor(this.#receivers);
    return opened({ store: this.#store, secrets: this.#secrets, clock: this.#clock, part: this.#part });
  }

  async #act(world: AgentWorld, session: string): Promise<void> {
    const message = MESSAGES[Math.floor(this.#random() * MESSAGES.length)] ?? 'Hi';
    await (await world.session(session, agent).send(message)).endedOrWaiting();
    this.#due++;
  }

  /** Until each delivery was taken or given up. */
  async #toEnd(world: AgentWorld): Promise<void> {
    const statuses = () => world.part(this.#part).receiversNow();
    const underWay = async () => {
      const rows = await Promise.all(NAMES.map((name) => world.kernel.table(['webhooks/Outbox@1', name], 'under_way')));
      return rows.flat().length;
    };
    const told = async () =>
      (await statuses()).every(
        ({ waiting, delivered, undelivered }) => waiting + delivered + undelivered === this.#due,
      );
    const hanging = () => Object.values(this.#receivers).reduce((sum, one) => sum + one.hanging, 0);
    await drive(
      this.#clock,
      async () => (await told()) && (await statuses()).every(({ waiting }) => waiting === 0),
      async () => (await told()) && (await underWay()) === hanging(),
    );
  }

  async #check(world: AgentWorld): Promise<void> {
    for (const name of NAMES) {
      const { received } = this.#receivers[name];
      const lost = await world.part(this.#part).undelivered(name);
      const taken = new Set(received.filter(({ mood }) => TAKES.includes(mood)).map(({ id }) => id));
      expect(received.filter(({ isSigned }) => !isSigned)).toEqual([]);
      // Each is taken, or said to be undelivered; what the sender could not know to be taken may be both.
      expect(new Set([...taken, ...lost.map(({ id }) => id)]).size).toBe(this.#due);
      // One id is one message, in equal bytes, in each attempt and each process; and each message has one id.
      const bodies = new Map(received.map(({ id, body }) => [id, body]));
      expect(received.filter(({ id, body }) => bodies.get(id) !== body)).toEqual([]);
      expect(new Set(bodies.values()).size).toBe(bodies.size);
    }
    const before = Object.values(this.#receivers).map(({ received }) => received.length);
    const { replayed, frames } = await world.verify();
    expect(replayed).toBe(frames);
    expect(Object.values(this.#receivers).map(({ received }) => received.length)).toEqual(before); // replay tells nobody
  }
}

describe(`deliveries to receivers that answer as they like (seed ${SEED}, ${HISTORIES} histories)`, () => {
  for (let i = 0; i < HISTORIES; i++)
    it(`each of two receivers is sent every delivery with one id and a valid signature until it has taken it, or the delivery is said to be undelivered, in history ${i} [HOOK-3, HOOK-12]`, async () => {
      await History.run(SEED * 1_000 + i);
    });
});
