/** Runs a random world of cells with rights, accounts, approvals and people, and has its journal audited. */
import { isRepriseError, type JournalRecord, type PolicyRule, type Principal } from '@reprise/contracts';
import fc from 'fast-check';
import * as z from 'zod';
import { deferEffect, defineEffect, openKernelWorld, verifyStore, type World } from '../../../../src/index.js';
import type { ReadableFrame } from '../../../../src/run/world/read/readable-frames.js';
import { type CrashableStore, crashable } from '../../../support/crashable-store.js';
import { framesOf, turn } from '../../../support/judge.js';
import { ask, cancel, cell, end, fail, kernel, lab, seen, send, start, tellCell } from '../../../support/lab.js';
import { type Call, type Outside, outside } from '../../../support/outside.js';
import { TestClock } from '../../../support/test-clock.js';
import { Auditor, type Findings, type Origins } from './audit.js';
import { judgeShown } from './withheld.js';

const params = z.strictObject({
  n: z.int(),
  tool: z.string(),
  tokens: z.int().min(0),
  guarantee: z.enum(['idempotent', 'at_most_once']),
  /** Who settles it, when a cell does. */
  on: z.tuple([z.string(), z.string()]),
});
const of = (kind: string, settledBy?: 'on') =>
  defineEffect({
    kind,
    params,
    receipt: z.strictObject({ got: z.int() }),
    guarantee: { param: 'guarantee' },
    rights: { tool: 'tool' },
    reserves: { tokens: 'tokens' },
    ...(settledBy === undefined ? {} : { settledBy }),
  });
/** The effects: free, asked about, settled by a cell. */
export const KINDS = { free: of('lab.free@1'), asked: of('lab.asking@1'), judged: of('lab.judged@1', 'on') };

/** The app. */
export const { app } = lab(
  {
    *use(input, plan) {
      const { kind, timeoutMs, leave, ...rest } = input as unknown as Emission;
      const asked = { ...rest, on: [...cell(JUDGE)] as [string, string] };
      const emitted = plan.emitEffect(KINDS[kind], asked, timeoutMs === null ? {} : { timeoutMs });
      if (leave) return;
      const { status } = yield* plan.awaitReceipt(emitted);
      tellCell(plan, `e${rest.n}`, status);
    },
  },
  Object.values(KINDS),
);

/** The cell that is kept from her, who reads everything else. */
const KEPT = 'b';
const EVE = 'human:eve';

/** What the gate goes by. */
export const POLICY: readonly PolicyRule[] = [
  { effect: KINDS.asked.name, decision: 'require_approval', to: 'human:ann' },
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
  { read: cell(KEPT).join('/'), who: EVE, decision: 'deny' },
];

/** The cells that have rights. */
export const CELLS = ['r', 'a', 'b', 'c'] as const;

/** Settles what it is told to settle. It is below nobody, and pays for nothing. */
export const JUDGE = 'judge';
/** The accounts, and which is above which. */
export const ACCOUNTS = { all: null, left: 'all', deep: 'left' } as const;
/** What may be used. */
export const TOOLS = ['hammer', 'saw'] as const;
const PEOPLE = ['operator', 'human:ann', 'human:bob', `cell:${cell('a').join('/')}`] as const;

interface Emission extends Omit<z.infer<typeof params>, 'on'> {
  readonly kind: keyof typeof KINDS;
  readonly timeoutMs: number | null;
  readonly leave: boolean;
}

/** One thing that happens. */
export type Happening =
  | ({ readonly step: 'emit'; readonly by: string } & Omit<Emission, 'n'>)
  | {
      readonly step: 'rights';
      readonly by: Principal;
      readonly of: string;
      readonly side: 'exercise' | 'grant';
      readonly tools: readonly string[] | null;
      readonly lastMs: number | null;
    }
  | {
      readonly step: 'hold';
      readonly by: Principal;
      readonly of: string;
      /** Null: the hold is lifted. */
      readonly tools: readonly string[] | null;
      readonly lastMs: number | null;
      /** Whose hold is lifted; null for the principal's own. */
      readonly granter: Principal | null;
    }
  /** A cell is told something by its maker that it fails of; its effects end, and those of its children go on. */
  | { readonly step: 'fail'; readonly by: string; readonly of: string }
  | { readonly step: 'revive'; readonly of: string }
  | { readonly step: 'pays'; readonly of: string; readonly account: keyof typeof ACCOUNTS }
  | { readonly step: 'limit'; readonly account: keyof typeof ACCOUNTS; readonly tokens: number }
  | { readonly step: 'answer'; readonly which: number; readonly how: string; readonly tokens: number | null }
  | { readonly step: 'settle'; readonly which: number; readonly by: Principal; readonly tokens: number | null }
  | { readonly step: 'decide'; readonly which: number; readonly by: Principal; readonly approve: boolean }
  | { readonly step: 'cancel'; readonly which: number; readonly graceMs: number }
  | { readonly step: 'judge'; readonly which: number; readonly tokens: number | null }
  | { readonly step: 'stop' | 'end'; readonly by: string }
  /** It leaves an effect behind that waits for approval, ends, and another is made in its place. */
  | { readonly step: 'anew'; readonly by: string; readonly maker: 'operator' | 'r'; readonly tool: string }
  | {
      readonly step: 'fork';
      /** Before which of the frames, modulo how many there are. */
      readonly where: number;
      readonly mode: 'dry' | 'live';
      /** Of a live fork: what the root may; null for nothing at all. */
      readonly tools: readonly string[] | null;
      /** Of a live fork: the limit of each account; null for no budget. */
      readonly tokens: number | null;
      /** The history goes on in the fork; else the fork is fed what was asked of the original, and left. */
      readonly goOn: boolean;
    }
  | { readonly step: 'advance'; readonly ms: number }
  | { readonly step: 'reopen' | 'crash' | 'snapshot' };

const which = fc.nat(7);
const person = fc.constantFrom(...PEOPLE);
const someCell = fc.constantFrom(...CELLS);
const tokens = fc.option(fc.nat(40), { nil: null });
const account = fc.constantFrom(...(Object.keys(ACCOUNTS) as (keyof typeof ACCOUNTS)[]));
const step = <S extends string>(name: S) => fc.constant(name);

const granter = fc.constantFrom<Principal>('operator', ...CELLS.map((key): Principal => `cell:${cell(key).join('/')}`));

const emission = fc.record({
  step: step('emit'),
  by: someCell,
  kind: fc.constantFrom('free', 'free', 'asked', 'judged'),
  tool: fc.constantFrom(...TOOLS),
  tokens: fc.nat(30),
  guarantee: fc.constantFrom('idempotent', 'at_most_once'),
  timeoutMs: fc.option(fc.constantFrom(20, 200), { nil: null }),
  leave: fc.boolean(),
});

/** A schedule of what happens in a world. */
export const anyHappenings: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: emission },
    {
      weight: 3,
      arbitrary: fc.record({
        step: step('rights'),
        by: fc.constantFrom('operator', 'operator', 'human:ann', `cell:${cell('a').join('/')}`),
        of: someCell,
        side: fc.constantFrom('exercise', 'grant'),
        tools: fc.option(fc.subarray([...TOOLS]), { nil: null }),
        lastMs: fc.option(fc.constantFrom(10, 100), { nil: null, freq: 3 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        step: step('hold'),
        by: granter,
        of: someCell,
        tools: fc.option(fc.subarray([...TOOLS]), { nil: null, freq: 3 }),
        lastMs: fc.option(fc.constantFrom(10, 100), { nil: null, freq: 3 }),
        granter: fc.option(granter, { nil: null, freq: 2 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ step: step('fail'), by: fc.constantFrom('r', 'a'), of: someCell }) },
    { weight: 1, arbitrary: fc.record({ step: step('revive'), of: someCell }) },
    { weight: 1, arbitrary: fc.record({ step: step('pays'), of: someCell, account }) },
    { weight: 1, arbitrary: fc.record({ step: step('limit'), account, tokens: fc.nat(120) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        step: step('answer'),
        which,
        how: fc.constantFrom('ok', 'ok', 'error', 'deferred', 'cancelled'),
        tokens,
      }),
    },
    { weight: 2, arbitrary: fc.record({ step: step('settle'), which, by: person, tokens }) },
    { weight: 2, arbitrary: fc.record({ step: step('decide'), which, by: person, approve: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ step: step('cancel'), which, graceMs: fc.constantFrom(0, 30) }) },
    { weight: 2, arbitrary: fc.record({ step: step('judge'), which, tokens }) },
    { weight: 1, arbitrary: fc.record({ step: step('stop'), by: someCell }) },
    { weight: 1, arbitrary: fc.record({ step: step('end'), by: fc.constantFrom(...CELLS, JUDGE) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        step: step('anew'),
        by: someCell,
        maker: fc.constantFrom('operator', 'r'),
        tool: fc.constantFrom(...TOOLS),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        step: step('fork'),
        where: fc.nat(10_000),
        mode: fc.constantFrom('dry', 'live'),
        tools: fc.option(fc.subarray([...TOOLS], { minLength: 1 }), { nil: null, freq: 4 }),
        tokens: fc.option(fc.nat(150), { nil: null, freq: 4 }),
        goOn: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ step: step('advance'), ms: fc.constantFrom(1, 10, 25, 250) }) },
    { weight: 1, arbitrary: fc.record({ step: fc.constantFrom('reopen', 'crash', 'snapshot') }) },
  ) as fc.Arbitrary<Happening>,
  { minLength: 10, maxLength: 40 },
);

/** What a random world left. */
export interface Audited {
  readonly findings: Findings;
  readonly journal: readonly (readonly JournalRecord[])[];
}

/** Runs a schedule and audits what it left. @throws Error when a promise is broken */
export async function runAndAudit(happenings: readonly Happening[]): Promise<Audited> {
  const run = new Run();
  await run.begin();
  for (const happening of happenings) {
    await run.perform(happening);
    await run.audit();
  }
  return run.finish();
}

class Run {
  readonly #clock: TestClock;
  #store: CrashableStore;
  #auditor: Auditor;
  #adapters: readonly Outside[] = [];
  #world!: World;
  #origins: Origins;
  #n = 0;
  #read = 0;
  readonly #ids: string[] = [];
  readonly #forks: Findings[] = [];
  readonly #executed = new Map<string, number>();

  /** @param forked the store of a fork, and of what it was made */
  constructor(clock = new TestClock(), forked?: { readonly store: CrashableStore; readonly origins: Origins }) {
    this.#clock = clock;
    this.#store = forked?.store ?? crashable();
    this.#origins = forked?.origins ?? new Map();
    this.#auditor = new Auditor(this.#origins);
  }

  async begin(): Promise<void> {
    await this.#open();
    await ask(this.#world, 'r', [send('a', send('c')), send('b')]);
    await ask(this.#world, JUDGE, []);
    for (const [name, parent] of Object.entries(ACCOUNTS)) {
      await this.#world.command('sys/SetAccount@1', { account: name, parent, limits: { tokens: 100 } });
    }
    await this.#world.command('sys/SetRights@1', { holder: holder('r'), account: 'all' });
    await this.#world.command('sys/SetRights@1', { holder: holder('a'), account: 'left' });
  }

  async perform(it: Happening): Promise<void> {
    switch (it.step) {
      case 'emit': {
        const { step: _, by, ...rest } = it;
        return this.#soon(ask(this.#world, by, [start('use', { ...rest, n: this.#n++ })]));
      }
      case 'rights': {
        const expires = it.lastMs === null ? {} : { expires_at: this.#clock.wall() + it.lastMs };
        const side = it.tools === null ? null : { may: { tool: it.tools }, ...expires };
        return this.#soon(
          this.#world.command('sys/SetRights@1', { holder: holder(it.of), [it.side]: side } as never, { as: it.by }),
        );
      }
      case 'hold': {
        const expires = it.lastMs === null ? {} : { expires_at: this.#clock.wall() + it.lastMs };
        const hold = it.tools === null ? null : { may: { tool: [...it.tools] }, ...expires };
        const of = it.tools === null && it.granter !== null ? { granter: it.granter } : {};
        const change = { holder: holder(it.of), hold, ...of };
        return this.#soon(this.#world.command('sys/SetRights@1', change, { as: it.by }));
      }
      case 'fail':
        if ((await this.#world.state(cell(it.of))) === undefined) return; // a cell that fails as it is made is not made
        return this.#soon(ask(this.#world, it.by, [send(it.of, fail())]));
      case 'revive':
        return this.#soon(this.#world.revive(cell(it.of)));
      case 'pays':
        return this.#soon(this.#world.command('sys/SetRights@1', { holder: holder(it.of), account: it.account }));
      case 'limit': {
        const { account: name, tokens: limit } = it;
        const change = { account: name, parent: ACCOUNTS[name], limits: { tokens: limit } };
        return this.#soon(this.#world.command('sys/SetAccount@1', change));
      }
      case 'answer':
        this.#answer(pick(this.#calls(), it.which), it.how, it.tokens);
        return turns();
      case 'settle':
        return this.#settle(it);
      case 'decide': {
        const item = pick(await this.#world.pending(), it.which);
        return item && this.#soon(this.#world.decide(item, { approve: it.approve }, { as: it.by }));
      }
      case 'cancel': {
        const effect = pick(await this.#world.openEffects(), it.which);
        return effect && this.#soon(this.#world.cancel(effect.effect, { graceMs: it.graceMs }));
      }
      case 'judge':
        return this.#judge(it);
      case 'stop':
        return this.#soon(ask(this.#world, it.by, [cancel('all')]));
      case 'end':
        return this.#soon(ask(this.#world, it.by, [end()]));
      case 'anew':
        return this.#makeAnew(it);
      case 'fork':
        return this.#fork(it);
      case 'advance':
        this.#clock.advance(it.ms);
        return turns();
      case 'snapshot':
        return this.#soon(this.#world.snapshot());
      case 'reopen':
        await this.#close();
        return this.#open();
      case 'crash':
        await this.#store.crash();
        this.#count();
        return this.#open();
      default:
        it satisfies never;
    }
  }

  /** Reads what became durable, and compares what the kernel says is left with what the auditor knows. */
  async audit(): Promise<void> {
    await turns();
    const frames = await framesOf(this.#store);
    for (; this.#read < frames.length; this.#read++) this.#auditor.read(frames[this.#read] ?? []);
    if ((await framesOf(this.#store)).length > frames.length) return this.audit();
    await this.#compare();
  }

  async finish(): Promise<Audited> {
    for (let round = 0; (await this.#world.openEffects()).length > 0 || this.#calls().length > 0; round++) {
      if (round > 200) throw new Error('something never ends');
      if (round > 20) this.#clock.advance(3_000); // what a cell settles was told to stop, in a dry fork, and has its grace
      for (const call of this.#calls()) this.#answer(call, 'ok', 1);
      for (const { effect } of await this.#world.openEffects()) await this.#keep(this.#world.cancel(effect));
      await turns();
    }
    await this.#readAsEve();
    await this.audit();
    for (const [name, { reserved }] of this.#auditor.accounts) {
      if (reserved !== 0) throw new Error(`${reserved} are reserved on ${name}, and nothing is open`);
    }
    const { head } = this.#world;
    await this.#close();
    const readonly = await this.#store.openReadonly();
    const { head: verified } = await verifyStore(readonly, { app });
    await readonly.close();
    if (verified.digest !== head.digest) throw new Error('what was verified is not what was left');
    return { findings: [this.#auditor.findings, ...this.#forks].reduce(sumOf), journal: await framesOf(this.#store) };
  }

  /** From the beginning, and from somewhere behind it, where she does not know what was open. The last frame is hers. */
  async #readAsEve(): Promise<void> {
    await this.#keep(this.#world.revive(cell('r')));
    const { seq: last } = await ask(this.#world, 'r', []);
    const journal = (await framesOf(this.#store)).slice(0, last + 1); // a snapshot may have come behind it
    if (!(await this.#mayReadAtAll())) {
      const nothing = await this.#world.as(EVE).frames(0, AbortSignal.abort()).next();
      if (nothing.done !== true) throw new Error('she may read nothing, and reads');
      return;
    }
    for (const from of [0, Math.floor(last / 3), Math.floor((last * 2) / 3)]) {
      const shown: ReadableFrame[] = [];
      for await (const frame of this.#world.as(EVE).frames(from)) {
        shown.push(frame);
        if (frame.seq === last) break;
      }
      judgeShown(journal, shown, KEPT, from);
    }
  }

  /** In a live fork that nothing was granted to, nobody but the host may. */
  async #mayReadAtAll(): Promise<boolean> {
    return (await this.#world.rights(EVE)).effective?.exercise.may.read?.length !== 0;
  }

  async #compare(): Promise<void> {
    for (const [name, { spent, reserved }] of this.#auditor.accounts) {
      const known = await this.#world.account(name);
      const [is, holds] = [known?.spent.tokens ?? 0, known?.reserved.tokens ?? 0];
      if (is !== spent || holds !== reserved) {
        throw new Error(`${name}: ${is} spent and ${holds} reserved, where it should be ${spent} and ${reserved}`);
      }
    }
    await this.#compareRights();
    const open = [...this.#auditor.effects].filter(([, { state }]) => state !== 'settled').map(([id]) => id);
    const listed = (await this.#world.openEffects()).map(({ effect }) => effect);
    if (open.sort().join() !== listed.sort().join()) throw new Error('other effects are open than should be');
    for (const key of CELLS) {
      const told = ((await seen(this.#world, key)) ?? []).filter((word) => /^e\d/.test(word));
      const once = new Set(told.map((word) => word.split('=')[0]));
      if (once.size !== told.length) throw new Error(`${key} was told twice: ${told.join(' ')}`);
    }
  }

  /** What the kernel says that cells may, whether they try it or not. */
  async #compareRights(): Promise<void> {
    for (const key of CELLS.filter((one) => this.#auditor.lives(one))) {
      const { effective } = await this.#world.rights(holder(key));
      const now = this.#world.now;
      const { may, expires_at: expires = Number.POSITIVE_INFINITY } = effective?.exercise ?? { may: { tool: [] } };
      for (const tool of TOOLS) {
        const is = now < expires && may.tool?.includes(tool) !== false && may.effect?.length !== 0;
        if (is !== this.#auditor.may(key, tool, now))
          throw new Error(`${key} ${is ? 'may' : 'may not'} use the ${tool}`);
      }
    }
  }

  async #makeAnew({ by, maker, tool }: Happening & { step: 'anew' }): Promise<void> {
    const rest = { guarantee: 'idempotent', timeoutMs: null, leave: true, tokens: 1, n: this.#n++ } as const;
    await this.#soon(ask(this.#world, by, [start('use', { kind: 'asked', tool, ...rest })]));
    await this.#soon(ask(this.#world, by, [end()]));
    await this.#soon(
      maker === 'operator' || by === maker ? ask(this.#world, by, []) : ask(this.#world, maker, [send(by)]),
    );
  }

  /** Goes back to some frame, in another world. What is left of the original is left as it is. */
  async #fork({ where, mode, tools, tokens: limit, goOn }: Happening & { step: 'fork' }): Promise<void> {
    await this.audit();
    const frames = await framesOf(this.#store);
    let at = where % frames.length;
    while (frames[at + 1]?.[0]?.kind === 'continue') at++;
    const tokens = this.#auditor.accounts.size === Object.keys(ACCOUNTS).length ? limit : null;
    const budget = tokens === null ? {} : { budgets: mapped(ACCOUNTS, () => ({ tokens })) };
    const grants = tools === null ? {} : { grants: { may: { tool: [...tools] } } };
    const store = crashable();
    const options =
      mode === 'live' ? { mode, ...grants, ...(this.#auditor.accounts.size === 3 ? budget : {}) } : { mode };
    if ((await this.#kept(this.#world.fork({ ...options, at, into: store }))) === undefined) return;
    const origins = new Map([...this.#origins].filter(([seq]) => seq <= at)).set(at + 1, {
      of: this.#auditor,
      tools,
      tokens,
    });
    if (!goOn) return this.#leaveFork(store, origins, mode === 'dry', where % 2 === 1);
    await this.#close();
    [this.#store, this.#origins, this.#read] = [store, origins, 0];
    this.#auditor = new Auditor(origins);
    await this.#open();
  }

  /** A fork that is fed what was asked of the original, or only opened, and audited to its end. */
  async #leaveFork(store: CrashableStore, origins: Origins, fed: boolean, commands: boolean): Promise<void> {
    const side = new Run(this.#clock, { store, origins });
    await side.#open();
    if (fed) await side.#world.feed(await this.#store.openReadonly(), { commands });
    const { findings } = await side.finish();
    this.#forks.push(findings);
  }

  async #settle({ which: index, by, tokens: used }: Happening & { step: 'settle' }): Promise<void> {
    for (const { effect } of await this.#world.openEffects()) if (!this.#ids.includes(effect)) this.#ids.push(effect);
    const effect = pick(this.#ids, index);
    const usage = used === null ? {} : { usage: { tokens_out: used } };
    const outcome = { status: 'ok', payload: { got: 1 }, ...usage } as const;
    if (effect !== undefined) await this.#soon(this.#world.settle(effect, outcome, { as: by }));
  }

  /** The judge settles something: what it is to judge, or what it has no word in. */
  async #judge({ which: index, tokens: used }: Happening & { step: 'judge' }): Promise<void> {
    const effect = pick(await this.#world.openEffects(), index)?.effect;
    const usage = used === null ? {} : { usage: { tokens_out: used } };
    const outcome = { status: 'ok', payload: { got: 1 }, ...usage } as const;
    if (effect !== undefined) await this.#soon(ask(this.#world, JUDGE, [kernel('sys/Settle@1', { effect, outcome })]));
  }

  #answer(call: Call | undefined, how: string, used: number | null): void {
    if (call === undefined) return;
    answered.add(call);
    const usage = used === null ? {} : { usage: { tokens_out: used } };
    if (how === 'ok') call.answer({ status: 'ok', payload: { got: 1 }, ...usage });
    else if (how === 'error') call.answer({ status: 'error', code: 'adapter_error/x', ...usage });
    else if (how === 'deferred') call.answer(deferEffect({ to: 'human:*' }));
    else call.answer({ status: 'cancelled', ...usage });
  }

  #calls(): readonly Call[] {
    return this.#adapters.flatMap(({ calls }) => calls).filter((call) => !answered.has(call));
  }

  async #open(): Promise<void> {
    this.#adapters = [KINDS.free, KINDS.asked].map((kind) => outside(kind, { concurrency: 2 }));
    const given = { store: this.#store, app, clock: this.#clock, policy: POLICY, adapters: this.#adapters };
    this.#world = await openKernelWorld({ ...given, recheckEvery: 1, snapshotEvery: 7 });
    await turns();
  }

  async #close(): Promise<void> {
    let closed = false;
    const closing = this.#world.close().then(() => {
      closed = true;
    });
    for (let i = 0; i < 100 && !closed; i++) {
      await turn();
      if (i % 10 === 9) this.#clock.advance(3_000); // adapters that do not answer are waited for
    }
    await closing;
    this.#count();
  }

  /** How often an effect was executed, over all openings. */
  #count(): void {
    for (const { context } of this.#adapters.flatMap(({ calls }) => calls)) {
      const times = (this.#executed.get(context.idempotencyKey) ?? 0) + 1;
      this.#executed.set(context.idempotencyKey, times);
      const effect = this.#auditor.effects.get(context.idempotencyKey);
      if (effect !== undefined && times > 1 && effect.guarantee === 'at_most_once') throw new Error('executed twice');
    }
  }

  /** Waits for an answer, but not while the world itself waits. */
  async #soon(asked: Promise<unknown>): Promise<void> {
    await Promise.race([this.#keep(asked), turns()]);
  }

  async #keep(asked: Promise<unknown>): Promise<void> {
    await this.#kept(asked);
  }

  /** What it came to; undefined when it was refused. */
  async #kept<T>(asked: Promise<T>): Promise<T | undefined> {
    try {
      return await asked;
    } catch (error) {
      if (!isRepriseError(error) || error.code === 'internal_error') throw error;
      return undefined;
    }
  }
}

const answered = new WeakSet<Call>();

/** A cell as a holder of rights. */
export const holder = (key: string): Principal => `cell:${cell(key).join('/')}`;

function mapped<K extends string, T>(names: Readonly<Record<K, unknown>>, to: () => T): Record<K, T> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, to()])) as Record<K, T>;
}

function sumOf(a: Findings, b: Findings): Findings {
  const sums = Object.keys(a).map((what) => [what, a[what as keyof Findings] + b[what as keyof Findings]]);
  return Object.fromEntries(sums) as unknown as Findings;
}

function pick<T>(list: readonly T[], index: number): T | undefined {
  return list.length === 0 ? undefined : list[index % list.length];
}

async function turns(): Promise<void> {
  for (let i = 0; i < 6; i++) await turn();
}
