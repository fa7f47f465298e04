/**
 * An auditor: reads a journal and holds it to what rights, accounts and effects promise. It shares no code with the
 * kernel that it judges, and believes no leaf: what may be done and what is left it keeps by plain sets and sums.
 */
import type { Address, JournalRecord, Receipt } from '@reprise/contracts';

type Frame = readonly JournalRecord[];
type Of<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>;

/** An effect as the auditor knows it. */
export interface Audited {
  readonly cell: string;
  /** Where it was emitted. */
  readonly seq: number;
  /** The generation of the cell that emitted it. */
  readonly inc: number;
  /** The cell that settles it. */
  readonly judge: string | null;
  readonly name: string;
  readonly tool: string;
  readonly tokens: number;
  readonly guarantee: string;
  state: 'open' | 'asked' | 'parked' | 'settled';
  attempts: number;
  /** How it was settled; null while it is open. */
  status: Receipt['status'] | null;
  /** What is reserved, and on which account. */
  reserved: { readonly account: string; readonly tokens: number } | undefined;
  /** What was booked before its last word: corrected once, by its adapter while that is awaited, else by anybody. */
  owed: { readonly account: string; readonly tokens: number; readonly by: 'adapter' | 'anybody' } | undefined;
  /** Its adapter may still answer. */
  awaited: boolean;
}

/** An account by plain sums of its one unit. */
export interface Sums {
  readonly parent: string | null;
  limit: number;
  spent: number;
  reserved: number;
}

/** A side of a principal's rights: which tools, null for any, and until when. */
interface Side {
  readonly tools: ReadonlySet<string> | null;
  readonly expires: number | null;
}

interface Reserved {
  /** Null: not narrowed. */
  exercise: Side | null;
  /** Null: what it may do itself. */
  grant: Side | null;
  account: string | null;
  /** What cells above it and the operator hold it to, by granter. */
  holds: ReadonlyMap<string, Side>;
}

/** A cell by its name: how many stood there before, whether one does, and who made it. */
interface Life {
  inc: number;
  live: boolean;
  parent: { readonly cell: string; readonly inc: number } | null;
}

const CELL = 'cell:lab/Cell@1/';

const NOTHING_SET: Reserved = { exercise: null, grant: null, account: null, holds: new Map() };

/** The limit of an account that a fork was given nothing for: not even what costs nothing is charged to it. */
const CLOSED = -1;

/** Where a world was forked, of what, and what it may do. */
interface Fork {
  readonly mode: 'dry' | 'live';
  /** Its own first frame. */
  readonly seq: number;
  readonly original: Auditor;
}

/** What a journal came to. */
export interface Findings {
  readonly frames: number;
  readonly effects: number;
  readonly refused: number;
  readonly started: number;
  readonly late: number;
  readonly revoked: number;
  /** Settled by a cell. */
  readonly judged: number;
  /** Lost their chain, for another cell stood in the place of one. */
  readonly orphaned: number;
  /** Settled where the world was forked. */
  readonly cut: number;
  /** Answered in a dry fork by what the original got. */
  readonly given: number;
  /** Holds that were set. */
  readonly held: number;
  /** Cells that failed. */
  readonly failed: number;
}

/** What a fork was made of, and what its maker gave it. */
export interface Origin {
  /** The original, as it was then. */
  readonly of: Auditor;
  /** Of a live fork: the tools that it was granted; null for nothing at all. */
  readonly tools: readonly string[] | null;
  /** Of a live fork: the limit of each account; null for no budget. */
  readonly tokens: number | null;
}

/** Forks by the number of their own first frame. */
export type Origins = ReadonlyMap<number, Origin>;

/** Audits a journal frame by frame. */
export class Auditor {
  readonly effects = new Map<string, Audited>();
  readonly accounts = new Map<string, Sums>();
  readonly #rights = new Map<string, Reserved>();
  readonly #lives = new Map<string, Life>();
  readonly #counts = {
    frames: 0,
    effects: 0,
    refused: 0,
    started: 0,
    late: 0,
    revoked: 0,
    judged: 0,
    orphaned: 0,
    cut: 0,
    given: 0,
    held: 0,
    failed: 0,
  };
  /** What all rights begin from. */
  #root: Side | null = null;
  /** What the world is since it was forked last. */
  #fork: Fork | undefined;
  /** The receipts of the original that were given, each once. */
  readonly #given = new Set<string>();
  /** Rights or accounts were set: before, everything is permitted to everybody. */
  #governed = false;

  constructor(private readonly origins: Origins = new Map()) {}

  /** What there was to see so far. */
  get findings(): Findings {
    return { ...this.#counts };
  }

  /** Takes in the next frame. @throws Error when it breaks a promise */
  read(frame: Frame): void {
    const [ingress, ...rest] = frame;
    if (ingress === undefined) throw new Error('a frame without records');
    const { seq, at } = ingress as Of<'request'>;
    const before = new Set([...this.effects].filter(([, { state }]) => state === 'settled').map(([id]) => id));
    this.#told = undefined;
    this.#ingress(ingress, rest, at);
    for (const record of rest) this.#derived(record, ingress, at);
    this.#counts.frames++;
    // Rights that end by their time end what is open when their timer fires; until then only nothing more starts.
    const ended = ingress.kind === 'timer' && ingress.name === '~rights' ? at : null;
    for (const [id, effect] of this.effects) {
      if (effect.state === 'settled') continue;
      // What lost its chain because another cell stands there ends when it is next asked for.
      const lost = this.#chainOf(effect.cell, effect.inc) === undefined;
      this.#must(lost || this.#may(effect, effect.tool, ended), `${id} is open and not permitted after frame ${seq}`);
      this.#must(!before.has(id), `${id} came back`);
    }
  }

  #ingress(ingress: JournalRecord, rest: readonly JournalRecord[], at: number): void {
    if (ingress.kind === 'command') return this.#command(ingress, rest);
    if (ingress.kind === 'request') this.#request(ingress);
    if (ingress.kind === 'attempt') {
      // The gate may end it instead of arming it.
      const refused = rest.some((record) => record.kind === 'settled' && record.effect === ingress.effect);
      if (!refused) this.#arm(ingress.effect, ingress.attempt, at);
    }
    if (ingress.kind === 'deferred') this.#effect(ingress.effect).state = 'parked';
    if (ingress.kind === 'receipt') this.#receipt(ingress, rest);
    if (ingress.kind === 'fork') this.#beginFork(ingress, rest);
  }

  /** What is open is settled, and nothing of it awaited; in a live fork rights and money are those of the poorer world. */
  #beginFork({ seq, mode, settled, accounts }: Of<'fork'>, rest: readonly JournalRecord[]): void {
    const origin = this.origins.get(seq);
    if (origin === undefined) throw new Error(`nobody knows of a fork at ${seq}`);
    const { of: original, tools, tokens } = origin;
    const open = [...this.effects].filter(([, { state }]) => state !== 'settled').map(([id]) => id);
    this.#must(sameNames(open, settled), 'a fork settles something else than what is open');
    for (const effect of this.effects.values()) {
      effect.awaited = false;
      if (effect.owed?.by === 'adapter') effect.owed = undefined;
    }
    for (const [id, receipt] of settled) this.#cut(id, receipt, original.#effect(id), rest);
    this.#fork = { mode, seq, original };
    this.#given.clear();
    if (mode === 'dry') return;
    this.#governed = true;
    this.#root = [this.#root, original.#root, { tools: new Set(tools ?? []), expires: null }].reduce(meet);
    for (const [holder, theirs] of original.#rights) this.#meetRights(holder, theirs);
    this.#must(sameNames(original.accounts.keys(), accounts), 'a fork has other accounts');
    for (const [name, theirs] of original.accounts) {
      const own = this.accounts.get(name) ?? { parent: theirs.parent, spent: 0, reserved: 0 };
      this.accounts.set(name, { ...own, limit: tokens ?? CLOSED, spent: Math.max(own.spent, theirs.spent) });
    }
  }

  /** By what the original got; when it got nothing, nothing happened, or nobody knows. */
  #cut(id: string, receipt: Receipt, original: Audited, rest: readonly JournalRecord[]): void {
    const got = original.status ?? (original.attempts > 0 ? 'outcome_unknown' : 'cancelled');
    this.#must(
      receipt.status === got,
      `${id} is settled as ${receipt.status} by the fork, and the original got ${got}`,
    );
    const said = rest.find((record) => record.kind === 'settled' && record.effect === id) as Of<'settled'> | undefined;
    this.#must(said?.by === 'fork' && said.status === receipt.status, `${id} is not settled by the fork`);
    this.#settle(this.#effect(id), receipt, false, this.#hasWorked(this.#effect(id), receipt.status));
    this.#counts.cut++;
  }

  #meetRights(holder: string, theirs: Reserved): void {
    const own = this.#rights.get(holder) ?? NOTHING_SET;
    const handsOn = own.grant !== null || theirs.grant !== null;
    this.#rights.set(holder, {
      exercise: meet(own.exercise, theirs.exercise),
      grant: handsOn ? meet(own.grant ?? own.exercise, theirs.grant ?? theirs.exercise) : null,
      account: theirs.account ?? own.account,
      holds: new Map(
        [...new Set([...own.holds.keys(), ...theirs.holds.keys()])].map((granter) => [
          granter,
          meet(own.holds.get(granter) ?? null, theirs.holds.get(granter) ?? null) as Side,
        ]),
      ),
    });
  }

  #command({ principal, command: { name, value } }: Of<'command'>, rest: readonly JournalRecord[]): void {
    if (name === 'sys/SetAccount@1' || name === 'sys/SetRights@1') this.#governed = true;
    if (name === 'sys/SetAccount@1') {
      const known = this.accounts.get(value.account);
      const limit = value.limits.tokens ?? Number.POSITIVE_INFINITY;
      this.accounts.set(value.account, { spent: 0, reserved: 0, ...known, parent: value.parent, limit });
    } else if (name === 'sys/SetRights@1') {
      const rights = { ...(this.#rights.get(value.holder) ?? NOTHING_SET) };
      if (value.exercise !== undefined) rights.exercise = sideOf(value.exercise);
      if (value.grant !== undefined) rights.grant = sideOf(value.grant);
      if (value.account !== undefined) rights.account = value.account;
      if (value.hold !== undefined) rights.holds = this.#held(rights, value, principal);
      this.#rights.set(value.holder, rights);
    } else if (name === 'sys/Decide@1' && value.decision.approve) {
      const effect = this.#effect(value.effect);
      this.#must(effect.state === 'asked', `${value.effect} was approved and did not ask`);
      const refused = rest.some((record) => record.kind === 'settled' && record.effect === value.effect);
      effect.state = 'open';
      if (!refused) this.#hold(effect, this.#accountOf(effect.cell, effect.inc));
    } else if (name === 'sys/Settle@1') {
      const settled = rest.find((record) => record.kind === 'settled' && record.effect === value.effect);
      const effect = this.#effect(value.effect);
      if (settled === undefined) this.#report(effect, value.outcome.usage?.tokens_out, 'anybody');
      else this.#told = { id: value.effect, tokens: value.outcome.usage?.tokens_out };
    }
  }

  /** A hold is set by who stands above its holder, and lifted by its granter and who stands above that. */
  #held({ holds }: Reserved, { holder, hold, granter }: SetHold, by: string): ReadonlyMap<string, Side> {
    const of = hold === null ? (granter ?? by) : by;
    const below = hold === null ? of : holder; // what stands above this one may
    const isOver = by === 'operator' || by === below || (below !== 'operator' && this.#isAbove(by, below));
    this.#must(hold === null || by !== holder, `${by} set a hold on itself`);
    this.#must(isOver, `${by} ${hold === null ? 'lifted' : 'set'} a hold of ${of} on ${holder}`);
    const present = this.#granterOf(of);
    const all = [...holds.keys()].filter((name) => name.startsWith(`${of}@`));
    this.#must(
      by === 'operator' || hold !== null || all.length === 0 || all.includes(present),
      `${by} lifted a hold of a ${of} that has ended`,
    );
    const after = new Map(holds);
    if (hold === null && by === 'operator') for (const name of all) after.delete(name);
    else if (hold == null) after.delete(present);
    else after.set(present, sideOf(hold) as Side);
    if (hold !== null) this.#counts.held++;
    return after;
  }

  /** A granter in its present generation: a later cell at the address is another one. */
  #granterOf(of: string): string {
    return `${of}@${of.startsWith(CELL) ? (this.#lives.get(of.slice(CELL.length))?.inc ?? 0) : 0}`;
  }

  #isAbove(by: string, holder: string): boolean {
    const [above, below] = [by, holder].map((name) => name.slice(CELL.length)) as [string, string];
    const { inc } = this.#life(below);
    return this.#chainOf(below, inc)?.slice(1).includes(above) === true;
  }

  /** What the settlement that is under way reports. */
  #told: { readonly id: string; readonly tokens: number | undefined } | undefined;

  #receipt(record: Of<'receipt'>, rest: readonly JournalRecord[]): void {
    const { effect: id, attempt, receipt, unanswered } = record;
    const effect = this.#effect(id);
    if (this.#fork?.mode === 'dry') this.#answeredDry(effect, record);
    this.#must(effect.attempts === attempt, `a receipt of ${id} for another attempt`);
    if (effect.state !== 'settled') return this.#settle(effect, receipt, unanswered === true);
    this.#must(effect.awaited, `${id} was settled and nothing of it is awaited`);
    this.#must(
      rest.some(({ kind }) => kind === 'late'),
      `what came late of ${id} is not recorded`,
    );
    this.#must(
      !rest.some(({ kind }) => kind === 'event' || kind === 'plan_ended' || kind === 'effect'),
      `what came late of ${id} moved something`,
    );
    effect.awaited = false;
    this.#report(effect, receipt.usage?.tokens_out, 'adapter');
  }

  /** A dry fork has no outside: what it does not know from the original is denied, and nothing is given twice. */
  #answeredDry({ cell, name, tool, tokens }: Audited, { effect, receipt, recorded }: Of<'receipt'>): void {
    if (recorded === undefined) return this.#must(receipt.status === 'denied', `${effect} is answered in a dry fork`);
    const { original: world, seq } = this.#fork as Fork;
    const original = world.effects.get(recorded);
    const same = original?.cell === cell && original.name === name && original.tool === tool;
    this.#must(same && original.tokens === tokens, `${effect} gets what another effect got`);
    this.#must(original !== undefined && original.seq >= seq, `${recorded} was there before the cut`);
    this.#must(original?.status === receipt.status, `${effect} gets something else than the original got`);
    this.#must(!this.#given.has(recorded), `${recorded} is given twice`);
    this.#given.add(recorded);
    this.#counts.given++;
  }

  /** Who asks a cell that is not there makes it, below nobody; a cell that is told to end ends. */
  #request({ to: [, key], event }: Of<'request'>): void {
    if (event.name === 'sys/Revive@1') return;
    this.#made(key, null);
    const { steps } = event.value as unknown as { steps: readonly (readonly [string, ...unknown[]])[] };
    for (const [step, name, value] of steps) {
      if (step === 'end') this.#life(key).live = false;
      if (step !== 'kernel' || name !== 'sys/Settle@1') continue;
      const { effect, outcome } = value as { effect: string; outcome: { usage?: { tokens_out: number } } };
      this.#told = { id: effect, tokens: outcome.usage?.tokens_out };
    }
  }

  #derived(record: JournalRecord, ingress: JournalRecord, at: number): void {
    if (record.kind === 'event' && record.from !== null) this.#born(record.to, record.from as unknown as Address);
    if (record.kind === 'effect') this.#emit(record, ingress as Of<'request'>);
    if (record.kind === 'denial') this.#counts.refused++;
    if (record.kind === 'fault') this.#counts.failed++;
    if (record.kind === 'attempt') this.#arm(record.effect, record.attempt, at);
    if (record.kind === 'late') this.#late(record, ingress);
    if (record.kind === 'settled' && this.effects.has(record.effect)) this.#settled(record, ingress);
  }

  /** A cell whose word comes too late says so in an event, and what it reports counts like anybody's. */
  #late({ effect: id }: Of<'late'>, ingress: JournalRecord): void {
    this.#counts.late++;
    if (ingress.kind === 'request' && this.#told?.id === id)
      this.#report(this.#effect(id), this.#told.tokens, 'anybody');
  }

  #settled({ effect: id, status, by }: Of<'settled'>, ingress: JournalRecord): void {
    const effect = this.#effect(id);
    if (by === 'fork') return; // with the fork's own record
    this.#must(effect.state !== 'settled', `${id} is settled twice`);
    if (by === 'revoked') this.#counts.revoked++;
    if (by === 'cell') this.#counts.judged++;
    if (this.#chainOf(effect.cell, effect.inc) === undefined) this.#counts.orphaned++;
    const told = this.#told?.id === id ? this.#told.tokens : undefined;
    const over = ingress.kind === 'attempt' && ingress.effect === id;
    const running = effect.attempts > 0 && effect.state === 'open' && !over;
    const usage = told === undefined ? {} : { usage: { tokens_out: told } };
    const heard = by !== 'gate' && this.#hasWorked(effect, status);
    this.#settle(effect, { adapter: 'kernel', status, attempts: 0, ...usage }, running, heard);
  }

  /** A cell that settles it may have worked at it, unless it never heard of it. */
  #hasWorked({ judge }: Audited, status: Receipt['status']): boolean {
    return judge !== null && status !== 'cancelled' && status !== 'denied';
  }

  #emit(record: Of<'effect'>, { seq, at }: Of<'request'>): void {
    const { effect: id, plan, name, params, guarantee, approval, reserved } = record;
    const { tool, tokens, on } = params as unknown as { tool: string; tokens: number; on: Address };
    const cell = plan[1];
    const { inc } = this.#life(cell);
    const judge = name === 'lab.judged@1' ? on[1] : null;
    this.#must(!this.effects.has(id), `${id} is emitted twice`);
    this.#must(this.#may({ cell, inc }, tool, at), `${cell} was allowed ${tool}`);
    const state = approval === undefined ? 'open' : 'asked';
    const rest = { seq, status: null, reserved: undefined, owed: undefined, awaited: false, attempts: 0 };
    const effect: Audited = { cell, inc, judge, name, tool, tokens, guarantee, state, ...rest };
    this.effects.set(id, effect);
    this.#counts.effects++;
    this.#must(
      reserved?.account === (approval === undefined ? (this.#accountOf(cell, inc) ?? undefined) : undefined),
      'reserved',
    );
    if (approval === undefined) this.#hold(effect, this.#accountOf(cell, inc));
  }

  #arm(id: string, attempt: number, at: number): void {
    const effect = this.#effect(id);
    this.#must(effect.state === 'open', `${id} starts while it is ${effect.state}`);
    this.#must(this.#fork?.mode !== 'dry', `${id} starts in a dry fork`);
    this.#must(effect.judge === null, `${id} starts, and a cell settles it`);
    this.#must(attempt === effect.attempts + 1, `${id} skips an attempt`);
    this.#must(attempt === 1 || effect.guarantee === 'idempotent', `${id} starts twice`);
    this.#must(this.#may(effect, effect.tool, at), `${id} starts and is not permitted`);
    effect.attempts = attempt;
    this.#counts.started++;
  }

  #hold(effect: Audited, account: string | null): void {
    if (account === null) return;
    for (const one of this.#chain(account)) {
      this.#must(one.spent + one.reserved + effect.tokens <= one.limit, `${effect.cell} got more than was left`);
      one.reserved += effect.tokens;
    }
    effect.reserved = { account, tokens: effect.tokens };
  }

  #settle(effect: Audited, { status, usage }: Receipt, awaited: boolean, heard = false): void {
    const { reserved } = effect;
    effect.state = 'settled';
    effect.status = status;
    effect.awaited = awaited;
    effect.reserved = undefined;
    if (reserved === undefined) return;
    const unknown = effect.attempts === 0 && status !== 'ok' && !heard ? 0 : reserved.tokens;
    const tokens = usage?.tokens_out ?? unknown;
    for (const one of this.#chain(reserved.account)) {
      one.reserved -= reserved.tokens;
      one.spent += tokens;
    }
    if (awaited || usage === undefined) {
      effect.owed = { account: reserved.account, tokens, by: awaited ? 'adapter' : 'anybody' };
    }
  }

  #report(effect: Audited, tokens: number | undefined, by: 'adapter' | 'anybody'): void {
    const { owed } = effect;
    if (owed?.by !== by || tokens === undefined) return;
    effect.owed = undefined;
    for (const one of this.#chain(owed.account)) one.spent += tokens - owed.tokens;
  }

  #born([, key]: Address, [, from]: Address): void {
    if (key !== from) this.#made(key, { cell: from, inc: this.#life(from).inc });
  }

  #made(cell: string, parent: Life['parent']): void {
    const before = this.#lives.get(cell);
    if (before?.live !== true)
      this.#lives.set(cell, { inc: before === undefined ? 0 : before.inc + 1, live: true, parent });
  }

  #life(cell: string): Life {
    const life = this.#lives.get(cell);
    if (life === undefined) throw new Error(`${cell} was never made`);
    return life;
  }

  /** A cell and those above it; undefined when another stands where one of them stood. */
  #chainOf(cell: string, inc: number): readonly string[] | undefined {
    const chain: string[] = [];
    for (let at: Life['parent'] = { cell, inc }; at !== null; at = this.#life(at.cell).parent) {
      if (this.#life(at.cell).inc !== at.inc) return undefined;
      chain.push(at.cell);
    }
    return chain;
  }

  /** Whether the rights of the cell of a name permit a tool. */
  may(cell: string, tool: string, at: number): boolean {
    return this.#isPermitted({ cell, inc: this.#life(cell).inc }, tool, at);
  }

  /** Whether a principal exists under a name. */
  lives(cell: string): boolean {
    return this.#lives.get(cell)?.live === true;
  }

  #may(who: { readonly cell: string; readonly inc: number }, tool: string, at: number | null): boolean {
    return !this.#governed || this.#isPermitted(who, tool, at);
  }

  /** Whether a cell may use a tool: its own side, what each above it may hand on, and what all begin from. */
  #isPermitted(
    { cell, inc }: { readonly cell: string; readonly inc: number },
    tool: string,
    at: number | null,
  ): boolean {
    const chain = this.#chainOf(cell, inc);
    if (chain === undefined) return false;
    const handedOn = chain.slice(1).map((above) => this.#of(above).grant ?? this.#of(above).exercise);
    const holds = chain.flatMap((one) => [...this.#of(one).holds.values()]);
    return [this.#of(cell).exercise, ...handedOn, ...holds, this.#root].every((side) => permits(side, tool, at));
  }

  #accountOf(cell: string, inc: number): string | null {
    for (const at of this.#chainOf(cell, inc) ?? []) {
      const { account } = this.#of(at);
      if (account !== null) return account;
    }
    return null;
  }

  #of(cell: string): Reserved {
    return this.#rights.get(`${CELL}${cell}`) ?? NOTHING_SET;
  }

  #chain(account: string): Sums[] {
    const chain: Sums[] = [];
    for (let name: string | null = account; name !== null; name = (this.accounts.get(name) as Sums).parent) {
      chain.push(this.accounts.get(name) as Sums);
    }
    return chain;
  }

  #effect(id: string): Audited {
    const effect = this.effects.get(id);
    if (effect === undefined) throw new Error(`${id} was never emitted`);
    return effect;
  }

  #must(holds: boolean, what: string): void {
    if (!holds) throw new Error(what);
  }
}

interface SetHold {
  readonly holder: string;
  readonly hold?: Capability | null;
  readonly granter?: string;
}

type Capability = { readonly may: Readonly<Record<string, readonly string[]>>; readonly expires_at?: number };

function sideOf(capability: Capability | null): Side | null {
  if (capability === null) return null;
  const { tool, effect } = capability.may;
  const narrowed = effect?.length === 0 ? [] : tool; // without any effect there is no tool to be used
  return { tools: narrowed === undefined ? null : new Set(narrowed), expires: capability.expires_at ?? null };
}

/** @param at when; null: whatever the time */
function permits(side: Side | null, tool: string, at: number | null): boolean {
  if (side === null) return true;
  if (at !== null && side.expires !== null && at >= side.expires) return false;
  return side.tools?.has(tool) !== false;
}

function meet(a: Side | null, b: Side | null): Side | null {
  if (a === null || b === null) return a ?? b;
  const [some, others] = [a.tools, b.tools];
  const tools =
    some === null || others === null ? (some ?? others) : new Set([...some].filter((one) => others.has(one)));
  const expires = a.expires === null || b.expires === null ? (a.expires ?? b.expires) : Math.min(a.expires, b.expires);
  return { tools, expires };
}

function sameNames(some: Iterable<string>, pairs: readonly (readonly [string, unknown])[]): boolean {
  return (
    [...some].sort().join() ===
    pairs
      .map(([name]) => name)
      .sort()
      .join()
  );
}
