/**
 * Plays random histories through the public API on real stores: a host that sends, steers, cancels and takes handles, a
 * model and tools that answer when they are told to, people, time, and processes that die. At its end the session is
 * closed and nothing is answered any more: then every handle has settled, and nothing that was accepted is open.
 */
import { isRepriseError } from '@reprise/contracts';
import type { Store } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import fc from 'fast-check';
import * as z from 'zod';
import { crashable } from '../../../kernel/test/support/crashable-store.js';
import {
  type AgentEvent,
  type AgentWorld,
  type CommandReceipt,
  defineAgent,
  defineTool,
  openAgentWorld,
  type Run,
  type Session,
} from '../../src/index.js';
import { EndsOracle } from './ends-oracle.js';
import { Handles } from './handles.js';
import { HandLlm, type Saying, UnderWay } from './hands.js';

const GRACE_MS = 500;

/** Something that happens, and what it chooses. */
export type Act = readonly [what: number, which: number];

/** A history, as data. */
export interface HostHistory {
  /** Whether runs stay open for more turns. */
  readonly open: boolean;
  /** Whether each process has it the other way than the one before. */
  readonly changes: boolean;
  readonly acts: readonly Act[];
}

/** Any history. */
export const anyHostHistory: fc.Arbitrary<HostHistory> = fc.record({
  open: fc.boolean(),
  changes: fc.boolean(),
  acts: fc.array(fc.tuple(fc.nat(99), fc.nat(99)), { minLength: 14, maxLength: 26 }),
});

/** What a history came to. */
export interface Hosted {
  readonly counts: ReadonlyMap<string, number>;
  readonly handles: number;
  readonly crashes: number;
}

/**
 * Plays a history on a store.
 *
 * @param handleOf a handle in place of each that is taken
 * @throws Error when a handle does not settle, or something has no end or two
 */
export async function playHost(history: HostHistory, store: Store, handleOf?: (run: Run) => Run): Promise<Hosted> {
  const host = new Host(history, crashable(store), new Handles(handleOf));
  await host.open();
  try {
    for (const act of history.acts) await host.act(act);
    return await host.end();
  } finally {
    await host.leave();
  }
}

class Host {
  readonly #clock = new VirtualClock({ turns: 6 });
  readonly #inputs: string[] = [];
  readonly #ids: string[] = [];
  readonly #accepted = new Set<string>();
  #under = new UnderWay();
  #world: AgentWorld | undefined;
  #crashes = 0;
  #n = 0;

  constructor(
    private readonly history: HostHistory,
    private readonly store: ReturnType<typeof crashable>,
    private readonly handles: Handles,
  ) {}

  async open(): Promise<void> {
    const under = new UnderWay();
    this.#under = under;
    this.#world = await openAgentWorld({
      store: this.store,
      models: { main: {}, other: {} },
      agents: [this.#agent],
      clock: this.#clock,
      llm: (judge) => new HandLlm(judge, under, () => this.#saying()),
      deps: () => ({ under }),
    });
  }

  async act([what, which]: Act): Promise<void> {
    const session = this.#session;
    if (what < 18) await this.#send(which);
    else if (what < 38) this.#under.end(which);
    else if (what < 48) await this.#decides(which);
    else if (what < 53) await this.#clock.advance([1, 400, 3_000][which % 3] ?? 1);
    else if (what < 59) await this.#crash(which % 3 === 0);
    else if (what < 62) await this.#takeAgain(which);
    else if (what === 99) await this.#command((options) => session.close(options));
    else await this.#commands(session, what, which);
    await this.#clock.settle();
  }

  /** Closes the session, lets its grace pass, and looks for what is open. */
  async end(): Promise<Hosted> {
    if (this.#inputs.length === 0) await this.#send(0);
    await this.#takeAll();
    await this.#command((options) => this.#session.close(options));
    await this.#clock.advance(GRACE_MS + 1_000);
    await this.#takeAll();
    await this.#clock.settle();
    await this.#clock.settle();
    this.handles.allSettled();
    this.#sameOutcomes();
    if ((await this.#session.state())?.status !== 'Closed') throw new Error('the session is not closed');
    const oracle = await this.#read();
    return { counts: oracle.counts, handles: this.handles.taken, crashes: this.#crashes };
  }

  async leave(): Promise<void> {
    this.#under.endAll();
    await this.#world?.close();
  }

  get #agent() {
    return this.history.open === (this.history.changes && this.#crashes % 2 === 1) ? closed : opened;
  }

  get #session(): Session {
    if (this.#world === undefined) throw new Error('no world is open');
    return this.#world.session('me', this.#agent);
  }

  async #send(which: number): Promise<void> {
    const again = which % 5 === 4 ? this.#inputs[which % Math.max(1, this.#inputs.length)] : undefined;
    const id = again ?? `i${this.#n++}`;
    if (again === undefined) this.#inputs.push(id);
    this.#ids.push(id);
    const priority = which % 7 === 3 ? 5 : 0;
    await this.#take(id, again === undefined ? priority : undefined);
  }

  /** Sends an input, or the same once more, and watches what it gives. */
  async #take(id: string, priority?: number): Promise<void> {
    try {
      const known = this.#priority.get(id) ?? priority ?? 0;
      this.#priority.set(id, known);
      this.handles.watch(id, await this.#session.send(`say ${id}`, { id, priority: known }));
      this.#accepted.add(id);
    } catch (error) {
      if (!isRepriseError(error, 'request_rejected')) throw error;
    }
  }

  readonly #priority = new Map<string, number>();

  async #commands(session: Session, what: number, which: number): Promise<void> {
    const scope = (['turn', 'run', 'all'] as const)[which % 3] ?? 'run';
    if (what < 68) await this.#command((options) => session.steer('more', options));
    else if (what < 72) await this.#command((options) => session.followUp('then', options));
    else if (what < 78) await this.#command((options) => session.cancel({ ...options, scope }));
    else if (what < 82)
      await this.#command((options) => session.withdraw(this.#ids.at(-1 - (which % 4)) ?? 'nobody', options));
    else if (what < 85) await this.#command((options) => session.pause(options));
    else if (what < 91) await this.#command((options) => session.resume(options));
    else if (what < 93) await this.#command((options) => session.reconfigure({ model: 'other' }, options));
    else if (what < 95) await this.#command((options) => session.compact(options));
    else if (what < 97) await this.#cancelsOne(session, which);
    else if (this.#inputs.length > 0) await this.#spawns(session);
  }

  async #command(give: (options: { id: string }) => Promise<CommandReceipt>): Promise<void> {
    const id = `h${this.#n++}`;
    this.#ids.push(id);
    const { status } = await give({ id });
    if (status === 'accepted') this.#accepted.add(id);
  }

  async #cancelsOne(session: Session, which: number): Promise<void> {
    const run = await session.run(which % 4);
    await run?.cancel();
  }

  async #spawns(session: Session): Promise<void> {
    const id = `s${this.#n++}`;
    try {
      this.handles.watch(id, await session.spawn(helper, 'help', { id }));
    } catch (error) {
      if (!isRepriseError(error, 'request_rejected')) throw error;
    }
  }

  async #decides(which: number): Promise<void> {
    const items = (await this.#world?.pending()) ?? [];
    const item = items[which % Math.max(1, items.length)];
    if (item === undefined) return this.#under.end(which);
    if (item.kind === 'question') await this.#world?.answer(item, 'yes');
    else await this.#world?.decide(item, which % 3 === 0 ? { deny: 'no' } : { approve: true });
  }

  /** The process dies, with something just asked or not, and another one takes over. */
  async #crash(asking: boolean): Promise<void> {
    const id = `i${this.#n}`;
    const asked = asking ? this.#session.send(`say ${id}`, { id }).catch(() => undefined) : undefined;
    await this.store.crash();
    await this.leave();
    await asked;
    await this.#clock.settle();
    this.handles.allSettled();
    this.#crashes++;
    await this.open();
    if (asking) {
      this.#n++;
      this.#inputs.push(id);
      await this.#take(id, 0);
    }
    await this.#takeAll();
  }

  async #takeAgain(which: number): Promise<void> {
    const id = this.#inputs[which % Math.max(1, this.#inputs.length)];
    if (id !== undefined) await this.#take(id);
  }

  /** Takes every handle that there is: of each input, and of each run by its number. */
  async #takeAll(): Promise<void> {
    for (const id of this.#inputs) if (this.#accepted.has(id)) await this.#take(id);
    for await (const run of this.#session.runs()) this.handles.watch(`run ${run.number}`, run);
  }

  /** However and whenever a handle was taken, it tells the same end. */
  #sameOutcomes(): void {
    const known = new Map<string, string>();
    for (const { of, stop } of this.handles.outcomes) {
      if ((known.get(of) ?? stop) !== stop) throw new Error(`${of} ended as ${known.get(of)}, and as ${stop}`);
      known.set(of, stop);
    }
    for (const id of this.#inputs)
      if (this.#accepted.has(id) && !known.has(id)) throw new Error(`no handle of input ${id} told its end`);
  }

  async #read(): Promise<EndsOracle> {
    const oracle = new EndsOracle({ requests: false });
    const acknowledged = new Set<string>();
    const events: AgentEvent[] = [];
    for await (const event of this.#session.events({ follow: false, tree: true })) events.push(event);
    for (const event of events) {
      oracle.read(event);
      if (event.type === 'input.accepted' || event.type === 'command.accepted') acknowledged.add(event.command_id);
    }
    for await (const item of this.#session.transcript()) oracle.said('me', [item]);
    oracle.over();
    for (const id of this.#accepted)
      if (!acknowledged.has(id)) throw new Error(`${id} was acknowledged, and is in no journal`);
    return oracle;
  }

  #saying(): Saying | 'fails' {
    const says = SAYINGS[this.#n++ % SAYINGS.length];
    return says ?? 'fails';
  }
}

const call = (tool: string, args: Record<string, string> = {}) => ({ tool, args });
const SAYINGS: readonly (Saying | 'fails')[] = [
  { text: 'done' },
  { calls: [call('look'), call('pay')] },
  { text: 'well' },
  { calls: [call('sign')] },
  { calls: [call('asks'), call('look')] },
  'fails',
  { text: 'fine' },
  { calls: [call('nothing')] },
];

interface Deps {
  readonly under: UnderWay;
}

const tool = (name: string, more: { guarantee?: 'idempotent'; approval?: 'always' } = {}) =>
  defineTool({
    name,
    description: name,
    args: z.strictObject({}),
    ...more,
    run: async (_args, { deps, signal }: { readonly deps: Deps; readonly signal: AbortSignal }) =>
      (await deps.under.wait(signal)) ? 'done' : 'stopped',
  });

const asks = defineTool({
  name: 'asks',
  description: 'Asks two things at once.',
  args: z.strictObject({}),
  run: async (_args, { ask }) => {
    const said = await Promise.all(['One?', 'Two?'].map((question) => ask({ question, answer: z.string() })));
    return said.map(({ how }) => how).join();
  },
});

const helper = defineAgent({ name: 'helper', model: 'main', instructions: 'Help.' });
const parts = {
  model: 'main',
  instructions: 'Act.',
  tools: [tool('look', { guarantee: 'idempotent' }), tool('pay'), tool('sign', { approval: 'always' }), asks],
  spawns: [helper],
  limits: { steps: 6 },
  cancelGrace: GRACE_MS,
  adopt: 'next_step',
} as const;
const closed = defineAgent({ name: 'actor', ...parts });
const opened = defineAgent({ name: 'actor', ...parts, afterAnswer: 'wait' });
