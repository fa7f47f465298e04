/**
 * Cells with rights, accounts, approvals and people, under the simulator: every frame is read by the auditor of the gate,
 * who knows by plain sets and sums what may be done and what is left.
 */
import { isRepriseError, type JournalRecord, type Principal } from '@reprise/contracts';
import { deferEffect, openKernelWorld, type World } from '@reprise/kernel';
import type {
  Choices,
  SimulationAct,
  SimulationPlay,
  SimulationRun,
  SimulationSubject,
} from '@reprise/testkit/simulator';
import { quickMemory } from '../../../../../conformance/quick-memory.js';
import { Auditor } from '../../../../kernel/test/pure/engine/gate/audit.js';
import {
  ACCOUNTS,
  app,
  CELLS,
  holder,
  JUDGE,
  KINDS,
  POLICY,
  TOOLS,
} from '../../../../kernel/test/pure/engine/gate/gate-world.js';
import {
  add,
  ask,
  cancel,
  end,
  kernel,
  rejectTelling,
  seen,
  send,
  start,
} from '../../../../kernel/test/support/lab.js';

const PEOPLE: readonly Principal[] = ['operator', 'operator', 'human:ann', 'human:bob'];

/** Worlds with a gate. */
export const gateSubject: SimulationSubject = {
  name: 'gate',
  app,
  store: quickMemory,
  sometimes: [
    'an effect was refused by the gate',
    'an effect was ended by a lost right',
    'an answer came late',
    'an approval was decided',
    'an effect was handed on and settled from outside',
    'an effect was settled by a cell',
    'a refusal told what was durable',
    'a snapshot was taken',
    'refused: request_conflict',
  ],
  begin: (run) => new GatePlay(run),
};

class GatePlay implements SimulationPlay {
  readonly acts: readonly SimulationAct[];
  readonly #auditor = new Auditor();
  /** The values that each cell's number has had, as far as they are durable. */
  readonly #numbers = new Map<string, number[]>();
  readonly #sent: { readonly id: string; readonly key: string; readonly by: number }[] = [];
  #n = 0;
  #begun = false;

  constructor(private readonly run: SimulationRun) {
    const act = (name: string, weight: number, execute: SimulationAct['execute']): SimulationAct => ({
      name,
      weight,
      execute,
    });
    this.acts = [
      act('asks for an effect', 8, (world) => this.#emit(world)),
      act('adds', 3, (world) => this.#add(world)),
      act('asks for what is refused', 2, (world) => this.#askRefused(world)),
      act('asks again', 2, (world) => this.#again(world)),
      act('changes rights', 3, (world) => this.#changeRights(world)),
      act('changes a limit', 1, (world) => this.#changeLimit(world)),
      act('decides', 2, (world) => this.#decide(world)),
      act('settles', 2, (world) => this.#settle(world)),
      act('lets the judge settle', 2, (world) => this.#judge(world)),
      act('cancels an effect', 1, (world) => this.#cancel(world)),
      act('stops a cell', 1, (world) => this.#ask(world, this.#cell(), [cancel('all')])),
      act('ends a cell', 1, (world) => this.#ask(world, this.choices.pick([...CELLS, JUDGE]), [end()])),
      act('takes a snapshot', 1, (world) => this.#snapshot(world)),
      act('looks', 2, (world) => this.#look(world)),
    ];
  }

  private get choices(): Choices {
    return this.run.choices;
  }

  async open(...[process, store]: Parameters<SimulationPlay['open']>): Promise<World> {
    const { outside, random } = this.run;
    const adapters = [KINDS.free, KINDS.asked].map((kind) =>
      outside.adapter(process, kind, {
        payload: () => ({ got: 1 }),
        answers: [() => deferEffect({ to: 'human:*' })],
        usage: (_, choices) => (choices.once(3) ? undefined : { tokens_out: choices.below(40) }),
        concurrency: 2,
      }),
    );
    const given = { store, app, clock: process.clock, random, policy: POLICY, adapters };
    const world = await openKernelWorld({ ...given, recheckEvery: 1, snapshotEvery: this.choices.pick([0, 7]) });
    if (!this.#begun) await this.#begin(world);
    return world;
  }

  read(frame: readonly JournalRecord[]): void {
    const [ingress] = frame;
    const before = this.#auditor.findings;
    this.#auditor.read(frame);
    const { refused, revoked, late, judged } = this.#auditor.findings;
    const tell = (what: string, times: number): void => {
      if (times > 0) this.run.sometimes.happened(what, times);
    };
    tell('an effect was refused by the gate', refused - before.refused);
    tell('an effect was ended by a lost right', revoked - before.revoked);
    tell('an answer came late', late - before.late);
    tell('an effect was settled by a cell', judged - before.judged);
    if (ingress?.kind === 'snapshot') tell('a snapshot was taken', 1);
    if (ingress?.kind === 'request') this.#count(ingress);
  }

  /** Every pending item is answered, and effects that are still open then are cancelled. */
  async settle(world: World): Promise<void> {
    for (const { effect } of await world.openEffects()) await this.#kept(world.cancel(effect));
  }

  async check(world: World): Promise<void> {
    await this.#compare(world);
    for (const [name, { reserved }] of this.#auditor.accounts) {
      if (reserved !== 0) throw new Error(`${reserved} are reserved on ${name}, and nothing is open`);
    }
  }

  /** The first process sets the world up; what it did not come to, the next one does. */
  async #begin(world: World): Promise<void> {
    const accounts = Object.entries(ACCOUNTS).map(([account, parent]) => ({
      account,
      parent,
      limits: { tokens: 100 },
    }));
    await Promise.all([
      ask(world, 'r', [send('a', send('c')), send('b')], { id: 'begin r' }),
      ask(world, JUDGE, [], { id: 'begin judge' }),
      ...accounts.map((one) => world.command('sys/SetAccount@1', one, { id: `begin ${one.account}` })),
      world.command('sys/SetRights@1', { holder: holder('r'), account: 'all' }, { id: 'begin rights r' }),
      world.command('sys/SetRights@1', { holder: holder('a'), account: 'left' }, { id: 'begin rights a' }),
    ]);
    this.#begun = true;
  }

  #count({ to: [, key], event: { value } }: Extract<JournalRecord, { kind: 'request' }>): void {
    const { steps } = value as unknown as { steps: readonly (readonly [string, number])[] };
    const history = this.#numbers.get(key) ?? [0];
    for (const [step, by] of steps) {
      if (step === 'add') history.push((history.at(-1) as number) + by);
      if (step === 'end') history.push(0);
    }
    this.#numbers.set(key, history);
  }

  #cell(): string {
    return this.choices.pick(CELLS);
  }

  #id(): string {
    return `q${this.#n++}`;
  }

  #ask(world: World, key: string, steps: Parameters<typeof ask>[2]): Promise<unknown> {
    const id = this.#id();
    return this.run.clients.ask({ id }, () => ask(world, key, steps, { id }));
  }

  #emit(world: World): Promise<unknown> {
    const { choices } = this;
    const emission = {
      n: this.#n,
      kind: choices.pick(['free', 'free', 'asked', 'judged']),
      tool: choices.pick(TOOLS),
      tokens: choices.below(30),
      guarantee: choices.pick(['idempotent', 'at_most_once']),
      timeoutMs: choices.pick([null, 20, 5_000]),
      leave: choices.once(4),
    };
    return this.#ask(world, this.#cell(), [start('use', emission)]);
  }

  #add(world: World): Promise<unknown> {
    const sent = { id: this.#id(), key: this.#cell(), by: 1 + this.choices.below(3) };
    this.#sent.push(sent);
    return this.run.clients.ask({ id: sent.id }, () => ask(world, sent.key, [add(sent.by)], { id: sent.id }));
  }

  /** The refusal says which number the cell had: one that was durable when it was said. */
  async #askRefused(world: World): Promise<void> {
    const [id, key] = [this.#id(), this.#cell()];
    const told = await this.run.clients.ask({ id }, () => ask(world, key, [rejectTelling()], { id }));
    if (!isRepriseError(told) || told.code !== 'request_rejected') return;
    const n = Number(/\bn_(-?\d+)/.exec(told.message)?.[1]);
    const durable = this.#numbers.get(key) ?? [0];
    if (!durable.includes(n)) {
      this.run.broken(`a refusal told of ${n}, and ${key} had ${durable.join(' ')} as far as that was durable`);
    }
    this.run.sometimes.happened('a refusal told what was durable');
  }

  /** The same once more; or another under the same id, which is refused when the first is there. */
  #again(world: World): unknown {
    if (this.#sent.length === 0) return undefined;
    const { id, key, by } = this.choices.pick(this.#sent);
    const altered = this.choices.once(4) ? 10 : 0;
    const again = (): ReturnType<typeof ask> => ask(world, key, [add(by + altered)], { id });
    if (altered === 0) return this.run.clients.ask({ id }, again);
    // When the first never came there, this one takes its id.
    return again().then(
      () => undefined,
      (refused: unknown) => {
        if (!isRepriseError(refused)) throw refused;
        this.run.sometimes.happened(`refused: ${refused.code}`);
      },
    );
  }

  #changeRights(world: World): Promise<unknown> {
    const { choices } = this;
    const id = this.#id();
    const tools = choices.pick([null, [], [TOOLS[0]], [TOOLS[1]], [...TOOLS]]);
    const expires = choices.once(4) ? { expires_at: world.now + choices.pick([10, 100, 5_000]) } : {};
    const side = tools === null ? null : { may: { tool: tools }, ...expires };
    const change = { holder: holder(this.#cell()), [choices.pick(['exercise', 'grant'])]: side };
    const as = choices.pick(PEOPLE);
    return this.run.clients.ask({ id, as }, () => world.command('sys/SetRights@1', change as never, { id, as }));
  }

  #changeLimit(world: World): Promise<unknown> {
    const id = this.#id();
    const account = this.choices.pick(Object.keys(ACCOUNTS) as (keyof typeof ACCOUNTS)[]);
    const change = { account, parent: ACCOUNTS[account], limits: { tokens: this.choices.below(120) } };
    return this.run.clients.ask({ id }, () => world.command('sys/SetAccount@1', change, { id }));
  }

  async #decide(world: World): Promise<void> {
    const items = await world.pending();
    if (items.length === 0) return;
    const [id, item, approve, as] = [
      this.#id(),
      this.choices.pick(items),
      !this.choices.once(3),
      this.choices.pick(PEOPLE),
    ];
    const told = await this.run.clients.ask({ id, as }, () => world.decide(item, { approve }, { id, as }));
    if (!isRepriseError(told)) this.run.sometimes.happened('an approval was decided');
  }

  async #settle(world: World): Promise<void> {
    const effects = [...this.#auditor.effects.keys()];
    if (effects.length === 0) return;
    const [id, effect, as] = [this.#id(), this.choices.pick(effects), this.choices.pick(PEOPLE)];
    const usage = this.choices.once(2) ? {} : { usage: { tokens_out: this.choices.below(40) } };
    const outcome = { status: 'ok', payload: { got: 1 }, ...usage } as const;
    const parked = this.#auditor.effects.get(effect)?.state === 'parked';
    const told = await this.#kept(world.settle(effect, outcome, { id, as }));
    if (parked && told !== undefined) this.run.sometimes.happened('an effect was handed on and settled from outside');
  }

  async #judge(world: World): Promise<void> {
    const open = await world.openEffects();
    if (open.length === 0) return;
    const { effect } = this.choices.pick(open);
    const outcome = { status: 'ok', payload: { got: 1 }, usage: { tokens_out: this.choices.below(40) } } as const;
    await this.#ask(world, JUDGE, [kernel('sys/Settle@1', { effect, outcome })]);
  }

  async #cancel(world: World): Promise<void> {
    const open = await world.openEffects();
    if (open.length === 0) return;
    const [id, { effect }, graceMs] = [this.#id(), this.choices.pick(open), this.choices.pick([0, 30, 5_000])];
    await this.run.clients.ask({ id }, () => world.cancel(effect, { id, graceMs }));
  }

  async #snapshot(world: World): Promise<void> {
    await this.#kept(world.snapshot());
  }

  /** What the kernel says is left, compared with what the auditor knows, when both know of the same frames. */
  async #look(world: World): Promise<void> {
    const { seq } = world.head;
    await this.#compare(world, () => world.head.seq === seq && this.run.journal.seq === seq);
  }

  async #compare(world: World, still: () => boolean = () => true): Promise<void> {
    for (const [name, { spent, reserved }] of this.#auditor.accounts) {
      const known = await world.account(name);
      const [is, holds] = [known?.spent.tokens ?? 0, known?.reserved.tokens ?? 0];
      if (!still()) return;
      if (is !== spent || holds !== reserved) {
        throw new Error(`${name}: ${is} spent and ${holds} reserved, where it should be ${spent} and ${reserved}`);
      }
    }
    const open = [...this.#auditor.effects].filter(([, { state }]) => state !== 'settled').map(([id]) => id);
    const listed = (await world.openEffects()).map(({ effect }) => effect);
    if (!still()) return;
    if (open.sort().join() !== listed.sort().join()) throw new Error('other effects are open than should be');
    for (const key of CELLS) {
      const told = ((await seen(world, key)) ?? []).filter((word) => /^e\d/.test(word));
      const once = new Set(told.map((word) => word.split('=')[0]));
      if (once.size !== told.length) throw new Error(`${key} was told twice: ${told.join(' ')}`);
    }
  }

  /** What it came to; undefined when it was refused. */
  async #kept<T>(asked: Promise<T>): Promise<T | undefined> {
    try {
      return await asked;
    } catch (error) {
      if (!isRepriseError(error) || error.code === 'internal_error') throw error;
      this.run.sometimes.happened(`refused: ${error.code}`);
      return undefined;
    }
  }
}
