/**
 * Plays a random schedule in a real world: sessions, models by the ordinary client, time, people, and processes that die.
 * The oracle is told what the journal says that the tree took, and says what must follow.
 */
import { appOf, defineAgent, putText } from '@reprise/agent';
import { actorOf, isRepriseError } from '@reprise/contracts';
import { type Address, type RequestOptions, type Store, verifyStore } from '@reprise/kernel';
import { llmGenerateAdapter } from '@reprise/providers';
import { type TestWorld, testAgentWorld, VirtualClock } from '@reprise/testkit';
import { type Tree, treeFacts, trees } from '@reprise/tree';
import { quickMemory } from '../../quick-memory.js';
import { valueAs } from '../../staged-values.js';
import { compare, Differs, follow, nameOfActor } from '../follow.js';
import { Oracle } from '../oracle/oracle.js';
import type { StagedEvent } from '../stage.js';
import { Answerer, isQuestion, type Told } from './answerer.js';
import { Hands } from './hands.js';
import { TreeJournal } from './journal.js';
import { Ledger } from './ledger.js';
import { saying, type WorldSchedule, type WorldStep } from './schedule.js';

const NAME = 't';
const TREE: Address = ['tree/Tree@1', NAME];
const PRICE = { in: 3, out: 15 };

/** The use of one unit of a schedule's budget. */
const UNIT = { tokens: 2_000, usd: 0.01 };

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });
const helper = defineAgent({ name: 'helper', model: 'main', instructions: 'Help.' });
const part = trees({ agents: [worker, helper] });

/** Those who act from outside, one after another. */
const ACTING: readonly Pick<RequestOptions, 'as' | 'actor'>[] = [
  {},
  { as: 'human:ann' },
  { as: 'human:bob' },
  { as: 'human:ann', actor: { kind: 'program', id: 'nightly' } },
  { as: 'human:bob', actor: { kind: 'rule', id: 'always', granted_by: 'bob' } },
];

/** What was played. */
export interface PlayedWorld {
  readonly nodes: number;
  readonly syntheses: number;
  readonly crashes: number;
  /** The answers whose senders were told what became of them. */
  readonly answers: number;
  /** The frames that a replay made again, byte by byte. */
  readonly verified: number;
}

/**
 * Plays a schedule to the end of its tree, and replays the world.
 *
 * @throws Differs what the tree did otherwise than the oracle, or that it is stuck
 */
export async function playWorld(schedule: WorldSchedule, store: Store = quickMemory()): Promise<PlayedWorld> {
  const player = new WorldPlayer(schedule, store);
  await player.open();
  try {
    for (const step of schedule.steps) await player.take(step);
    await player.finish();
  } finally {
    await player.close();
  }
  const { frames, unverified } = await verifyStore(await store.openReadonly(), { app: appOf([part]) });
  if (unverified > 0) throw new Differs(`${unverified} frames are not verified`);
  const { nodes, syntheses } = player.oracle;
  return { nodes: nodes.length, syntheses, crashes: player.crashes, answers: player.races, verified: frames };
}

class WorldPlayer {
  crashes = 0;
  races = 0;
  readonly #clock = new VirtualClock({ turns: 4 });
  readonly #hands = new Hands();
  readonly #journal = new TreeJournal(NAME);
  readonly #ledger = new Ledger();
  #oracle: Oracle | undefined;
  #world: TestWorld | undefined;
  #tree: Tree | undefined;
  #read = -1;
  #compared = 0;
  #sends = 0;
  /** What those who answered questions were told. */
  readonly #told: ({ readonly ask: number; readonly who: Answerer } & Told)[] = [];

  constructor(
    private readonly schedule: WorldSchedule,
    private readonly store: Store,
  ) {}

  get oracle(): Oracle {
    if (this.#oracle === undefined) throw new Error('the tree has not begun');
    return this.#oracle;
  }

  async open(): Promise<void> {
    const { terms, people, budget } = this.schedule;
    const isPriced = budget.unit === 'usd';
    const price = isPriced ? { price: PRICE } : {};
    this.#world = await testAgentWorld({
      store: this.store,
      clock: this.#clock,
      agents: [],
      parts: [part],
      models: { main: price },
      llm: (judge) => llmGenerateAdapter({ main: this.#hands.model(price) }, { judge }),
      recheckEvery: 0,
    });
    this.#tree = await this.#world
      .part(part)
      .start(NAME, { goal: 'the whole', limits: terms, asks: people, ...this.#budget() });
    await this.#settle('start');
    // A root with children, so that something can happen.
    await this.take(['say', 0, 2, 0]);
  }

  async take([kind, a, b, c]: WorldStep): Promise<void> {
    await this.#do(kind, a, b, c);
    await this.#settle([kind, a, b, c].join(' '));
  }

  /** Lets everything end: models answer, pauses end, people answer, time passes. */
  async finish(): Promise<void> {
    for (let round = 0; round < 600; round++) {
      const next = this.#next();
      if (next === undefined) break;
      await next();
      await this.#settle('the end');
    }
    if (!this.oracle.root.ended || !this.#journal.hasEnded) throw new Differs('the tree is stuck');
    if (this.#journal.reserved !== 0) throw new Differs('an amount is set aside behind the end');
    const { status } = (await this.#tree?.result()) ?? {};
    if (status !== this.oracle.status) throw new Differs(`the result is ${status}; the oracle: ${this.oracle.status}`);
    this.#holdAnswers();
  }

  /** Of all who answered a question exactly the one that counts was told so, and each other one whose answer counts. */
  #holdAnswers(): void {
    for (const { ask, who, status, actor } of this.#told) {
      const by = this.#journal.answeredBy.get(ask) ?? null;
      const [own, won] = [nameOfActor(who.actor), nameOfActor(by)];
      if (status === 'applied' && own !== won) throw new Differs(`#${ask}: ${own} is told applied; it was ${won}`);
      if (status === 'already_settled' && nameOfActor(actor ?? null) !== won)
        throw new Differs(`#${ask}: ${own} is told that it was ${nameOfActor(actor ?? null)}; it was ${won}`);
    }
    const applied = this.#told.filter(({ status }) => status === 'applied').map(({ ask }) => ask);
    if (new Set(applied).size < applied.length) throw new Differs(`two are told applied: ${applied.join(', ')}`);
    this.races = this.#told.length;
  }

  async close(): Promise<void> {
    this.#hands.forget();
    await this.#world?.close();
  }

  #next(): (() => unknown) | undefined {
    const paused = this.oracle.nodes.find((node) => node.paused && !node.ended);
    if (paused !== undefined) return () => this.#send('Resume', { node: paused.n });
    const [held] = this.#hands.held;
    if (held !== undefined) return () => held.say({ text: 'It is done.' });
    const ask = this.oracle.nodes.find(({ question }) => question?.how === null && question.route.length === 0);
    if (ask?.question != null) return () => this.#answer(ask.n, ask.question?.options[0]);
    if (!this.oracle.root.ended || this.oracle.nodes.some(({ run }) => run !== 'none')) return this.#later();
    return undefined;
  }

  /** Time passes while something waits for it. */
  #later(): (() => unknown) | undefined {
    return this.#clock.sleeping === 0 ? undefined : () => this.#clock.advance(3_600_000);
  }

  async #do(kind: WorldStep[0], a: number, b: number, c: number): Promise<void> {
    const { oracle } = this;
    const n = 1 + ((a + b * 3) % oracle.nodes.length);
    switch (kind) {
      case 'say': {
        const call = pick(this.#hands.held, a);
        return call?.say(saying(oracle, call, [b, c]));
      }
      case 'Answer': {
        const ask = pick(
          oracle.nodes.filter(({ question }) => question !== null && (b === 7 || question.how === null)),
          a,
        );
        if (ask === undefined) return;
        if (c === 7) return this.#answer(ask.n, 'other');
        return this.#race(ask.n, ask.question?.options ?? [], { count: 2 + (a % 4), dies: b % 4 === 3 });
      }
      case 'Retry': {
        const node =
          pick(
            oracle.nodes.filter((one) => one.ended && one.n > 1),
            a,
          )?.n ?? n;
        return this.#send(kind, { node, ...([{ agent: 'helper' }, { fresh: true }][c - 6] ?? {}) });
      }
      case 'Stop':
        return this.#send(kind, { node: n === 1 && c < 7 ? 2 : n });
      case 'Pause':
      case 'Resume':
        return this.#send(kind, { node: n });
      case 'Add': {
        const prompt_ref = await this.#text('Do your part.');
        const blocked_by = c > 4 ? [1 + ((a + c) % oracle.nodes.length)] : [];
        return this.#send(kind, {
          parent: n,
          type: 'spawn',
          nodes: [{ goal: 'a part', prompt_ref, blocked_by, priority: (b % 3) - 1 }],
        });
      }
      case 'Modify': {
        const change = [{ priority: 2 }, { agent: 'helper' }, { goal: 'another part' }, { priority: -2 }][c % 4] ?? {};
        return this.#send(kind, {
          node:
            pick(
              oracle.nodes.filter((one) => one.paused || one.status === 'pending'),
              a,
            )?.n ?? n,
          ...change,
        });
      }
      case 'Limit':
        return this.#send(kind, { limits: { parallel: 1 + (a % 4), attempts: 1 + (b % 3), generations: 1 + (c % 3) } });
      case 'Tell':
        return this.#send(kind, { node: n, text_ref: await this.#text('Look at this, too.') });
      case 'time':
        return this.#clock.advance([1_000, 21_000, 61_000, 3_600_000][a % 4] ?? 0);
      case 'crash':
        return this.#crash();
      default:
        kind satisfies never;
    }
  }

  async #crash(): Promise<void> {
    if (this.#world === undefined) return;
    this.#hands.forget();
    const dying = this.#world.crash();
    this.#world = await dying;
    this.#tree = this.#world.part(part).tree(NAME);
    this.crashes++;
  }

  async #answer(ask: number, option: string | undefined): Promise<void> {
    await this.#send('Answer', { ask, text_ref: await this.#text(option ?? 'as you like'), picked: option ?? null });
  }

  /** Several answer one question at once, each in a way of its own; the process may die meanwhile. */
  async #race(
    ask: number,
    options: readonly string[],
    { count, dies }: { count: number; dies: boolean },
  ): Promise<void> {
    const tree = this.#tree;
    const item = (await this.#world?.kernel.pending())?.find(({ value }) => isQuestion(value, ask));
    const racers = Array.from(
      { length: count },
      (_, i) => new Answerer(ACTING[(this.#sends + i) % ACTING.length] ?? {}, `${this.#sends}.${i}`),
    );
    this.#sends += count;
    const answering = racers.map((one, i) => {
      const word = options[i % Math.max(1, options.length)] ?? `word ${i}`;
      if (item !== undefined && i % 2 === 0) return one.settle(this.#world?.kernel, item.effect, word);
      return one.answer(tree, ask, word);
    });
    if (dies) await this.#crash();
    for (const [i, told] of (await Promise.all(answering)).entries()) {
      // A process that died told nobody anything: the same answer is sent again.
      const word = options[i % Math.max(1, options.length)] ?? `word ${i}`;
      const again = told ?? (await racers[i]?.answer(this.#tree, ask, word));
      if (again !== undefined) this.#told.push({ ask, who: racers[i] as Answerer, ...again });
    }
  }

  async #text(text: string) {
    if (this.#world === undefined) throw new Error('no world is open');
    return putText(this.#world.kernel.content, text);
  }

  /** Sends a command. One that is refused is in no journal: the oracle is asked for the same verdict. */
  async #send(command: string, value: object): Promise<void> {
    const event: StagedEvent = { name: `tree/${command}@1`, value };
    const who = ACTING[this.#sends++ % ACTING.length] ?? {};
    try {
      await this.#world?.kernel.request(TREE, event, who);
    } catch (error) {
      if (!isRepriseError(error, 'request_rejected')) throw error;
      const rejected = String(error.details.reason);
      follow(this.oracle, {
        event,
        sender: null,
        actor: actorOf(who.as ?? 'operator', who.actor),
        rejected,
        answers: [],
        facts: [],
      });
    }
  }

  /** Waits until nothing happens by itself any more, and reads what did. */
  async #settle(step: string): Promise<void> {
    for (let before = -1; before !== this.#head; ) {
      before = this.#head;
      await this.#clock.settle();
    }
    try {
      await this.#follow();
      this.#compare();
    } catch (error) {
      if (error instanceof Differs) error.message = `after ${step}, frame ${this.#read}: ${error.message}`;
      throw error;
    }
  }

  get #head(): number {
    return this.#world?.kernel.head.seq ?? 0;
  }

  async #follow(): Promise<void> {
    const { kernel } = this.#world ?? {};
    if (kernel === undefined || this.#read >= kernel.head.seq) return;
    const last = kernel.head.seq;
    for await (const { seq, records } of kernel.frames(this.#read + 1)) {
      if (this.#oracle !== undefined && records[0]?.kind !== 'continue') this.#compare();
      this.#read = seq;
      this.#ledger.take(records);
      for (const delivered of this.#journal.take(records)) {
        if (delivered.event.name === 'tree/Start@1') this.#oracle ??= this.#begun(delivered.facts);
        follow(this.oracle, delivered);
      }
      if (seq >= last) return;
    }
  }

  #begun(facts: readonly StagedEvent[]): Oracle {
    const [started] = facts.flatMap((fact) => valueAs(fact, [treeFacts, 'tree/Started@1']) ?? []);
    if (started === undefined) throw new Error('a tree that began has not stated it');
    return new Oracle(started.limits, this.schedule.people, started.budget);
  }

  /** Compares nodes, launches and budget. */
  #compare(): void {
    const { rows, launched, spent, reserved } = this.#journal;
    const { oracle } = this;
    const wanted = oracle.launched.slice(this.#compared).join(', ');
    const found = launched.slice(this.#compared).join(', ');
    if (found !== wanted) throw new Differs(`launched: ${found}; the oracle: ${wanted}`);
    this.#compared = launched.length;
    compare(oracle, [...rows.values()], oracle.status);
    const used = spent[oracle.purse.unit];
    if (used !== oracle.spent) throw new Differs(`${used} are spent; the oracle: ${oracle.spent}`);
    if (reserved !== oracle.reserved) throw new Differs(`${reserved} are set aside; the oracle: ${oracle.reserved}`);
  }

  #budget(): object {
    const { unit, node, tree } = this.schedule.budget;
    if (unit === null || (node === null && tree === null)) return {};
    const amount = (many: number | null) => (many === null ? undefined : { [unit]: many * UNIT[unit] });
    const given = { node: amount(node), tree: amount(tree) };
    return { budget: Object.fromEntries(Object.entries(given).filter(([, one]) => one !== undefined)) };
  }
}

function pick<T>(list: readonly T[], which: number): T | undefined {
  return list[which % Math.max(1, list.length)];
}
