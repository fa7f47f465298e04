/**
 * Lives of a fleet: clients repeat their requests at any machine until one acknowledges them, requests start effects of
 * each guarantee, and trouble comes to all machines but one.
 */
import type { Value } from '@reprise/contracts';
import { type EffectDefinition, openKernelWorld } from '../../../src/index.js';
import { framesOf } from '../../support/judge.js';
import {
  add,
  again,
  ask,
  asked,
  type Body,
  lab,
  note,
  numberOf,
  once,
  type Step,
  seen,
  start,
  tellCell,
} from '../../support/lab.js';
import { type HostOnMachine, hostOn, type LeftOut, type Machine, SharedPlace, TTL } from '../host/machines.js';
import { type Call, FleetOutside } from './outside.js';

const SECOND = 1_000;

/** The effects that a request may start, by the plan that starts them. */
const EFFECTS = { once, again, asked } as const;

/** The name of a plan of the fleet's app. */
export type Start = keyof typeof EFFECTS;

/** Trouble of a machine. */
type Trouble =
  | { readonly kind: 'die'; readonly at: number }
  | { readonly kind: 'begin'; readonly at: number }
  | { readonly kind: 'stand still' | 'slow' | 'lose a write'; readonly at: number; readonly ms: number }
  | { readonly kind: 'fail'; readonly at: number; readonly ms: number; readonly how: 'before' | 'after' };

/** What happens next. */
export type FleetEvent =
  /** A client asks a world for something, first at this machine. */
  | { readonly kind: 'ask'; readonly at: number; readonly world: string; readonly start: Start; readonly ms: number }
  /** A client reads a world at a machine. */
  | { readonly kind: 'read'; readonly at: number; readonly world: string }
  | Trouble
  /** The wall clock of everything jumps. */
  | { readonly kind: 'jump'; readonly ms: number };

/** An event and the time that passes after it. */
export interface FleetHappening {
  readonly event: FleetEvent;
  readonly afterMs: number;
}

/** What became of a life. */
export interface FleetOutcome {
  /** Promises that were broken, in words. */
  readonly broken: readonly string[];
  /** Requests that were acknowledged. */
  readonly acknowledged: number;
  /** How often a world went to another machine. */
  readonly takeOvers: number;
}

/** A plan that starts an effect, and tells its cell how it ended. */
const starting = (effect: EffectDefinition): Body =>
  function* body(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(effect, input));
    tellCell(plan, (input as unknown as Call).tag, status);
  };
const { app } = lab(Object.fromEntries(Object.entries(EFFECTS).map(([name, effect]) => [name, starting(effect)])));

/** The machine with the number 0 meets no trouble of its own: while any machine lives, every request is answered. */
const SURVIVOR = 0;
const MACHINES = 3;

/** The wall clocks of the machines differ by this much. */
const SKEW_MS = [0, 700, -5_000];

/** How long a call to storage takes, so that trouble comes between two of them. */
const LATENCY_MS = 2;

/** How long a client waits for an answer before it asks another machine. */
const PATIENCE = 20 * SECOND;

/** A request whose id its client keeps when it asks again. */
interface Asked {
  readonly id: string;
  readonly world: string;
  readonly start: Start;
  acknowledged: boolean;
}

/** Lives a life. @param leftOut what a broken build leaves out */
export async function live(happenings: readonly FleetHappening[], leftOut: LeftOut = {}): Promise<FleetOutcome> {
  return new Life(leftOut).lived(happenings);
}

class Life {
  readonly #place: SharedPlace;
  readonly #outside: FleetOutside;
  readonly #hosts: HostOnMachine[] = [];
  readonly #requests: Asked[] = [];
  readonly #broken: string[] = [];
  /** The number of requests that each world has acknowledged. */
  readonly #counts = new Map<string, number>();
  readonly #owners = new Map<string, string>();
  #takeOvers = 0;
  #begun = 0;

  constructor(leftOut: LeftOut) {
    this.#place = new SharedPlace(leftOut);
    this.#outside = new FleetOutside((world) => this.#place.store(world).epoch);
  }

  async lived(happenings: readonly FleetHappening[]): Promise<FleetOutcome> {
    for (let n = 0; n < MACHINES; n++) await this.#begin(n);
    for (const { event, afterMs } of happenings) {
      this.#happens(event);
      await this.#place.clock.advance(afterMs);
    }
    await this.#rests();
    await this.#judge();
    const acknowledged = this.#requests.filter((request) => request.acknowledged).length;
    return {
      broken: [...this.#broken, ...this.#outside.wrongs, ...this.#rewritten()],
      acknowledged,
      takeOvers: this.#takeOvers,
    };
  }

  /** Rows that were rewritten. A world may be found locked for a moment where an answer to its owner was lost. */
  #rewritten(): readonly string[] {
    return this.#place.wrongs.filter((wrong) => !wrong.endsWith('locked'));
  }

  /** All is acknowledged and has ended, or is late. */
  async #rests(): Promise<void> {
    for (let waited = 0; waited < 6 && !this.#requests.every(({ acknowledged }) => acknowledged); waited++)
      await this.#place.clock.advance(30 * SECOND);
    await this.#place.clock.advance(3 * TTL);
  }

  async #begin(n: number): Promise<void> {
    const machine = this.#place.machine(`m${n}.${this.#begun++}`, SKEW_MS[n] ?? 0);
    machine.slowMs = LATENCY_MS;
    this.#hosts[n] = await hostOn(machine, {
      open: (_world, base) =>
        openKernelWorld({ ...base, app, adapters: this.#outside.adapters(machine), recheckEvery: 0 }),
    });
  }

  #happens(event: FleetEvent): void {
    if (event.kind === 'ask') this.#asks(event);
    else if (event.kind === 'read') void this.#reads(event);
    else if (event.kind === 'jump') this.#place.clock.jumpWall(event.ms);
    else if (event.at !== SURVIVOR) this.#troubles(event, (this.#hosts[event.at] as HostOnMachine).machine);
  }

  #troubles(event: Trouble, machine: Machine): void {
    if (event.kind === 'begin') {
      if (machine.isDead) void this.#begin(event.at);
    } else if (event.kind === 'die') {
      machine.isDead = true;
      machine.goOn();
    } else if (event.kind === 'stand still') machine.standStill(event.ms);
    else if (event.kind === 'lose a write') machine.losesNext = event.ms;
    else {
      if (event.kind === 'fail') machine.failing = event.how;
      else machine.slowMs = 150;
      void this.#after(event.ms).then(() => {
        machine.slowMs = LATENCY_MS;
        machine.failing = undefined;
      });
    }
  }

  #asks({ at, world, start: plan, ms }: Extract<FleetEvent, { kind: 'ask' }>): void {
    const id = `r${this.#requests.length}`;
    const request: Asked = { id, world, start: plan, acknowledged: false };
    this.#requests.push(request);
    const input: Call = { tag: id, world, ms };
    void this.#repeats(request, at, [add(1), note(id), start(plan, input as unknown as Value)]);
  }

  /** A client asks one machine after the other, until one acknowledges its request. */
  async #repeats(request: Asked, at: number, steps: readonly Step[]): Promise<void> {
    const { id, world } = request;
    for (let n = at; !request.acknowledged; n = (n + 1) % MACHINES) {
      const { host, machine } = this.#hosts[n] as HostOnMachine;
      const answer = host
        .use(world, (open) => ask(open, 'a', steps, { id }))
        .then(
          () => true,
          () => false,
        );
      const isAnswered = await Promise.race([answer, this.#after(PATIENCE).then(() => false)]);
      if (isAnswered) this.#acknowledges(request, machine);
      else await this.#after(SECOND);
    }
  }

  #acknowledges(request: Asked, { name }: Machine): void {
    const { world } = request;
    request.acknowledged = true;
    this.#counts.set(world, (this.#counts.get(world) ?? 0) + 1);
    if (this.#owners.has(world) && this.#owners.get(world) !== name) this.#takeOvers++;
    this.#owners.set(world, name);
  }

  /** What was acknowledged before a read began is in what it reads. */
  async #reads({ at, world }: Extract<FleetEvent, { kind: 'read' }>): Promise<void> {
    const { host, machine } = this.#hosts[at] as HostOnMachine;
    const known = this.#counts.get(world) ?? 0;
    const read = await host.use(world, (open) => numberOf(open, 'a')).catch(() => undefined);
    if (read !== undefined && read < known)
      this.#broken.push(`${machine.name} reads ${read} in ${world}, where ${known} requests were acknowledged before`);
  }

  async #judge(): Promise<void> {
    for (const { id, world, acknowledged } of this.#requests)
      if (!acknowledged) this.#broken.push(`${id} of ${world} is not acknowledged`);
    for (const world of new Set(this.#requests.map((request) => request.world))) await this.#judgeWorld(world);
  }

  async #judgeWorld(world: string): Promise<void> {
    await this.#judgeJournal(world);
    const { host } = this.#hosts[SURVIVOR] as HostOnMachine;
    const words = await this.#soon(host.use(world, (open) => seen(open, 'a')));
    if (words === undefined) return void this.#broken.push(`${world} does not open`);
    for (const request of this.#requests.filter((one) => one.world === world)) this.#judgeRequest(request, words);
  }

  /** What is true of a journal before anybody asks its world again. */
  async #judgeJournal(world: string): Promise<void> {
    const frames = await framesOf(this.#place.store(world).inner);
    const ended = new Set(
      frames.flat().flatMap((one) => (one.kind === 'receipt' || one.kind === 'settled' ? [one.effect] : [])),
    );
    for (const record of frames.flat()) {
      if (record.kind === 'effect' && !ended.has(record.effect))
        this.#broken.push(`an effect of ${world} does not end while nobody asks: ${JSON.stringify(record.params)}`);
      if ('quarantined' in record) this.#broken.push(`${world} has put an input aside`);
    }
  }

  #judgeRequest({ id, world, start: plan }: Asked, words: readonly string[]): void {
    const [times, ends] = [words.filter((word) => word === id), words.filter((word) => word.startsWith(`${id}=`))];
    if (times.length !== 1) this.#broken.push(`${id} is ${times.length} times in ${world}`);
    if (ends.length !== 1) return void this.#broken.push(`the effect of ${id} has ended ${ends.length} times`);
    const [end] = ends;
    const executed = this.#outside.timesOf(id);
    if (plan !== 'again' && executed > 1) this.#broken.push(`the effect of ${id} was executed ${executed} times`);
    if (plan !== 'once' && end !== `${id}="ok"`) this.#broken.push(`the effect of ${id} ends as ${end}`);
    if (end === `${id}="ok"` && executed === 0) this.#broken.push(`the effect of ${id} is ok and was not executed`);
  }

  /** What comes within a lease or two; undefined when nothing does. */
  async #soon<T>(promise: Promise<T>): Promise<T | undefined> {
    const box: { value?: T } = {};
    void promise.then(
      (value) => {
        box.value = value;
      },
      () => undefined,
    );
    await this.#place.clock.advance(3 * TTL);
    return box.value;
  }

  #after(ms: number): Promise<void> {
    return this.#place.clock.sleep(ms, new AbortController().signal);
  }
}
