/** The `ctx` of one delivery: it collects the requests of the reducer, in order, and executes nothing. */
import {
  ACTOR_BYTES_MAX,
  type Actor,
  type Address,
  actor as actorSchema,
  type CommandName,
  type CommandValue,
  type FaultCode,
  isWhole,
  KERNEL_COMMANDS,
  type KernelCommand,
  noticeTag,
  type PlanAddress,
  type Ref,
  type Sender,
  type Value,
  wellFormed,
} from '@reprise/contracts';
import { byteLength, copyValue, encode, inKeyOrder, type NormalValue, toHex } from '../../codec/index.js';
import {
  cellAddress,
  type EventSendOptions,
  type Intent,
  type PlanDefinition,
  planFor,
  type ReducerContext,
  type ReducerDefinition,
  reducerFor,
  type Table,
} from '../../define/index.js';
import { check, compileSchema, type SchemaNode } from '../../schema/index.js';
import { type EventDelivery, type FrameFold, fittedGiven, normalGiven } from '../frame/frame-fold.js';
import { CANCEL_GRACE_MS, FRAME_VALUE_BYTES_MAX, TABLE_WRITE_BYTES, VALUE_BYTES_EXTRA } from '../leaf/bounds.js';
import { DeliveryEntropy } from '../leaf/identity.js';
import { isAddress, logKey } from '../leaf/leaf-key.js';
import type { CellLeaf } from '../leaf/leaves.js';
import { OpenLog, type StagedBlob } from '../leaf/log.js';
import { Fault, Rejected } from '../leaf/signals.js';
import { CellTables } from '../table/cell-tables.js';
import { eventNode, unknownEvent } from './event-node.js';

/** The requests of a delivery; they take place when the delivery ends well. */
export type CellOutput =
  | {
      readonly type: 'intent';
      readonly plan: PlanDefinition;
      readonly ordinal: number;
      readonly input: Value;
      readonly bytes: number;
    }
  | {
      readonly type: 'send';
      readonly to: Address;
      readonly name: string;
      readonly value: Value;
      readonly bytes: number;
      readonly answer: AnswerTerms;
    }
  | { readonly type: 'forget'; readonly tag?: string }
  | { readonly type: 'fact'; readonly name: string; readonly value: Value }
  | { readonly type: 'cancel'; readonly ordinal: number; readonly actor?: Actor }
  | { readonly type: 'stop'; readonly ordinal: number; readonly graceMs: number }
  | { readonly type: 'command'; readonly command: KernelCommand; readonly tag?: string };

/** How the sender of an event is answered. */
type AnswerTerms = Pick<EventDelivery, 'reply' | 'quiet' | 'tag' | 'failure'>;

/** A value waits until it is delivered, and counts as long as it does. */
const WAITS = true;

const TIMER_NAME = /^[A-Za-z0-9_.:-]{1,64}$/;
const REJECTION = /^[a-z0-9_./-]{1,64}$/;

/** An actor that a recipe names, as the receipt of a cancelled effect holds it. */
function actorGiven(given: Value): Actor {
  const { success, data } = actorSchema.safeParse(given);
  if (success && byteLength(given) <= ACTOR_BYTES_MAX) return data;
  throw new Fault('value_invalid', `ctx.cancel names no actor of at most ${ACTOR_BYTES_MAX} bytes`);
}

/** Who asked from outside: the plan behind an adapter, and the actor; null for what comes from inside. */
type OutsideOf = Pick<ReducerContext, 'adapter' | 'actor'>;

/** The context of one delivery to one cell. */
export class CellContext implements ReducerContext {
  readonly outputs: CellOutput[] = [];
  readonly staged: StagedBlob[] = [];
  readonly logs = new Map<string, OpenLog>();
  readonly tables: CellTables;
  readonly address: Address;
  readonly sender: Sender;
  readonly adapter: PlanAddress | null;
  readonly actor: Actor | null;
  readonly parent: Address | null;
  readonly caller: Address | null;
  readonly plan: number | null;
  rowKey: string | null = null;
  ended = false;
  #over = false;
  /** Bytes of the values given so far. */
  valueBytes = 0;
  /** Bytes of those that wait: events and the inputs of intents. */
  waitingBytes = 0;
  readonly #entropy: DeliveryEntropy;
  /** The timers before this delivery. */
  readonly #timersBefore: CellLeaf['timers'];
  /** Its timers, once it has set or cleared one. */
  #timers: Map<string, number> | undefined;
  #ord: number;
  #plans: readonly number[];

  constructor(
    private readonly fold: FrameFold,
    private readonly reducer: ReducerDefinition,
    cell: CellLeaf,
    { to, from, adapter, actor }: Pick<EventDelivery, 'to' | 'from'> & OutsideOf,
  ) {
    this.address = own(to);
    this.sender = own(from);
    this.adapter = own(adapter);
    this.actor = actor === null ? null : (copyValue(actor as Value) as Actor);
    this.parent = own(cell.parent);
    this.caller = own(from === null ? null : [from[0], from[1]]);
    this.plan = from?.length === 3 && isSameCell(from, to) ? from[2] : null;
    this.#timersBefore = cell.timers;
    this.#ord = cell.ord;
    this.#plans = cell.plans;
    this.#entropy = new DeliveryEntropy(
      { seed: fold.rules.seed, cell: to, generation: cell.inc, n: cell.n },
      fold.env.hash,
    );
    this.tables = new CellTables(fold, reducer, cell, this.address, {
      inside: () => this.#inside(),
      write: (given, schema) => this.#write(given, schema),
    });
  }

  /** Ends the delivery: a reducer that kept the context gets a fault when it uses it later. */
  close(): void {
    this.#over = true;
  }

  get now(): number {
    return this.fold.at;
  }

  /** The cell's timers after this delivery, in the canonical order of their names. */
  get timers(): CellLeaf['timers'] {
    return this.#timers === undefined ? this.#timersBefore : inKeyOrder(Object.fromEntries(this.#timers));
  }

  /** The next plan's ordinal, and the running plans, after this delivery. */
  get planning(): Pick<CellLeaf, 'ord' | 'plans'> {
    return { ord: this.#ord, plans: this.#plans };
  }

  emit<I>(intent: Intent<I>): number {
    const plan = planFor(this.fold.env.app, intent.plan.name);
    if (plan === undefined) throw new Fault('plan_unknown', `${intent.plan.name} is not a plan of this app`);
    const { value: input, bytes } = this.#checked(plan.input, intent.input, 'intent_invalid', plan.name, WAITS);
    const ordinal = this.#ord++;
    this.#plans = [...this.#plans, ordinal];
    this.outputs.push({ type: 'intent', plan, ordinal, input, bytes });
    return ordinal;
  }

  send(
    to: Address,
    event: { readonly name: string; readonly value: unknown },
    { reply = false, tag, failure }: EventSendOptions = {},
  ): void {
    if (!isAddress(to)) throw new Fault('value_invalid', 'an event is sent to [reducer, key], the key 1 to 256 bytes');
    const { app } = this.fold.env;
    const node = eventNode(app, to, event.name);
    if (node === undefined) {
      this.#counted(event.value, WAITS);
      throw unknownEvent(to, event.name);
    }
    const { value, bytes } = this.#checked(node, event.value, 'event_invalid', event.name, WAITS);
    const answer: AnswerTerms = {
      reply: reply !== false,
      ...(reply === 'refusal' ? { quiet: true } : {}),
      ...tagged(tag),
      ...(failure === undefined ? {} : { failure: requireTag(failure) }),
    };
    this.outputs.push({ type: 'send', to: cellAddress(app, to), name: event.name, value, bytes, answer });
  }

  forget(tag?: string): void {
    this.#inside();
    this.outputs.push({ type: 'forget', ...tagged(tag) });
  }

  takes(to: Address, event: string): boolean {
    this.#inside();
    if (!isAddress(to)) throw new Fault('value_invalid', 'an address is [reducer, key], the key 1 to 256 bytes');
    return reducerFor(this.fold.env.app, to[0])?.events.has(event) === true;
  }

  record(name: string, value: unknown): void {
    const node = this.reducer.facts.get(name);
    if (node === undefined) throw new Fault('fact_invalid', `${this.reducer.name} declares no fact ${name}`);
    const { value: fact } = this.#checked(node, value, 'fact_invalid', name);
    this.outputs.push({ type: 'fact', name, value: fact });
  }

  timer(name: string, at: number): void {
    this.#inside();
    if (typeof name !== 'string' || !TIMER_NAME.test(name) || !isWhole(at)) {
      throw new Fault(
        'timer_invalid',
        `timer ${String(name)} at ${String(at)}: a short plain name and whole milliseconds`,
      );
    }
    this.#ownTimers().set(name, at);
  }

  clearTimer(name: string): void {
    this.#inside();
    this.#ownTimers().delete(name);
  }

  #ownTimers(): Map<string, number> {
    this.#timers ??= new Map(Object.entries(this.#timersBefore));
    return this.#timers;
  }

  cancel(plan: number | 'all', { actor }: { readonly actor?: Actor } = {}): void {
    this.#inside();
    const who = actor === undefined ? {} : { actor: actorGiven(this.#counted(actor).value) };
    const ordinals = plan === 'all' ? this.#plans : this.#plans.filter((ordinal) => ordinal === plan);
    this.#plans = this.#plans.filter((ordinal) => !ordinals.includes(ordinal));
    for (const ordinal of ordinals) this.outputs.push({ type: 'cancel', ordinal, ...who });
  }

  stop(plan: number, options: { readonly graceMs?: number } = {}): void {
    this.#inside();
    const { graceMs = CANCEL_GRACE_MS } = options;
    if (!isWhole(graceMs) || !Number.isSafeInteger(this.now + graceMs)) {
      throw new Fault('timer_invalid', `graceMs is a whole number of milliseconds, not ${String(graceMs)}`);
    }
    if (this.#plans.includes(plan)) this.outputs.push({ type: 'stop', ordinal: plan, graceMs });
  }

  command<N extends CommandName>(name: N, value: CommandValue<N>, { tag }: { readonly tag?: string } = {}): void {
    const node = commandNode(name);
    const given = node === undefined ? this.#counted(value) : this.#checked(node, value, 'value_invalid', name);
    if (node === undefined) throw new Fault('value_invalid', `${String(name)} is no command of the kernel`);
    const command = { name, value: given.value } as unknown as KernelCommand;
    this.outputs.push({ type: 'command', command, ...tagged(tag) });
  }

  append(log: string, item: unknown): void {
    const node = this.reducer.logs.get(log);
    if (node === undefined) throw new Fault('log_unknown', `${this.reducer.name} declares no log ${log}`);
    const { value } = this.#checked(node, item, 'value_invalid', `log ${log}`);
    this.staged.push(...this.#log(log).append(value, this.fold.env.hash));
  }

  logHead(log: string): Ref {
    this.#inside();
    if (!this.reducer.logs.has(log)) throw new Fault('log_unknown', `${this.reducer.name} declares no log ${log}`);
    const { ref, staged } = this.#log(log).head(this.fold.env.hash);
    this.staged.push(...staged);
    return ref;
  }

  table<V = Value>(name: string): Table<V> {
    this.#inside();
    return this.tables.open(name) as Table<V>;
  }

  end(): void {
    this.#inside();
    this.ended = true;
  }

  reject(code: string): never {
    if (typeof code !== 'string' || !REJECTION.test(code))
      throw new Fault('value_invalid', `a rejection's code is a short plain word, not ${String(code)}`);
    throw new Rejected(code);
  }

  hash(value: unknown): string {
    this.#inside();
    return toHex(this.fold.env.hash(encode(normalGiven(value).value)));
  }

  id(label: string): string {
    this.#inside();
    return this.#entropy.id(label);
  }

  random(): number {
    this.#inside();
    return this.#entropy.random();
  }

  /** A log as this delivery sees it; its own copy, written back only when the delivery ends well. */
  #log(name: string): OpenLog {
    const known = this.logs.get(name);
    if (known !== undefined) return known;
    const log = new OpenLog(this.fold.overlay.get(logKey(this.address, name)));
    this.logs.set(name, log);
    return log;
  }

  #inside(): void {
    if (this.#over) throw new Fault('nondeterminism', 'ctx was used after its delivery was over');
  }

  /**
   * The copy of a value, checked against its schema, and what it counts for.
   *
   * @param code of the fault when it does not fit
   * @param name says in the fault what it is
   */
  #checked(node: SchemaNode, given: unknown, code: FaultCode, name: string, waits = false): NormalValue {
    this.#inside();
    const fitted = fittedGiven(node, given);
    const counted = this.#counted(given, waits, fitted);
    if (fitted !== undefined) return counted;
    const checked = check(node, counted.value);
    if (checked.ok) return { value: checked.value, bytes: counted.bytes };
    throw new Fault(code, `${name} ${checked.path}: expected ${checked.expected}, got ${checked.actual}`);
  }

  /** The copy of a value, and what it counts for. @param waits until it is delivered */
  #counted(given: unknown, waits = false, normal?: NormalValue): NormalValue {
    this.#inside();
    const { value, bytes: own } = normal ?? normalGiven(given);
    const bytes = own + VALUE_BYTES_EXTRA;
    this.#count(bytes);
    if (waits) this.waitingBytes += bytes;
    return { value, bytes };
  }

  /** The copy of a value that a table is to hold. */
  #write(given: unknown, schema: SchemaNode | undefined): NormalValue & { readonly fits: boolean } {
    this.#inside();
    const fitted = schema && fittedGiven(schema, given);
    const { value, bytes } = this.#counted(given, false, fitted);
    this.#count(TABLE_WRITE_BYTES);
    return { value, bytes: bytes - VALUE_BYTES_EXTRA, fits: fitted !== undefined };
  }

  #count(bytes: number): void {
    this.valueBytes += bytes;
    if (this.valueBytes <= FRAME_VALUE_BYTES_MAX) return;
    throw new Fault('record_too_large', `one delivery gave more than ${FRAME_VALUE_BYTES_MAX} bytes of values`);
  }
}

/** Whether a sender is this cell, itself or by a plan. */
function isSameCell(from: NonNullable<Sender>, to: Address): boolean {
  return from[0] === to[0] && from[1] === to[1];
}

/** An address as the author's own: the one in the record is what the frame is written from. */
function own<T extends Sender>(address: T): T {
  return (address === null ? null : Object.freeze([...address])) as T;
}

/** A tag, which a notice repeats. */
function tagged(tag: string | undefined): { readonly tag?: string } {
  return tag === undefined ? {} : { tag: requireTag(tag) };
}

function requireTag(tag: string): string {
  if (noticeTag.safeParse(tag).success && wellFormed(tag) === tag) return tag;
  throw new Fault('value_invalid', 'a tag is well-formed text of 1 to 256 characters');
}

const commandNodes = new Map<string, SchemaNode>();

/** The schema of a command's value, compiled when it is first given. */
function commandNode(name: string): SchemaNode | undefined {
  if (!Object.hasOwn(KERNEL_COMMANDS, name)) return undefined;
  const known = commandNodes.get(name) ?? compileSchema(KERNEL_COMMANDS[name as CommandName]);
  commandNodes.set(name, known);
  return known;
}
