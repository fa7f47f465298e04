/**
 * One cell in the hands of a test, without an engine: its state and tables are maps, its plans a list, and the sessions that
 * it makes are stand-ins that a schedule plays. A delivery that throws changes nothing. Thousands of trees a second.
 */
import { ownerAnswer, ownerParked } from '@reprise/agent/contracts';
import { type Actor, actorOf, type Ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { ReducerContext, ReducerDefinition } from '@reprise/kernel/define';
import type { TreeState } from '@reprise/tree';
import { type StagedSender, stagedSender } from '../staged-sender.js';
import { valueAs } from '../staged-values.js';

/** An event on its way. */
export interface StagedEvent {
  readonly name: string;
  readonly value: unknown;
}

/** A plan that has not raised its event. */
export interface StagedPlan {
  readonly ordinal: number;
  readonly name: string;
  readonly input: unknown;
}

/** What a delivery to the tree came to. */
export interface Delivered {
  readonly event: StagedEvent;
  readonly sender: readonly (string | number)[] | null;
  /** Who sent it from outside; null for what comes from inside. */
  readonly actor: Actor | null;
  /** The code of a rejection. */
  readonly rejected: string | undefined;
  /** The answers that it gave to calls of sessions. */
  readonly answers: readonly StagedEvent[];
  readonly facts: readonly StagedEvent[];
}

/** A run of a stand-in. */
export interface StagedRun {
  readonly number: number;
  /** Open calls: whether they wait for a party. */
  readonly calls: Map<string, 'open' | 'parked'>;
  cancelling: boolean;
}

/** A session as a tree sees it: runs, calls, and the end that follows a cancel. */
export class StagedSession {
  run: StagedRun | null = null;
  runs = 0;
  paused = false;
  /** Whether it has said that it waits. */
  waits = false;
  readonly steers: StagedEvent[] = [];

  constructor(readonly key: string) {}
}

/** The events that a stand-in for a session takes. */
const SESSION = {
  'aos.agent/AgentAdopted@1': z.object({ input: z.exactOptional(z.unknown()) }),
  'aos.agent/OwnerAnswer@1': ownerAnswer,
  'aos.agent/OwnerParked@1': ownerParked,
  'aos.agent/HostCommand@1': z.object({ command: z.object({ type: z.string() }) }),
};

type Launch = { readonly n: number; readonly launch: number };

class Rejected extends Error {}

/** Who sends from outside when nobody is named. */
const OPERATOR = actorOf('operator');

/** The cell, and what stands around it. */
export class Stage {
  now = 1_000_000;
  readonly tables = new Map<string, SortedMap>();
  readonly timers = new Map<string, number>();
  readonly plans = new Map<number, StagedPlan>();
  readonly sessions = new Map<string, StagedSession>();
  /** What the cell said to others: reminders for those that started it. */
  readonly told: StagedEvent[] = [];
  /** The launches, in their order. */
  readonly launched: string[] = [];
  /** The greatest number of deliveries to itself behind one event. */
  own = 0;
  #state: unknown;
  #first: Delivered | undefined;
  #ordinals = 0;
  #line: {
    readonly event: StagedEvent;
    readonly sender: readonly (string | number)[] | null;
    readonly actor?: Actor;
  }[] = [];

  constructor(
    private readonly reducer: ReducerDefinition,
    private readonly address: readonly [string, string],
    private readonly onDelivered: (delivered: Delivered) => void,
  ) {}

  /** The state of the tree, once it was started. */
  get state(): TreeState {
    return this.#state as TreeState;
  }

  table(name: string): SortedMap {
    const known = this.tables.get(name) ?? new SortedMap();
    this.tables.set(name, known);
    return known;
  }

  /** Delivers an event, and all that follows from it. @returns what the delivery of the event itself came to */
  send(
    event: StagedEvent,
    sender: readonly (string | number)[] | null = null,
    actor: Actor = OPERATOR,
  ): Delivered | undefined {
    this.#first = undefined;
    this.#line.push(sender === null ? { event, sender, actor } : { event, sender });
    let own = 0;
    for (let next = this.#line.shift(); next !== undefined; next = this.#line.shift()) {
      if (next.sender?.[0] === this.address[0] && next.sender.length === 2 && ++own > 20_000)
        throw new Error('a cascade without end');
      this.#deliver(next.event, next.sender, next.actor);
    }
    this.own = Math.max(this.own, own);
    return this.#first;
  }

  /** A plan raises its event, and is over. */
  raise(plan: StagedPlan, event: StagedEvent): void {
    this.plans.delete(plan.ordinal);
    this.send(event, [...this.address, plan.ordinal]);
  }

  /** A session ends its run. */
  endRun(session: StagedSession, news: object): void {
    const { run } = session;
    if (run === null) return;
    session.run = null;
    session.waits = false;
    this.#notice(session, run.number, { kind: 'settled', ...news });
    while (this.#line.length > 0) this.#pump();
  }

  /** A session's model calls its owner: once, or several times together. */
  call(session: StagedSession, call_ids: readonly string[], name: string, args: object): void {
    for (const call_id of call_ids) session.run?.calls.set(call_id, 'open');
    const [first, ...more] = call_ids.map((call_id) => ({ call_id, name, args }));
    const place = { session: session.key, step_epoch: 0 };
    const event =
      more.length > 0
        ? { name: 'aos.agent/OwnerCalls@1', value: { ...place, calls: [first, ...more] } }
        : { name: 'aos.agent/OwnerCall@1', value: { ...place, ...first } };
    this.send(event, ['aos.agent/SessionReducer@1', session.key]);
  }

  /** Fires the timers that are due. */
  later(ms: number): void {
    this.now += ms;
    for (;;) {
      const due = [...this.timers].filter(([, at]) => at <= this.now).sort(([, a], [, b]) => a - b)[0];
      if (due === undefined) return;
      this.timers.delete(due[0]);
      this.send({ name: 'sys/TimerFired@1', value: { name: due[0], due: due[1] } });
    }
  }

  #pump(): void {
    const next = this.#line.shift();
    if (next !== undefined) this.#deliver(next.event, next.sender);
  }

  #notice(session: StagedSession, run: number, news: object): void {
    const event = { name: 'aos.agent/ChildNotice@1', value: { session: session.key, run, news } };
    this.#line.push({ event, sender: ['aos.agent/SessionReducer@1', session.key] });
  }

  #deliver(event: StagedEvent, sender: readonly (string | number)[] | null, actor: Actor | null = null): void {
    const sent: { readonly to: readonly string[]; readonly event: StagedEvent }[] = [];
    const facts: StagedEvent[] = [];
    const undo: (() => void)[] = [];
    const after: (() => void)[] = [];
    const isNew = this.#state === undefined;
    const draft = isNew ? this.reducer.init(this.address[1], event) : copy(this.#state);
    let rejected: string | undefined;
    try {
      const from = this.#senderOf(event, sender);
      this.reducer.reduce(
        draft,
        { name: event.name, value: copy(event.value), row: from.row },
        this.#context({ ...from, actor }, { sent, facts, undo, after }),
      );
      this.#state = draft;
      for (const act of after) act();
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      for (const act of undo.reverse()) act();
      rejected = error.message;
    }
    const answers = rejected === undefined ? sent.flatMap((one) => oneByOne(one.event, 'aos.agent/OwnerAnswer')) : [];
    const delivered: Delivered = { event, sender, actor, rejected, answers, facts };
    this.#first ??= delivered;
    this.onDelivered(delivered);
    if (rejected !== undefined) return;
    for (const { to, event: given } of sent) this.#pass(to, given);
  }

  #pass(to: readonly string[], event: StagedEvent): void {
    if (to[0] === this.address[0]) this.#line.push({ event, sender: this.address });
    else if (to[0] === 'aos.agent/SessionReducer@1') {
      const answers = oneByOne(event, 'aos.agent/OwnerAnswer');
      for (const one of answers.length > 0 ? answers : [event]) this.#toSession(to[1] ?? '', one);
    } else this.told.push(event);
  }

  #toSession(key: string, event: StagedEvent): void {
    const session = this.sessions.get(key) ?? new StagedSession(key);
    this.sessions.set(key, session);
    const { run } = session;
    const isInput = valueAs(event, [SESSION, 'aos.agent/AgentAdopted@1'])?.input !== undefined;
    const answered = valueAs(event, [SESSION, 'aos.agent/OwnerAnswer@1']);
    const parked = valueAs(event, [SESSION, 'aos.agent/OwnerParked@1']);
    const command = valueAs(event, [SESSION, 'aos.agent/HostCommand@1']);
    if (event.name === 'aos.agent/UserInput@1' || isInput) {
      if (run !== null) throw new Error(`${key} is given an input while a run is under way`);
      session.run = { number: session.runs++, calls: new Map(), cancelling: false };
    } else if (answered !== undefined) {
      if (run === null || !run.calls.delete(answered.call_id)) return;
      this.#followCalls(session, run);
    } else if (parked !== undefined) {
      if (run === null) return;
      if (parked.call_id.startsWith('x.')) return; // its program waits
      run.calls.set(parked.call_id, 'parked');
      this.#followCalls(session, run);
    } else if (command !== undefined) this.#command(session, command.command);
  }

  /** A run waits while all its open calls are parked. */
  #followCalls(session: StagedSession, run: StagedRun): void {
    const calls = [...run.calls].filter(([id]) => !id.startsWith('x.'));
    const waits = calls.length > 0 && calls.every(([, how]) => how === 'parked');
    if (waits === session.waits) return;
    session.waits = waits;
    this.#notice(session, run.number, waits ? { kind: 'waiting', for: 'owner' } : { kind: 'running' });
  }

  #command(session: StagedSession, command: { readonly type: string }): void {
    const { run } = session;
    if (command.type === 'Pause' || command.type === 'Resume') session.paused = command.type === 'Pause';
    else if (command.type === 'Steer') session.steers.push({ name: 'Steer', value: command });
    else if (command.type === 'Cancel' && run !== null) {
      run.cancelling = true;
      if (!session.waits) return;
      // Nothing runs for it: it ends at once.
      session.run = null;
      session.waits = false;
      this.#notice(session, run.number, { kind: 'settled', ...CANCELLED });
    }
  }

  #senderOf(event: StagedEvent, sender: readonly (string | number)[] | null): StagedSender {
    const { reducer, address } = this;
    const row = (table: string, key: string) => this.table(table).get(key);
    const from = stagedSender({ reducer, event, address, sender, state: this.#state, row });
    if (from === undefined) throw new Rejected('not_yours');
    return from;
  }

  #context(
    { sender, caller, plan, rowKey, actor }: StagedSender & Pick<Delivered, 'actor'>,
    {
      sent,
      facts,
      undo,
      after,
    }: {
      readonly sent: { readonly to: readonly string[]; readonly event: StagedEvent }[];
      readonly facts: StagedEvent[];
      readonly undo: (() => void)[];
      readonly after: (() => void)[];
    },
  ): ReducerContext {
    const refuse = (what: string) => () => {
      throw new Error(`the stage has no ${what}`);
    };
    const context = {
      now: this.now,
      address: this.address,
      parent: null,
      ...{ sender, caller, plan, rowKey, actor },
      adapter: null,
      emit: ({ plan, input }: { readonly plan: { readonly name: string }; readonly input: unknown }) => {
        const ordinal = this.#ordinals++;
        const given = copy(input);
        after.push(() => {
          this.plans.set(ordinal, { ordinal, name: plan.name, input: given });
          if (plan.name === 'tree/launch_plan@1')
            this.launched.push(`${(given as Launch).n}.${(given as Launch).launch}`);
        });
        return ordinal;
      },
      send: (to: readonly string[], event: StagedEvent) => {
        sent.push({ to, event: copy(event) as StagedEvent });
      },
      takes: () => true,
      record: (name: string, value: unknown) => {
        facts.push({ name, value: copy(value) });
      },
      timer: (name: string, at: number) => {
        after.push(() => this.timers.set(name, at));
      },
      clearTimer: (name: string) => {
        after.push(() => this.timers.delete(name));
      },
      cancel: (plan: number) => {
        after.push(() => this.plans.delete(plan));
      },
      stop: refuse('stop'),
      command: () => undefined,
      append: refuse('logs'),
      logHead: refuse('logs'),
      end: refuse('end'),
      table: (name: string) => new Guarded(this.table(name), undo),
      reject: (code: string) => {
        throw new Rejected(code);
      },
      hash: (value: unknown) => JSON.stringify(value).slice(0, 60),
      id: (label: string) => label,
      random: () => 0.5,
    };
    // The parts that differ in type are those that the schedule plays.
    return context as unknown as ReducerContext;
  }
}

const TALLY = { steps: 1, tokens_in: 10, tokens_out: 5, micro_money: 0 };

/** The end of a run that was cancelled. */
export const CANCELLED = { stop: { kind: 'Cancelled' }, output_ref: null, value_ref: null, tally: TALLY, more: false };

/** The end of a run. */
export function ended(how: string, output: Ref | null, tokens = 15): object {
  const tally = { ...TALLY, tokens_in: tokens, tokens_out: 0 };
  const rest = { output_ref: output, value_ref: null, tally, more: false };
  if (how === 'completed') return { stop: { kind: 'Completed' }, ...rest };
  if (how === 'cancelled') return CANCELLED;
  if (how === 'failed') return { stop: { kind: 'Failed', code: 'boom', retryable: false, stage: 'llm_step' }, ...rest };
  const limit = { max_cost: 'max_tokens', timeout: 'max_wall_ms', limit: 'max_steps' }[how];
  return { stop: { kind: 'LimitsExceeded', limit }, ...rest };
}

/** Several calls of one step, or the answers to them. */
interface Together {
  readonly calls?: readonly object[];
  readonly answers?: readonly object[];
}

/** The calls or answers in an event, each as an event of its own; none when it is another event. */
export function oneByOne(
  { name, value }: StagedEvent,
  what: 'aos.agent/OwnerCall' | 'aos.agent/OwnerAnswer',
): readonly StagedEvent[] {
  if (name === `${what}@1`) return [{ name, value }];
  if (name !== `${what}s@1`) return [];
  const { calls, answers = calls, ...place } = value as Together;
  return (answers ?? []).map((one) => ({ name: `${what}@1`, value: { ...place, ...one } }));
}

/** A copy, links apart. */
export function copy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy) as T;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const made: Record<string, unknown> = {};
  for (const key in value) made[key] = copy(value[key]);
  return made as T;
}

/** Entries in the order of their keys. */
export class SortedMap {
  readonly #values = new Map<string, unknown>();
  #keys: string[] | null = null;

  get size(): number {
    return this.#values.size;
  }

  get(key: string): unknown {
    return this.#values.get(key);
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  set(key: string, value: unknown): void {
    if (!this.#values.has(key)) this.#keys = null;
    this.#values.set(key, value);
  }

  delete(key: string): boolean {
    if (!this.#values.delete(key)) return false;
    this.#keys = null;
    return true;
  }

  get keys(): readonly string[] {
    this.#keys ??= [...this.#values.keys()].sort();
    return this.#keys;
  }
}

/** A table during one delivery: what it changes can be undone. */
export class Guarded {
  constructor(
    private readonly table: SortedMap,
    private readonly undo: (() => void)[],
  ) {}

  get size(): number {
    return this.table.size;
  }

  get(key: string): unknown {
    return copy(this.table.get(key));
  }

  set(key: string, value: unknown): void {
    this.#remember(key);
    this.table.set(key, copy(value));
  }

  delete(key: string): boolean {
    this.#remember(key);
    return this.table.delete(key);
  }

  range({ from, after, before, limit = 256 }: { from?: string; after?: string; before?: string; limit?: number } = {}) {
    const found: [string, unknown][] = [];
    for (const key of this.table.keys) {
      if ((from !== undefined && key < from) || (after !== undefined && key <= after)) continue;
      if ((before !== undefined && key >= before) || found.length >= limit) break;
      found.push([key, copy(this.table.get(key))]);
    }
    return found;
  }

  first(): [string, unknown] | undefined {
    const [key] = this.table.keys;
    return key === undefined ? undefined : [key, this.get(key)];
  }

  #remember(key: string): void {
    const before = this.table.get(key);
    this.undo.push(() => (before === undefined ? this.table.delete(key) : this.table.set(key, before)));
  }
}
