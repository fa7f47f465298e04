/**
 * A ledger of a project with a budget in money, beside what the project states: it reads the frames, prices what the model
 * reported, and takes from the events to jobs and to the coordinator what each of them may use.
 */
import type { Address, JournalRecord } from '@reprise/contracts';
import { coordinatorOf } from '@reprise/specialists';

/** Micro-dollars per token. */
export interface Price {
  readonly in: number;
  readonly out: number;
}

/** The states in which a job has ended. */
const ENDED = ['ok', 'failed', 'cancelled', 'timeout'];

/** The limit of a run of the coordinator for which nothing is left: as little as a limit can be. */
const NOTHING_LEFT = 1;

/** What was used and is set aside, by frames. */
export class ProjectLedger {
  frames = 0;
  jobs = 0;
  /** The most that was used and set aside at once while the first budget held, and that had been paid by then. */
  most = 0;
  mostPaid = 0;
  readonly differences: string[] = [];
  #budget: number | undefined;
  #isRaised = false;
  #spent = 0;
  #paid = 0;
  readonly #jobs = new Map<number, number>();
  readonly #inputs: number[] = [];
  /** The sessions of calls of the model, and what each session has paid since its last end. */
  readonly #calls = new Map<string, string>();
  readonly #open = new Map<string, number>();
  readonly #coordinator: string;

  constructor(
    private readonly project: string,
    private readonly price: Price,
  ) {
    this.#coordinator = coordinatorOf(project)[1];
  }

  /** Adds a frame, and compares with what the project states in it. */
  add(seq: number, records: readonly JournalRecord[]): void {
    this.frames++;
    let stated: string | undefined;
    for (const record of records) {
      this.#take(record);
      if (record.kind !== 'fact' || record.name !== 'specialists/Budget@1') continue;
      const { budget, spent, reserved } = record.value as unknown as Stated;
      this.#isRaised ||= this.#budget !== undefined && budget.amount !== this.#budget;
      this.#budget = budget.amount;
      stated = `spent ${spent.micro_money}, reserved ${reserved}`;
      this.#note(spent.micro_money + reserved);
    }
    const own = `spent ${this.#spent}, reserved ${this.#reserved()}`;
    this.#note(this.#spent + this.#reserved());
    if (!this.#isRaised) this.mostPaid = Math.max(this.mostPaid, this.#paid);
    if (this.#budget !== undefined && this.#paid > this.#budget)
      this.differences.push(`frame ${seq}: paid ${this.#paid}`);
    if (stated !== undefined && stated !== own)
      this.differences.push(`frame ${seq}: the ledger ${own}; stated ${stated}`);
  }

  #note(total: number): void {
    if (!this.#isRaised) this.most = Math.max(this.most, total);
    else if (total > (this.#budget ?? 0)) this.differences.push(`${total} of ${this.#budget}`);
  }

  #take(record: JournalRecord): void {
    if (record.kind === 'effect' && record.name.startsWith('llm.generate@')) {
      this.#calls.set(record.effect, record.plan[1]);
    } else if (record.kind === 'receipt') this.#pay(record.effect, record.receipt.usage);
    else if (record.kind === 'event') this.#event(record.to, record.event.name, record.event.value);
  }

  #pay(effect: string, usage: { readonly tokens_in?: number; readonly tokens_out?: number } | undefined): void {
    const session = this.#calls.get(effect);
    if (session === undefined) return;
    const { tokens_in = 0, tokens_out = 0 } = usage ?? {};
    const cost = this.price.in * tokens_in + this.price.out * tokens_out;
    this.#paid += cost;
    this.#open.set(session, (this.#open.get(session) ?? 0) + cost);
  }

  #event([, at]: Address, name: string, value: unknown): void {
    if (name === 'work/Begin@1') this.#jobBegins(value as Begin);
    else if (name === 'aos.agent/AgentAdopted@1' && at === this.#coordinator) this.#inputComes(value as Adopted);
    else if (at !== this.project) return;
    else if (name === 'work/JobChanged@1') this.#jobChanges(value as Changed);
    else if (name === 'aos.agent/ChildNotice@1') this.#runEnds(value as Notice);
  }

  #jobBegins({ n, details }: Begin): void {
    this.jobs++;
    this.#jobs.set(n, details.budget?.amount ?? 0);
  }

  #inputComes({ config: { limits } }: Adopted): void {
    const { max_micro_money: limit = 0 } = limits;
    this.#inputs.push(limit === NOTHING_LEFT ? 0 : limit);
  }

  #jobChanges({ n, status, session }: Changed): void {
    if (!ENDED.includes(status)) return;
    this.#jobs.delete(n);
    if (session !== undefined) this.#settle(session);
  }

  #runEnds({ news }: Notice): void {
    if (news.kind !== 'settled') return;
    this.#inputs.shift();
    this.#settle(this.#coordinator);
  }

  #settle(session: string): void {
    this.#spent += this.#open.get(session) ?? 0;
    this.#open.delete(session);
  }

  #reserved(): number {
    return [...this.#jobs.values(), ...this.#inputs].reduce((sum, one) => sum + one, 0);
  }
}

interface Stated {
  readonly budget: { readonly amount: number };
  readonly spent: { readonly micro_money: number };
  readonly reserved: number;
}

interface Begin {
  readonly n: number;
  readonly details: { readonly budget?: { readonly amount: number } };
}

interface Adopted {
  readonly config: { readonly limits: { readonly max_micro_money?: number } };
}

interface Changed {
  readonly n: number;
  readonly status: string;
  readonly session?: string;
}

interface Notice {
  readonly news: { readonly kind: string };
}
