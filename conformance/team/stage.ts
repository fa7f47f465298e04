/**
 * Projects, their jobs and their pool in the hands of a test, without an engine: the reducers are those of an app, and the
 * sessions and plans around them are stand-ins that a schedule plays. A delivery that is rejected changes nothing.
 */
import { actorOf, Ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { ReducerContext, ReducerDefinition } from '@reprise/kernel/define';
import { jobReducer } from '@reprise/org';
import { queue } from '@reprise/org/contracts';
import { PROJECT, type ProjectState, projectReducer } from '@reprise/specialists';
import { type StagedSender, stagedSender } from '../staged-sender.js';
import { valueAs } from '../staged-values.js';
import { copy, Guarded, SortedMap } from '../tree/stage.js';

/** An event on its way. */
export interface StagedEvent {
  readonly name: string;
  readonly value: unknown;
}

/** Who sends the requests of a stage. */
const OPERATOR = actorOf('operator');

type Sender = readonly (string | number)[] | null;

interface Passed {
  readonly to: readonly string[];
  readonly event: StagedEvent;
  readonly sender: Sender;
  readonly reply?: { readonly reply: true | 'refusal'; readonly tag: string };
}

/** A plan that has not ended. */
export interface StagedPlan {
  readonly cell: readonly string[];
  readonly ordinal: number;
  readonly name: string;
  readonly input: unknown;
}

/** What a delivery to a cell came to. */
export interface Delivered extends Passed {
  readonly rejected: string | undefined;
  readonly facts: readonly StagedEvent[];
  readonly sent: readonly Passed[];
}

/** A cell of one of the reducers. */
export interface StagedCell {
  readonly address: readonly [string, string];
  state: unknown;
  readonly tables: Map<string, SortedMap>;
  readonly timers: Map<string, number>;
}

/** A session: the inputs that wait, and the run that is under way. */
export class StagedSession {
  readonly waiting: { readonly command_id: string; readonly priority: number }[] = [];
  run: { readonly command_id: string; readonly number: number } | null = null;
  runs = 0;
  waits = false;

  constructor(
    readonly key: string,
    /** The cell that hears of its runs. */
    readonly owner: readonly string[],
  ) {}
}

/** Any content. */
export const TEXT = Ref.fromHex('ab'.repeat(32));

const SESSION = 'aos.agent/SessionReducer@1';
/** The events that a stand-in for a session takes. */
const INPUT = z.object({ command_id: z.string(), priority: z.number() });
const SESSION_EVENTS = {
  'aos.agent/AgentAdopted@1': z.object({ input: z.exactOptional(INPUT) }),
  'aos.agent/UserInput@1': INPUT,
  'aos.agent/HostCommand@1': z.object({ command: z.object({ type: z.string() }) }),
};
const TALLY = { steps: 1, tokens_in: 10, tokens_out: 5, micro_money: 0 };

class Rejected extends Error {}

const REDUCERS = new Map<string, ReducerDefinition>(
  [projectReducer, jobReducer, queue].map((one) => [one.name, one as unknown as ReducerDefinition]),
);

/** The cells, and what stands around them. */
export class Stage {
  now = 1_000_000;
  readonly cells = new Map<string, StagedCell>();
  readonly sessions = new Map<string, StagedSession>();
  readonly plans: StagedPlan[] = [];
  #ordinals = 0;
  readonly #line: Passed[] = [];

  constructor(
    private readonly onDelivered: (delivered: Delivered) => void,
    private readonly reducers: ReadonlyMap<string, ReducerDefinition> = REDUCERS,
  ) {}

  cell(reducer: string, key: string): StagedCell | undefined {
    return this.cells.get(`${reducer} ${key}`);
  }

  /** The state of a project. */
  project(key: string): ProjectState | undefined {
    return this.cell(PROJECT, key)?.state as ProjectState | undefined;
  }

  table(reducer: string, key: string, name: string): SortedMap {
    return this.cell(reducer, key)?.tables.get(name) ?? new SortedMap();
  }

  /** Delivers an event, and all that follows from it. @returns why it was rejected */
  send(to: readonly string[], event: StagedEvent, sender: Sender = null): string | undefined {
    this.#line.push({ to, event, sender });
    let first: { readonly rejected: string | undefined } | undefined;
    for (let count = 0; this.#line.length > 0; count++) {
      if (count > 50_000) throw new Error('a cascade without end');
      const rejected = this.#deliver(this.#line.shift() as Passed);
      first ??= { rejected };
    }
    return first?.rejected;
  }

  /** A plan raises an event. */
  raise({ cell, ordinal }: StagedPlan, name: string, value: object): void {
    this.send(cell, { name, value }, [...cell, ordinal]);
  }

  /** A plan is over. */
  drop(plan: StagedPlan): void {
    const at = this.plans.indexOf(plan);
    if (at >= 0) this.plans.splice(at, 1);
  }

  /** A session's model calls a tool of its owner. */
  call(session: StagedSession, call_id: string, name: string, args: object): void {
    const value = { session: session.key, call_id, step_epoch: 0, name, args };
    this.send(session.owner, { name: 'aos.agent/OwnerCall@1', value }, [SESSION, session.key]);
  }

  /** A session ends its run, and begins the next. */
  endRun(session: StagedSession, stop: object): void {
    const { run } = session;
    if (run === null) return;
    session.run = null;
    session.waits = false;
    const output_ref = 'kind' in stop && stop.kind === 'Completed' ? TEXT : null;
    const news = { kind: 'settled', stop, output_ref, value_ref: null, tally: TALLY, more: session.waiting.length > 0 };
    const events = [this.#notice(session, run.number, news), ...this.#begin(session)];
    for (const event of events) this.#line.push(event);
    const next = this.#line.shift();
    if (next !== undefined) this.send(next.to, next.event, next.sender);
  }

  /** A session waits for a person, or goes on. */
  wait(session: StagedSession, waits: boolean): void {
    if (session.run === null || session.waits === waits) return;
    session.waits = waits;
    const news = waits ? { kind: 'waiting', for: 'human' } : { kind: 'running' };
    const { to, event, sender } = this.#notice(session, session.run.number, news);
    this.send(to, event, sender);
  }

  /** Lets time pass, and fires the timers that are due. */
  later(ms: number): void {
    this.now += ms;
    for (;;) {
      const due = [...this.cells.values()]
        .flatMap((cell) => [...cell.timers].map(([name, at]) => ({ cell, name, at })))
        .filter(({ at }) => at <= this.now)
        .sort((a, b) => a.at - b.at)[0];
      if (due === undefined) return;
      due.cell.timers.delete(due.name);
      this.send(due.cell.address, { name: 'sys/TimerFired@1', value: { name: due.name, due: due.at } });
    }
  }

  #notice(session: StagedSession, run: number, news: object): Passed {
    const event = { name: 'aos.agent/ChildNotice@1', value: { session: session.key, run, news } };
    return { to: session.owner, event, sender: [SESSION, session.key] };
  }

  #begin(session: StagedSession): Passed[] {
    if (session.run !== null) return [];
    session.waiting.sort((a, b) => b.priority - a.priority);
    const next = session.waiting.shift();
    if (next === undefined) return [];
    session.run = { command_id: next.command_id, number: session.runs++ };
    return [this.#notice(session, session.run.number, { kind: 'running' })];
  }

  #deliver(passed: Passed): string | undefined {
    const reducer = this.reducers.get(passed.to[0] ?? '');
    if (reducer === undefined) {
      if (passed.to[0] === SESSION) this.#toSession(passed);
      return undefined;
    }
    const [name = '', key = ''] = passed.to;
    const at = `${name} ${key}`;
    const known = this.cells.get(at);
    const cell: StagedCell = known ?? {
      ...{ address: [name, key], state: undefined },
      ...{ tables: new Map(), timers: new Map() },
    };
    const delivered = this.#reduce(reducer, cell, passed);
    if (delivered.rejected === undefined) this.cells.set(at, cell);
    this.onDelivered(delivered);
    // An answer follows what its cell has sent.
    this.#line.push(...delivered.sent);
    this.#answer(passed, delivered.rejected);
    return delivered.rejected;
  }

  #answer({ reply, sender, to }: Passed, rejected: string | undefined): void {
    if (reply === undefined || sender === null || (rejected === undefined && reply.reply !== true)) return;
    const { tag } = reply;
    const value = rejected === undefined ? { tag, outcome: 'accepted' } : { tag, outcome: 'rejected', code: rejected };
    this.#line.push({ to: sender.map(String), event: { name: 'sys/Reply@1', value }, sender: [...to] });
  }

  #toSession(passed: Passed): void {
    const { to, event, sender } = passed;
    const key = to[1] ?? '';
    const session = this.sessions.get(key) ?? new StagedSession(key, (sender ?? []).map(String));
    this.sessions.set(key, session);
    const adopted = valueAs(event, [SESSION_EVENTS, 'aos.agent/AgentAdopted@1']);
    const input = adopted?.input ?? valueAs(event, [SESSION_EVENTS, 'aos.agent/UserInput@1']);
    const command = valueAs(event, [SESSION_EVENTS, 'aos.agent/HostCommand@1']);
    if (input !== undefined) {
      session.waiting.push({ command_id: input.command_id, priority: input.priority });
      this.#line.push(...this.#begin(session));
    } else if (event.name === 'aos.agent/Cancel@1' || command?.command.type === 'Cancel') {
      session.waiting.length = 0;
      if (session.waits) this.#cancelled(session);
    }
    this.#answer(passed, undefined);
  }

  #cancelled(session: StagedSession): void {
    const { run } = session;
    if (run === null) return;
    session.run = null;
    session.waits = false;
    const news = {
      kind: 'settled',
      stop: { kind: 'Cancelled' },
      output_ref: null,
      value_ref: null,
      tally: TALLY,
      more: false,
    };
    this.#line.push(this.#notice(session, run.number, news));
  }

  #reduce(reducer: ReducerDefinition, cell: StagedCell, { to, event, sender, ...rest }: Passed): Delivered {
    const sent: Passed[] = [];
    const facts: StagedEvent[] = [];
    const undo: (() => void)[] = [];
    const after: (() => void)[] = [];
    const draft = cell.state === undefined ? reducer.init(cell.address[1], event) : copy(cell.state);
    let rejected: string | undefined;
    try {
      const { address, state } = cell;
      const row = (table: string, key: string) => cell.tables.get(table)?.get(key);
      const from = stagedSender({ reducer, event, address, sender, state, row });
      if (from === undefined) throw new Rejected('not_yours');
      const context = this.#context(cell, from, { sent, facts, undo, after });
      reducer.reduce(draft, { name: event.name, value: copy(event.value), row: from.row }, context);
      cell.state = draft;
      for (const act of after) act();
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      for (const act of undo.reverse()) act();
      sent.length = 0;
      facts.length = 0;
      rejected = error.message;
    }
    return { to, event, sender, ...rest, rejected, facts, sent };
  }

  #context(
    cell: StagedCell,
    { sender, caller, plan, rowKey }: StagedSender,
    { sent, facts, undo, after }: Record<'undo' | 'after', (() => void)[]> & { sent: Passed[]; facts: StagedEvent[] },
  ): ReducerContext {
    const { address } = cell;
    const context = {
      ...{ now: this.now, address, parent: null, sender, caller, plan, rowKey, adapter: null },
      actor: sender === null ? OPERATOR : null,
      emit: ({ plan, input }: { readonly plan: { readonly name: string }; readonly input: unknown }) => {
        const ordinal = this.#ordinals++;
        const staged = { cell: address, ordinal, name: plan.name, input: copy(input) };
        after.push(() => void this.plans.push(staged));
        return ordinal;
      },
      send: (to: readonly string[], event: StagedEvent, options?: { reply: true | 'refusal'; tag: string }) =>
        void sent.push({
          to,
          event: copy(event) as StagedEvent,
          sender: address,
          ...(options === undefined ? {} : { reply: options }),
        }),
      takes: () => true,
      forget: () => undefined, // no cell of the stage fails or ends while it is asked
      record: (name: string, value: unknown) => void facts.push({ name, value: copy(value) }),
      timer: (name: string, at: number) => void after.push(() => cell.timers.set(name, at)),
      clearTimer: (name: string) => void after.push(() => cell.timers.delete(name)),
      cancel: (ordinal: number) =>
        void after.push(() => {
          const plan = this.plans.find((one) => one.ordinal === ordinal);
          if (plan !== undefined) this.drop(plan);
        }),
      table: (name: string) => {
        const table = cell.tables.get(name) ?? new SortedMap();
        cell.tables.set(name, table);
        return new Guarded(table, undo);
      },
      reject: (code: string) => {
        throw new Rejected(code);
      },
      hash: (value: unknown) => JSON.stringify(value) ?? '',
      id: (label: string) => `${label}${this.#ordinals++}`,
      random: () => 0.5,
      command: () => undefined,
    };
    return context as unknown as ReducerContext;
  }
}
