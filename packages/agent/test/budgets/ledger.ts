/**
 * A ledger of a tree of sessions, kept from its journal alone: what each run was given, what the calls below it have used,
 * and what those that are open may use. It shares no code with the reducer.
 */
import type { JournalRecord, LlmGenerateParams, Value } from '@reprise/contracts';
import type { Frame } from '../histories/bare-world.js';

type Fields = Readonly<Record<string, Value>>;

/** Tokens and micro-dollars. */
export interface Sums {
  readonly tokens: number;
  readonly money: number;
}

/** What the root's runs are given, and what tokens cost in millionths of a micro-dollar; without a limit: Infinity. */
export interface Terms {
  readonly given: Sums;
  readonly price: { readonly in: number; readonly out: number };
}

/** A model call. */
export interface Call {
  readonly session: string;
  readonly prompt: number;
  readonly answer: number;
  readonly reserve: Sums;
  readonly summary: boolean;
  readonly accounts: readonly Account[];
  /** What it counts for now: its reserve while it is open or nobody told, then what it used. */
  counts: Sums;
}

interface Sized {
  readonly config?: { readonly system_bytes?: number; readonly tools_bytes?: number };
  readonly command_id?: string;
  readonly parts?: readonly { readonly bytes?: number }[];
  readonly command?: { readonly parts?: readonly { readonly bytes?: number }[] };
}

/** A run of the root, or what a run gave a child. */
interface Account {
  readonly name: string;
  given: Sums;
  readonly calls: Set<Call>;
}

const NOTHING: Sums = { tokens: 0, money: 0 };

/** Keeps the books of one tree. */
export class Ledger {
  launches = 0;
  readonly calls = new Map<string, Call>();
  readonly #accounts = new Map<string, Account>();
  /** The account that pays for an input, by session and command; for a run, by session and number. */
  readonly #inputs = new Map<string, Account>();
  readonly #runs = new Map<string, readonly Account[]>();
  readonly #current = new Map<string, number>();
  readonly #paidBy = new Map<string, string>();
  readonly #readings = new Map<string, number>();
  /** Bytes: of each session's instructions and tools, of what is said by session and command, and said since the reading. */
  readonly #definitions = new Map<string, number>();
  readonly #sizes = new Map<string, number>();
  readonly #unread = new Map<string, number>();

  constructor(
    private readonly root: string,
    private readonly terms: Terms,
  ) {}

  /** Reads a frame. @throws Error when a call is begun for which too little is left */
  read({ records }: Pick<Frame, 'records'>): void {
    for (const record of records) this.#record(record);
  }

  /** A call ended: what it used; undefined when nobody told and it may have used all. */
  ended(effect: string, used: Sums | undefined, reading: number | undefined): void {
    const call = this.calls.get(effect);
    if (call === undefined) return;
    if (used !== undefined)
      call.counts = {
        tokens: Math.min(used.tokens, call.reserve.tokens),
        money: Math.min(used.money, call.reserve.money),
      };
    if (reading === undefined || call.summary) return;
    this.#readings.set(call.session, reading);
    this.#unread.set(call.session, 0);
  }

  #record(record: JournalRecord): void {
    if (record.kind === 'event' || record.kind === 'request') this.#sized(record.to[1], record.event.value);
    if (record.kind === 'event') this.#given(record);
    if (record.kind === 'fact' && record.from !== null) this.#fact(record.from[1], record.name, record.value as Fields);
    if (record.kind === 'effect' && record.name === 'llm.generate@2')
      this.#launched(record.effect, record.plan[1], record.params as unknown as LlmGenerateParams);
  }

  /** How large something is that a model will be shown. */
  #sized(session: string, value: Value): void {
    const { config, command_id, parts, command } = value as unknown as Sized;
    if (config !== undefined) this.#definitions.set(session, (config.system_bytes ?? 0) + (config.tools_bytes ?? 0));
    const bytes = (parts ?? command?.parts ?? []).reduce((sum, part) => sum + (part.bytes ?? 0), 0);
    if (command_id !== undefined) this.#sizes.set(`${session} ${command_id}`, bytes);
  }

  /** A run gives a child something with an input. */
  #given({ to, event, from }: JournalRecord & { kind: 'event' }): void {
    const { allowance, command_id } = event.value as { allowance?: Fields; command_id?: string };
    if (event.name !== 'aos.agent/UserInput@1' || from === null) return;
    if (allowance === undefined) return;
    const name = `${from[1]}/${allowance.run} to ${to[1]}`;
    const bound = (amount: unknown) => (amount === null ? Number.POSITIVE_INFINITY : Number(amount));
    const more = { tokens: bound(allowance.tokens), money: bound(allowance.micro_money) };
    const known = this.#accounts.get(name);
    if (known === undefined) this.#accounts.set(name, { name, given: more, calls: new Set() });
    else known.given = plus(known.given, more);
    const account = this.#accounts.get(name);
    if (account !== undefined) this.#inputs.set(`${to[1]} ${command_id}`, account);
    this.#paidBy.set(name, `${from[1]}/${allowance.run}`);
  }

  #fact(session: string, name: string, value: Fields): void {
    if (name === 'aos.agent/InputAccepted@1') {
      const paid = this.#inputs.get(`${session} ${value.command_id}`);
      if (paid !== undefined) this.#runs.set(`${session}/${value.run}`, [paid, ...this.#above(paid)]);
    }
    if (name === 'aos.agent/TurnStarted@1' && value.command_id !== undefined) {
      const said = this.#sizes.get(`${session} ${value.command_id}`) ?? 0;
      this.#unread.set(session, (this.#unread.get(session) ?? 0) + said);
    }
    if (name === 'aos.agent/LifecycleChanged@1') this.#current.set(session, Number(value.run));
  }

  #above({ name }: Account): readonly Account[] {
    return this.#accountsOf(this.#paidBy.get(name) ?? '');
  }

  /** The accounts that a run is on. A run of the root is an account of its own. */
  #accountsOf(run: string): readonly Account[] {
    const known = this.#runs.get(run);
    if (known !== undefined || !run.startsWith(`${this.root}/`)) return known ?? [];
    const own: Account = { name: run, given: this.terms.given, calls: new Set() };
    this.#runs.set(run, [own]);
    return [own];
  }

  /** At least so many tokens: what the last call read, or instructions and tools before the first, and what came since. */
  #prompt(session: string): number {
    const reading = this.#readings.get(session);
    const bytes =
      (this.#unread.get(session) ?? 0) + (reading === undefined ? (this.#definitions.get(session) ?? 0) : 0);
    return Math.max(1, (reading ?? 0) + Math.ceil(bytes / 4));
  }

  #launched(effect: string, session: string, { max_tokens, summarise }: LlmGenerateParams): void {
    const accounts = this.#accountsOf(`${session}/${this.#current.get(session)}`);
    const prompt = this.#prompt(session);
    const answer = max_tokens ?? 0;
    const parts = BigInt(prompt) * BigInt(this.terms.price.in) + BigInt(answer) * BigInt(this.terms.price.out);
    const reserve: Sums = { tokens: prompt + answer, money: Math.max(1, Number((parts + 999_999n) / 1_000_000n)) };
    const call: Call = {
      session,
      prompt,
      answer,
      reserve,
      summary: summarise !== undefined,
      accounts,
      counts: reserve,
    };
    this.calls.set(effect, call);
    this.launches++;
    for (const account of accounts) {
      account.calls.add(call);
      const sum = [...account.calls].map(({ counts }) => counts).reduce(plus, NOTHING);
      for (const unit of ['tokens', 'money'] as const)
        if (sum[unit] > account.given[unit])
          throw new Error(
            `${account.name}: ${sum[unit]} ${unit} of ${account.given[unit]} when ${session} asked its model`,
          );
    }
    const limited = accounts.some(({ given }) => Number.isFinite(given.tokens) || Number.isFinite(given.money));
    if (limited && max_tokens === undefined) throw new Error(`${session}: an answer without a bound, under a limit`);
  }
}

function plus(a: Sums, b: Sums): Sums {
  return { tokens: a.tokens + b.tokens, money: a.money + b.money };
}
