/**
 * Trees with a budget in money, eight nodes at once, and beside them a ledger of its own: it reads the frames of the
 * journal, prices what the model reported, and says for each frame what is spent and what is set aside.
 */
import { defineAgent, openAgentWorld } from '@reprise/agent';
import type { JournalRecord } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import { llmGenerateAdapter, type ScriptRequest, type ScriptStep, scriptBy } from '@reprise/providers';
import { trees } from '@reprise/tree';
import { randomFrom } from '../random.js';

/** Micro-dollars: the budget of each tree. */
export const CAP = 1_000_000;

/** Dollars per million tokens, which are micro-dollars per token. */
const PRICE = { in: 3, out: 15 };

/** The nodes that the tree may run at once, and the children of its root. */
const AT_ONCE = 8;

const NAME = 't';

/** What trees with a budget came to. */
export interface Budgeted {
  /** The most that was spent and set aside at once, in micro-dollars. */
  readonly most: number;
  /** The most nodes that had an amount set aside at once. */
  readonly atOnce: number;
  readonly frames: number;
  readonly launches: number;
  /** The frames at which the tree says otherwise than the ledger. */
  readonly differences: readonly string[];
}

interface Uses {
  /** Micro-dollars that each node may use. */
  readonly node: number;
  /** The usage of each call in turn; null for a model that reports none. */
  next(): { readonly tokens_in: number; readonly tokens_out: number } | null;
}

/** Plays trees. Every fourth has a model that reports no usage: each of its runs is charged all that was set aside. */
export async function playBudgets(count: number, seed: number): Promise<Budgeted> {
  const random = randomFrom(seed);
  const between = (min: number, max: number): number => min + Math.floor(random() * (max - min));
  const sum = { most: 0, atOnce: 0, frames: 0, launches: 0, differences: [] as string[] };
  for (let i = 0; i < count; i++) {
    const reports = i % 4 !== 3;
    const usage = () => ({ tokens_in: between(1, 9_000), tokens_out: between(1, 900) });
    const played = await playOne({ node: between(60_000, 600_000), next: () => (reports ? usage() : null) });
    sum.most = Math.max(sum.most, played.most);
    sum.atOnce = Math.max(sum.atOnce, played.atOnce);
    sum.frames += played.frames;
    sum.launches += played.launches;
    sum.differences.push(...played.differences.map((difference) => `tree ${i}, ${difference}`));
  }
  return sum;
}

async function playOne(uses: Uses): Promise<Budgeted> {
  const part = trees({ agents: [defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' })] });
  // A step without usage of its own would get the usual one.
  const model = scriptBy((request) => ({ ...answer(request), usage: uses.next() ?? {} }), { price: PRICE });
  await using world = await openAgentWorld({
    store: memory(),
    agents: [],
    parts: [part],
    models: { main: { price: PRICE } },
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
  const tree = await world.part(part).start(NAME, {
    goal: 'top',
    limits: { parallel: AT_ONCE, attempts: 1 },
    budget: { node: { usd: uses.node / 1_000_000 }, tree: { usd: CAP / 1_000_000 } },
  });
  await tree.result();
  const ledger = new Ledger(uses.node);
  const { kernel } = world;
  for await (const { seq, records } of kernel.frames(0)) {
    ledger.add(seq, records);
    if (seq === kernel.head.seq) break;
  }
  if ((await world.verify()).unverified > 0) throw new Error('a frame of the world is unverified');
  return ledger;
}

/** The root makes eight children, each of which gives its result in a call and then says that it is done. */
function answer({ last, messages }: ScriptRequest): ScriptStep {
  if (messages.at(-1)?.role === 'tool') return { text: 'Done.' };
  if (last.includes('Results of your children')) return { calls: [{ tool: 'complete', args: { result: 'all' } }] };
  if (!/You are node #1\s/.test(last)) return { calls: [{ tool: 'complete', args: { result: 'mine' } }] };
  const child = { tool: 'spawn', args: { goal: 'g', prompt: 'p' } };
  return { calls: Array.from({ length: AT_ONCE }, () => child) };
}

/** What nodes spent and have set aside, from the calls of the model and the launches alone. */
class Ledger implements Budgeted {
  most = 0;
  atOnce = 0;
  frames = 0;
  launches = 0;
  readonly differences: string[] = [];
  #spent = 0;
  /** By node: what it has spent, and what is set aside for its run. */
  readonly #spentBy = new Map<number, number>();
  readonly #reserved = new Map<number, number>();
  /** The sessions of calls of the model. */
  readonly #calls = new Map<string, string>();
  /** By session: what the calls of its run cost, undefined when one reported nothing. */
  readonly #runs = new Map<string, number | undefined>();

  constructor(private readonly node: number) {}

  /** Adds a frame, and compares with what the tree states in it. */
  add(seq: number, records: readonly JournalRecord[]): void {
    this.frames++;
    let stated: { readonly spent: number; readonly reserved: number } | undefined;
    for (const record of records) {
      this.#take(record);
      if (record.kind !== 'fact' || record.name !== 'tree/Budget@1') continue;
      const { spent, reserved } = record.value as { spent: { micro_money: number }; reserved: number };
      stated = { spent: spent.micro_money, reserved };
    }
    this.most = Math.max(this.most, this.#spent + this.#reservedOfAll());
    this.atOnce = Math.max(this.atOnce, this.#reserved.size);
    if (stated === undefined) return;
    this.most = Math.max(this.most, stated.spent + stated.reserved);
    const own = `spent ${this.#spent}, reserved ${this.#reservedOfAll()}`;
    const its = `spent ${stated.spent}, reserved ${stated.reserved}`;
    if (own !== its) this.differences.push(`frame ${seq}: the ledger says ${own}; the tree ${its}`);
  }

  #take(record: JournalRecord): void {
    if (record.kind === 'effect' && record.name.startsWith('llm.generate@')) {
      this.#calls.set(record.effect, record.plan[1]);
    } else if (record.kind === 'receipt') this.#pay(record.effect, record.receipt.usage);
    else if (record.kind === 'intent' && record.name === 'tree/launch_plan@1') {
      this.#launch((record.input as { readonly n: number }).n);
    } else if (record.kind === 'event' && record.event.name === 'aos.agent/ChildNotice@1') {
      const { session, news } = record.event.value as { session: string; news: { readonly kind: string } };
      if (news.kind === 'settled') this.#end(session);
    }
  }

  #pay(effect: string, usage: { readonly tokens_in?: number; readonly tokens_out?: number } | undefined): void {
    const session = this.#calls.get(effect);
    if (session === undefined) return;
    const { tokens_in = 0, tokens_out = 0 } = usage ?? {};
    const before = this.#runs.has(session) ? this.#runs.get(session) : 0;
    const isKnown = tokens_in + tokens_out > 0 && before !== undefined;
    this.#runs.set(session, isKnown ? before + PRICE.in * tokens_in + PRICE.out * tokens_out : undefined);
  }

  /** A run gets what its node has left; when nothing else is set aside, at most what the tree has left. */
  #launch(n: number): void {
    this.launches++;
    const own = this.node - (this.#spentBy.get(n) ?? 0);
    const left = CAP - this.#spent - this.#reservedOfAll();
    this.#reserved.set(n, this.#reserved.size > 0 ? own : Math.min(own, left));
  }

  #end(session: string): void {
    const n = Number(session.slice(NAME.length + 1));
    const reserved = this.#reserved.get(n) ?? 0;
    const used = this.#runs.has(session) ? (this.#runs.get(session) ?? reserved) : 0;
    this.#runs.delete(session);
    this.#reserved.delete(n);
    this.#spent += used;
    this.#spentBy.set(n, (this.#spentBy.get(n) ?? 0) + used);
  }

  #reservedOfAll(): number {
    return [...this.#reserved.values()].reduce((sum, one) => sum + one, 0);
  }
}
