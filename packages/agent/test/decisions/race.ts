/**
 * Several actors decide about one item at once, and the process may die in between.
 *
 * The law: exactly one decision is applied; each other actor is told who won; the act, its arguments and every word that
 * the model reads beside it are the winner's; the journal names the winner as what it is, and replays.
 */
import { type Actor, actorOf, type Principal } from '@reprise/contracts';
import { isRepriseError, putValue, readFrame, type StoredFrame, verifyStore } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import fc from 'fast-check';
import * as z from 'zod';
import {
  type AgentWorld,
  agentApp,
  type Decided,
  type DecideOptions,
  type Decision,
  defineAgent,
  defineSessionTool,
  defineTool,
  type Judge,
  openAgentWorld,
} from '../../src/index.js';
import { ScriptedLlm } from '../api/scene.js';
import { type Death, DyingStore } from './dying-store.js';

/** Those who may decide: a principal, and the actor where it does not follow. Each is one actor of its own. */
const WHO: readonly Pick<DecideOptions, 'as' | 'actor'>[] = [
  { as: 'human:ann' },
  { as: 'human:bob' },
  { as: 'human:ann', actor: { kind: 'rule', id: 'always:pay', granted_by: 'ann' } },
  { as: 'human:carl', actor: { kind: 'program', id: 'nightly' } },
  { actor: { kind: 'node', id: 'review' } },
  {},
];

type Item = 'approval' | 'ask' | 'question';
type How = 'approve' | 'comment' | 'edit' | 'deny' | 'reason';

/** How many turns of the event loop a run may take. */
const TURNS_MAX = 2_000;

/** One of those who decide at once. */
interface Racer {
  readonly who: number;
  /** About an approval; a question is answered. */
  readonly how: How;
  /** How many turns of the event loop it comes later. */
  readonly late: number;
  readonly seen: boolean;
  readonly named: boolean;
}

/** A race. */
export interface Race {
  readonly item: Item;
  readonly racers: readonly Racer[];
  readonly death: Death | null;
}

const racer = (who: number): fc.Arbitrary<Racer> =>
  fc.record({
    who: fc.constant(who),
    how: fc.constantFrom<How>('approve', 'comment', 'edit', 'deny', 'reason'),
    late: fc.nat(4),
    seen: fc.boolean(),
    named: fc.boolean(),
  });

const racers = fc
  .constantFrom(2, 3, 5)
  .chain((n) => fc.shuffledSubarray([...WHO.keys()], { minLength: n, maxLength: n }))
  .chain((those) => fc.tuple(...those.map(racer)));

/** Any race of two, three or five actors. */
export const anyRace: fc.Arbitrary<Race> = fc.record({
  item: fc.constantFrom<Item>('approval', 'approval', 'approval', 'ask', 'question'),
  racers,
  death: fc.option(fc.record({ appends: fc.nat(6), durable: fc.boolean() }), { freq: 2, nil: null }),
});

/** A wrong way to decide, which the law has to find. */
export type Mutant = (world: AgentWorld, decided: Decided, words: string) => Promise<Decided>;

/** What a race did. */
export interface Played {
  readonly died: boolean;
  readonly told: readonly Decided['status'][];
}

/** Plays a race and checks the law. @throws Error what is wrong */
export async function playRace(race: Race, mutant?: Mutant): Promise<Played> {
  const table = new RaceTable(race);
  await table.open();
  const id = await table.asked();
  if (race.death !== null) table.store.arm(race.death);
  const first = await Promise.all(race.racers.map((one, n) => table.decide(id, one, n, mutant)));
  await table.settled().catch((error: unknown) => {
    if (!table.store.died) throw error;
  });
  const died = table.store.died;
  if (died) await table.reopen();
  const told = await Promise.all(first.map((decided, n) => decided ?? table.again(id, n, mutant)));
  await table.settled();
  await table.close();
  await check(table, told, died);
  return { died, told: told.map(({ status }) => status) };
}

class RaceTable {
  readonly store = new DyingStore();
  readonly paid: number[] = [];
  readonly read: string[] = [];
  readonly #clock = new VirtualClock();
  readonly #agent = this.#makeAgent();
  #world: AgentWorld | undefined;
  #llm: ScriptedLlm | undefined;

  constructor(readonly race: Race) {}

  get world(): AgentWorld {
    if (this.#world === undefined) throw new Error('the world is not open');
    return this.#world;
  }

  async open(steps = 2): Promise<void> {
    const calls = [{ id: 'c', tool: this.race.item, args: this.race.item === 'approval' ? { euros: 1 } : {} }];
    this.#world = await openAgentWorld({
      store: this.store,
      clock: this.#clock,
      models: { main: {} },
      agents: [this.#agent],
      recheckEvery: 1,
      onError: () => undefined,
      llm: (judge: Judge) => {
        this.#llm = new ScriptedLlm(judge, steps === 2 ? [{ calls }, { text: 'Done.' }] : [{ text: 'Done.' }]);
        return this.#llm;
      },
    });
  }

  /** The id of the item that everybody decides about. */
  async asked(): Promise<string> {
    await this.world.session('s', this.#agent).send('Go', { as: 'human:ann' });
    for (;;) {
      const [item] = await this.world.pending();
      if (item !== undefined) return item.id;
      await turn();
    }
  }

  /** Decides; undefined when the process died before it answered. */
  async decide(id: string, one: Racer, n: number, mutant?: Mutant): Promise<Decided | undefined> {
    const { world } = this;
    const digest = one.seen ? { digest: (await world.pending()).find((item) => item.id === id)?.digest } : {};
    for (let turns = 0; turns < one.late; turns++) await turn();
    try {
      const options = { ...WHO[one.who], ...digest, ...(one.named ? { id: `by-${n}` } : {}) } as DecideOptions;
      const decided = await world.decide(id, decisionOf(this.race.item, one, n), options);
      return mutant === undefined ? decided : mutant(world, decided, `word ${n}`);
    } catch (error) {
      if (this.store.died && isRepriseError(error)) return undefined;
      throw error;
    }
  }

  async again(id: string, n: number, mutant?: Mutant): Promise<Decided> {
    const one = this.race.racers[n];
    const decided = one && (await this.decide(id, one, n, mutant));
    if (decided === undefined) throw new Error('nobody answered a decision in a process that lives');
    return decided;
  }

  /** Waits until the run has ended, or the process is dead. */
  async settled(): Promise<void> {
    for (let turns = 0; turns < TURNS_MAX && !this.store.died; turns++) {
      const state = await this.world.session('s', this.#agent).state();
      if (state?.lifecycle === 'Completed' || state?.lifecycle === 'Failed') return;
      await turn();
    }
    must(this.store.died, 'the run did not end');
  }

  async reopen(): Promise<void> {
    this.#keepRead();
    await this.world.close().catch(() => undefined);
    await this.store.bury();
    await this.open(1);
  }

  async close(): Promise<void> {
    this.#keepRead();
    await this.world.close();
  }

  #keepRead(): void {
    this.read.push(...(this.#llm?.asked ?? []).flatMap(({ transcript }) => transcript));
  }

  #makeAgent() {
    const approval = defineTool({
      name: 'approval',
      description: 'Pays.',
      args: z.strictObject({ euros: z.int() }),
      approval: 'always',
      guarantee: 'idempotent',
      run: ({ euros }) => {
        this.paid.push(euros);
        return `paid ${euros}`;
      },
    });
    const question = defineTool({
      name: 'question',
      description: 'Asks while it runs.',
      args: z.strictObject({}),
      guarantee: 'idempotent',
      run: async (_args, { ask }) => {
        const answer = await ask({ question: 'Which?', answer: z.string() });
        return answer.how === 'answered' ? `heard ${answer.value}` : answer.how;
      },
    });
    const ask = defineSessionTool({
      name: 'ask',
      description: 'Asks a person.',
      args: z.strictObject({}),
      kind: 'ask',
      operation: async (_args, content) => ({
        op: 'ask',
        question_ref: await putValue(content, { question: 'Which?' }),
      }),
    });
    return defineAgent({ name: 'payer', model: 'main', instructions: 'Pay.', tools: [approval, question, ask] });
  }
}

function decisionOf(item: Item, { how }: Racer, n: number): Decision {
  if (item !== 'approval') return { answer: `word ${n}` };
  switch (how) {
    case 'approve':
      return { approve: true };
    case 'comment':
      return { approve: true, comment: `word ${n}` };
    case 'edit':
      return { approve: true, args: { euros: 100 + n } };
    case 'deny':
      return { deny: '' };
    case 'reason':
      return { deny: `word ${n}` };
  }
}

/** The words that a racer adds to its decision. */
function wordsOf({ how }: Racer, n: number): string | undefined {
  return how === 'comment' || how === 'reason' ? `word ${n}` : undefined;
}

const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

/** A decision in the journal, and who made it. */
interface Made {
  readonly by: Principal;
  readonly actor: Actor;
}

async function check({ race, store, paid, read }: RaceTable, told: readonly Decided[], died: boolean): Promise<void> {
  const reader = await store.openReadonly();
  const report = await verifyStore(reader, { app: agentApp });
  const made: Made[] = [];
  for await (const frame of reader.journal.read(0)) made.push(...decisionIn(frame));
  await reader.close();
  must(report.unverified === 0, 'the journal does not replay');
  const [winner] = made;
  must(winner !== undefined && made.length === 1, `${made.length} decisions were applied`);
  const n = race.racers.findIndex(({ who }) => isSame(actorOf(winner.by, winner.actor), nameOf(who)));
  const applied = told.filter(({ status }) => status === 'applied');
  must(applied.length === 1 || (died && applied.length === 0), `${applied.length} actors were told "applied"`);
  for (const [i, { status, actor }] of told.entries()) {
    if (status === 'applied') must(i === n, `actor ${i} was told "applied", and ${n} won`);
    else must(status === 'already_settled' && isSame(actor, winner.actor), `actor ${i} was not told that ${n} won`);
  }
  const one = race.racers[n];
  must(one !== undefined, 'the journal names another winner than those who decided');
  checkAct(race, one, n, { paid, read });
}

function checkAct({ item }: Race, one: Racer, n: number, { paid, read }: Pick<RaceTable, 'paid' | 'read'>): void {
  const words = [...new Set(read.flatMap((line) => line.match(/word \d/g) ?? []))];
  const own = item === 'approval' ? wordsOf(one, n) : `word ${n}`;
  must(
    isSame(words, own === undefined ? [] : [own]),
    `the model read ${words.join(', ')}, and ${own ?? 'nothing'} was said`,
  );
  if (item !== 'approval') return;
  const isDenied = one.how === 'deny' || one.how === 'reason';
  const euros = one.how === 'edit' ? 100 + n : 1;
  must(isSame([...new Set(paid)], isDenied ? [] : [euros]), `${paid.join(', ')} was paid`);
  const result = read.findLast((line) => / c: /.test(line)) ?? '';
  must(result.startsWith(isDenied ? 'error c: denied' : `tool c: paid ${euros}`), `the model read: ${result}`);
}

function decisionIn({ bytes, seq }: StoredFrame): readonly Made[] {
  const { ingress, all } = readFrame(bytes, seq);
  if (ingress.kind !== 'command' || all.some(({ kind }) => kind === 'late')) return [];
  const { name, value } = ingress.command;
  if (name !== 'sys/Decide@1' && name !== 'sys/Answer@1' && name !== 'sys/Settle@1') return [];
  const by = ingress.principal as Principal;
  return [{ by, actor: actorOf(by, value.actor) }];
}

function nameOf(who: number): Actor {
  const { as = 'operator', actor } = WHO[who] ?? {};
  return actorOf(as, actor);
}

function isSame(one: unknown, other: unknown): boolean {
  return sorted(one) === sorted(other);
}

function sorted(thing: unknown): string {
  return JSON.stringify(thing, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}
