import {
  type Actor,
  type Address,
  type CommandName,
  type CommandValue,
  NOTICES,
  type PlanAddress,
  type Ref,
  RepriseError,
  type Sender,
  type Value,
} from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { childrenOf, compileSchema, type SchemaNode, schemaDigest, schemaValue } from '../schema/index.js';
import { type Forebear, forebearsOf, type Migrates } from './lineage.js';
import type { WireName, WireNames } from './names.js';
import {
  requireKnownFields,
  requireLogName,
  requireObject,
  requireOwnName,
  requireSynchronous,
  requireTableName,
  requireWireName,
} from './parts.js';
import type { PlanDefinition } from './plan.js';
import { checkedSenders, type From, type RowForm, sendersValue, type Who } from './senders.js';
import type { Table } from './table.js';

/** An event schema, marked as one that makes the cell when it is absent. */
export interface Creating<Z extends z.AnySchema> {
  readonly creates: true;
  readonly schema: Z;
}

/**
 * Marks an event as one that makes the cell it is sent to, when that cell is absent.
 *
 * @param declared its schema, or its schema with its senders: `creates(from(schema, by.outside))`
 */
export function creates<Z extends z.AnySchema, const W extends readonly Who[]>(
  declared: From<Z, W>,
): Creating<Z> & From<Z, W>;
export function creates<Z extends z.AnySchema>(declared: Z): Creating<Z>;
export function creates(declared: z.AnySchema | From<z.AnySchema>): Creating<z.AnySchema> {
  return { creates: true, ...(isDeclared(declared) ? declared : { schema: declared }) };
}

/** An event as a reducer declares it: a schema, with its senders, and marked when it makes the cell. */
export type EventDeclaration = z.AnySchema | Creating<z.AnySchema> | From<z.AnySchema>;

/** The events a reducer takes, by wire name. Kernel notices (`sys/…`) are taken the same way. */
export type EventSchemas = Readonly<Record<string, EventDeclaration>>;

/** The tables of a reducer, by name. */
export type TableSchemas = Readonly<Record<string, z.AnySchema>>;

/** The tables of a reducer that declares none. */
// biome-ignore lint/complexity/noBannedTypes: the type without any key, which `Record<string, never>` is not
export type NoTables = {};

type SchemaOf<D> = D extends Creating<infer Z> | From<infer Z> ? Z : D;

type WhoOf<D> = D extends { readonly from: infer W extends readonly Who[] } ? W[number] : never;

type RowBy<W, T> =
  W extends RowForm<infer N> ? (N extends keyof T ? z.output<T[N] & z.AnySchema> : unknown) : undefined;

/** The row of a table that the sender of an event has: the union over its declared senders, undefined without one. */
export type RowOf<D, T> = [WhoOf<D>] extends [never] ? undefined : RowBy<WhoOf<D>, T>;

/** The union of a reducer's events: switch on `name` and `value` is typed; `row` is that of the sender, see `by.row`. */
export type EventOf<E extends EventSchemas, T = NoTables> = {
  [N in keyof E & string]: {
    readonly name: N;
    readonly value: z.output<SchemaOf<E[N]> & z.AnySchema>;
  } & RowField<RowOf<E[N], T>>;
}[keyof E & string];

type RowField<R> = [R] extends [undefined] ? { readonly row?: undefined } : { readonly row: R };

/** An intent: a reducer emits it to start a plan. */
export interface Intent<I = unknown> {
  readonly plan: PlanDefinition<I>;
  readonly input: I;
}

/** How a sent event is answered. */
export interface EventSendOptions {
  /** Whether the answer comes as `sys/Reply@1`: always, or with `refusal` only when the event does not take place. */
  readonly reply?: boolean | 'refusal';
  /** Repeated in the answer, to tell several sent events apart: 1 to 256 characters. */
  readonly tag?: string;
  /**
   * For an event that is answered later by another event: when its receiver fails or ends before, this cell is sent
   * `sys/Reply@1` with this tag and `cell_failed` or `cell_absent`. The tag stays open until then, until `ctx.forget`, or
   * the end of this cell; sent again while it is open, it names one question about the receiver of the last event.
   */
  readonly failure?: string;
}

/**
 * All that a reducer may do besides writing its draft. Nothing here has an effect by itself: each request becomes
 * part of the frame, or is dropped when the delivery faults.
 */
export interface ReducerContext<T extends TableSchemas = NoTables> {
  /** The frame's time in milliseconds: the only clock. */
  readonly now: number;
  /** The address of this cell: its reducer and its key. */
  readonly address: Address;
  /** The cell that made this one, or null for a cell made from outside. */
  readonly parent: Address | null;
  /**
   * The sender of the event: a cell, a plan, or null for the outside and the kernel. Declare who may send an event with
   * {@link from} in place of comparing it.
   */
  readonly sender: Sender;
  /** The cell that sent the event, itself or by a plan, to answer to; null for the outside and the kernel. */
  readonly caller: Address | null;
  /** The ordinal of the plan of this cell that sent the event; null for every other sender. */
  readonly plan: number | null;
  /** The key of the row that the sender has, see `by.row`; null for a sender without one. */
  readonly rowKey: string | null;
  /** The plan for whose open effect an adapter sent the event from outside; null for every other event. */
  readonly adapter: PlanAddress | null;
  /**
   * Who sent a request from outside: the actor that it states, or the one that follows from its principal. The kernel has
   * checked that the principal may state it. Null for every event of a cell, a plan or the kernel.
   */
  readonly actor: Actor | null;
  /** Starts a plan. @returns its ordinal in this cell, for `cancel` */
  emit<I>(intent: Intent<I>): number;
  /**
   * Sends an event to a cell of this world, in this frame.
   *
   * @param options with `reply` the answer comes as `sys/Reply@1`, with `reply: 'refusal'` only when the event does not
   *   take place; the answer repeats `tag`. With `failure` this cell also hears when the receiver fails or ends later
   */
  send(to: Address, event: { readonly name: string; readonly value: unknown }, options?: EventSendOptions): void;
  /**
   * Closes a tag that was given as `failure`, or all of them without an argument: the answer has come, or this cell does
   * not wait for it any more.
   */
  forget(tag?: string): void;
  /** Whether the reducer of an address takes an event: sending one that it does not take is a fault. */
  takes(to: Address, event: string): boolean;
  /** States a fact for watchers and projections. The reducer declares it under `facts`. */
  record(name: string, value: unknown): void;
  /** Sets the cell's timer of that name; `sys/TimerFired@1` comes at `at` (journal milliseconds) or later. */
  timer(name: string, at: number): void;
  /** Clears a timer, if it is set. */
  clearTimer(name: string): void;
  /**
   * Cancels a plan of this cell, or all of them. Its unarmed effects are cancelled, running ones are told to stop.
   *
   * @param options `actor`: who made an answer of others needless, such as the one who gave it here. A caller that answers a
   *   cancelled effect later is told so
   */
  cancel(plan: number | 'all', options?: { readonly actor?: Actor }): void;
  /**
   * Stops the open effects of a plan of this cell while the plan lives: those not under way are settled as cancelled,
   * running ones are told to stop and have `graceMs` milliseconds (half a minute when absent). The plan gets each receipt.
   */
  stop(plan: number, options?: { readonly graceMs?: number }): void;
  /**
   * Applies a session command as this cell: `sys/Settle@1`, `sys/Decide@1`, `sys/Answer@1`, `sys/Cancel@1`,
   * `sys/SetRights@1`, `sys/SetAccount@1`. It takes place when the delivery ends well; a refusal comes back
   * as `sys/CommandRefused@1`, which repeats `tag`.
   */
  command<N extends CommandName>(name: N, value: CommandValue<N>, options?: { readonly tag?: string }): void;
  /** Appends to a log of this cell; the cost does not depend on the log's length. */
  append(log: string, item: unknown): void;
  /** Links the log in its current state, this delivery's items included, so that an adapter can read it. */
  logHead(log: string): Ref;
  /**
   * A table of this cell: entries sorted by key, which are read and written in place. The cost of an operation
   * hardly depends on the size of the table. Its values have the type that the reducer declares.
   *
   * @typeParam V the type of its values, where the context does not know the tables
   */
  table<N extends keyof T & string>(name: N): Table<z.output<T[N]>>;
  table<V = Value>(name: string): Table<V>;
  /** Ends this cell: its plans are cancelled, its timers, logs and tables dropped. A later creation is a new generation. */
  end(): void;
  /** Refuses the event: the delivery changes nothing and the sender learns the code. Does not return. */
  reject(code: string): never;
  /** The hex SHA-256 of a value's canonical bytes. */
  hash(value: unknown): string;
  /** An identifier that is the same in every replay: 32 hex digits. */
  id(label: string): string;
  /** A number in [0, 1) that is the same in every replay. */
  random(): number;
}

/** The union of the events that a caller may send to a reducer's cells: the kernel's own are not among them. */
export type RequestOf<E extends EventSchemas> = {
  [N in Exclude<keyof E & string, `sys/${string}`>]: {
    readonly name: N;
    readonly value: (SchemaOf<E[N]> & z.AnySchema)['_zod']['input'];
  };
}[Exclude<keyof E & string, `sys/${string}`>];

/** What a reducer's recipe may return: nothing. A promise or a new state does not compile. */
// biome-ignore lint/suspicious/noConfusingVoidType: to `void` alone a function of any return type could be assigned
export type Nothing = void | undefined;

/** An event in the form that the engine uses. */
export interface EventDefinition {
  readonly node: SchemaNode;
  readonly creates: boolean;
  /** Who may send it; undefined: each sender that the gate lets through. */
  readonly from?: readonly Who[];
}

/** An event as a recipe gets it. */
export interface DeliveredEvent {
  readonly name: string;
  readonly value: unknown;
  /** The row that its sender has, see `by.row`. */
  readonly row?: unknown;
}

/**
 * A reducer in the form that the engine uses.
 *
 * @typeParam S the type of its states
 * @typeParam R the events that a caller may send to its cells
 */
export interface ReducerDefinition<S = unknown, R = { readonly name: string; readonly value: unknown }> {
  readonly type: 'reducer';
  readonly name: string;
  readonly state: SchemaNode;
  readonly events: ReadonlyMap<string, EventDefinition>;
  readonly facts: ReadonlyMap<string, SchemaNode>;
  readonly logs: ReadonlyMap<string, SchemaNode>;
  readonly tables: ReadonlyMap<string, SchemaNode>;
  /** The versions that this one migrates from, oldest first; absent for the first version. */
  readonly lineage?: readonly Forebear[];
  readonly digest: string;
  /** The first state of a cell with this key, from the event that makes it. */
  init(key: string, event: { readonly name: string; readonly value: unknown }): unknown;
  /** The recipe. `draft` and `event` are this delivery's own copies. */
  reduce(draft: unknown, event: DeliveredEvent, ctx: ReducerContext): unknown;
  /** Carries the type of a state; never present. */
  readonly $state?: S;
  /** Carries the types of the events that a caller may send; never present. */
  readonly $request?: R;
}

/** The parts of a reducer that an author writes. */
export interface ReducerSpec<S extends z.AnySchema, E extends EventSchemas, T extends TableSchemas = TableSchemas> {
  /** The wire name of the reducer, `ns/Name@v`. */
  readonly name: string;
  /** The state's schema: an object of the closed subset, without bytes. */
  readonly state: S;
  /** The events it takes, each with its senders. */
  readonly events: E;
  /** The facts it may state. */
  readonly facts?: Readonly<Record<string, z.AnySchema>>;
  /** Its logs and the schema of their items. */
  readonly logs?: Readonly<Record<string, z.AnySchema>>;
  /** Its tables and the schema of their values. */
  readonly tables?: T;
  /**
   * Takes over the cells of an earlier version: each keeps its address, and its state is migrated at the first event
   * that reaches it. Items of logs and entries of tables stay as they were written.
   */
  readonly migrates?: Migrates<z.output<S>>;
  /** The first state of a cell, from its key and the event that makes it; that event is then reduced. Pure. */
  readonly init: (key: string, event: EventOf<E, T>) => z.output<S>;
  /** The recipe: writes the draft, calls `ctx`, returns nothing, awaits nothing. Pure. */
  readonly reduce: (draft: z.output<S>, event: EventOf<E, T>, ctx: ReducerContext<T>) => Nothing;
}

/** The parts of a reducer. A misspelled one, such as `table`, would otherwise be ignored. */
const SPEC_FIELDS: Readonly<Record<keyof ReducerSpec<z.AnySchema, EventSchemas>, true>> = {
  name: true,
  state: true,
  events: true,
  facts: true,
  logs: true,
  tables: true,
  migrates: true,
  init: true,
  reduce: true,
};

/**
 * Defines a keyed reducer; each key is a cell with its own state.
 *
 * @throws RepriseError `invalid_name`, `invalid_schema`, `invalid_definition`
 * @example
 * const counter = defineReducer({
 *   name: 'demo/Counter@1',
 *   state: z.strictObject({ n: z.int() }),
 *   events: { 'demo/Added@1': creates(z.strictObject({ by: z.int() })) },
 *   init: () => ({ n: 0 }),
 *   reduce(draft, event) { draft.n += event.value.by },
 * })
 */
export function defineReducer<
  S extends z.AnySchema,
  const E extends EventSchemas,
  const N extends string,
  const T extends TableSchemas = NoTables,
>(
  spec: ReducerSpec<S, E, T> & { readonly name: WireName<N>; readonly events: WireNames<E> },
): ReducerDefinition<z.output<S>, RequestOf<E>> {
  requireObject(spec, 'a reducer');
  requireOwnName(spec.name, 'a reducer');
  requireSynchronous(spec.init, `init of ${spec.name}`);
  requireSynchronous(spec.reduce, `reduce of ${spec.name}`);
  requireKnownFields(spec, SPEC_FIELDS, `the reducer ${spec.name}`);
  const state = compileSchema(spec.state);
  if (state.type !== 'object') {
    throw new RepriseError('invalid_definition', `the state of ${spec.name} is not an object`, {
      hint: 'Give the reducer a z.strictObject as its state.',
    });
  }
  refuseBytes(state, spec.name);
  requireObject(spec.events, `the events of ${spec.name}`);
  const tables = compileAll(spec.tables, `the tables of ${spec.name}`);
  const events = new Map(
    Object.entries(spec.events as EventSchemas).map(([name, declared]) => [
      name,
      compileEvent(name, declared, { reducer: spec.name, state, tables }),
    ]),
  );
  const facts = compileAll(spec.facts, `the facts of ${spec.name}`);
  const logs = compileAll(spec.logs, `the logs of ${spec.name}`);
  for (const name of [...events.keys(), ...facts.keys()]) requireWireName(name, 'an event or fact');
  for (const name of logs.keys()) requireLogName(name);
  for (const name of tables.keys()) requireTableName(name);
  refuseKernelNames(spec.name, events.keys(), facts.keys());
  const lineage = forebearsOf(spec.name, spec.migrates);
  const digest = schemaDigest({
    type: 'literal',
    values: [
      schemaValue(state),
      sorted(events).map(([name, { creates, node, from }]) => [
        name,
        creates,
        schemaValue(node),
        ...(from === undefined ? [] : [sendersValue(from)]),
      ]),
      sorted(facts).map(([name, node]) => [name, schemaValue(node)]),
      sorted(logs).map(([name, node]) => [name, schemaValue(node)]),
      // Only for reducers with tables: definitions from before there were tables keep their digest.
      ...(tables.size === 0 ? [] : [sorted(tables).map(([name, node]) => [name, schemaValue(node)])]),
      ...(lineage.length === 0 ? [] : [lineage.map(({ name }) => name)]),
    ],
  });
  return Object.freeze({
    type: 'reducer',
    name: spec.name,
    state,
    events,
    facts,
    logs,
    tables,
    ...(lineage.length === 0 ? {} : { lineage }),
    digest,
    init: spec.init as ReducerDefinition['init'],
    reduce: spec.reduce as ReducerDefinition['reduce'],
  });
}

/** `sys/` is the kernel's: a reducer takes the kernel's notices and makes none. */
function refuseKernelNames(reducer: string, events: Iterable<string>, facts: Iterable<string>): void {
  const wrong =
    [...events].find((name) => name.startsWith('sys/') && !Object.hasOwn(NOTICES, name)) ??
    [...facts].find((name) => name.startsWith('sys/'));
  if (wrong === undefined) return;
  throw new RepriseError('invalid_definition', `${reducer} cannot have ${wrong}`, {
    expected: `among events: ${Object.keys(NOTICES).join(', ')}; among facts: no sys/ name`,
    hint: 'Choose a namespace of your own.',
  });
}

function isDeclared(given: unknown): given is From<z.AnySchema> {
  return typeof given === 'object' && given !== null && 'from' in given && 'schema' in given;
}

function isCreating(given: unknown): given is Creating<z.AnySchema> {
  return typeof given === 'object' && given !== null && 'creates' in given && given.creates === true;
}

function compileEvent(
  name: string,
  declared: EventDeclaration,
  of: { readonly reducer: string; readonly state: SchemaNode; readonly tables: ReadonlyMap<string, SchemaNode> },
): EventDefinition {
  const schema = isCreating(declared) || isDeclared(declared) ? declared.schema : declared;
  const node = compileSchema(schema);
  const creates = isCreating(declared) && !name.startsWith('sys/');
  if (!isDeclared(declared)) return { node, creates };
  return { node, creates, from: checkedSenders(declared.from, { ...of, event: name, node }) };
}

function compileAll(schemas: Readonly<Record<string, z.AnySchema>> = {}, what: string): Map<string, SchemaNode> {
  requireObject(schemas, what);
  return new Map(Object.entries(schemas).map(([name, schema]) => [name, compileSchema(schema)]));
}

/** Entries by name, in code unit order: definition order never reaches a digest. */
function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

/** State holds no bytes: large data belongs in the content store, small data is text. */
function refuseBytes(node: SchemaNode, reducer: string): void {
  if (node.type === 'bytes') {
    throw new RepriseError('invalid_definition', `the state of ${reducer} holds bytes`, {
      hint: 'Put the bytes into the content store and keep their ref.',
    });
  }
  for (const child of childrenOf(node)) refuseBytes(child, reducer);
}
