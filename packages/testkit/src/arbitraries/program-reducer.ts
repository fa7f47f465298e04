/** Executes {@link ReducerOp} programs: the reducers of the random worlds. Pure for every program. */

import { isRef, parseOwnJson, type Value, value } from '@reprise/contracts';
import {
  creates,
  defineReducer,
  type EventSchemas,
  type ReducerContext,
  type ReducerDefinition,
  type Table,
} from '@reprise/kernel';
import * as z from 'zod';
import {
  type Illegal,
  type ListChange,
  PROGRAM_EVENTS,
  PROGRAM_LOGS,
  PROGRAM_REDUCERS,
  PROGRAM_TABLES,
  type ReducerOp,
  type SlotPath,
} from './program.js';
import { programPlan } from './program-plan.js';

type Slots = Record<string, unknown>;

/** A program's cell: `mark` has a constant default, which the engine fills in when it is missing. */
const state = z.strictObject({
  bag: z.record(z.string(), value()),
  list: z.array(value()),
  later: z.record(z.string(), value()),
  mark: z.int().default(7),
});

const program = z.strictObject({ ops: value(), payload: value() });
const EVENTS = {
  [PROGRAM_EVENTS.made]: creates(program),
  [PROGRAM_EVENTS.ran]: program,
  [PROGRAM_EVENTS.told]: z.strictObject({ heard: value() }),
};
const NOTICES = {
  'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
  'sys/Reply@1': value(),
  'sys/Undeliverable@1': value(),
  'sys/PlanFailed@1': value(),
};

/** A cell that executes programs and handles every notice of the kernel. */
export const programReducer: ReducerDefinition = define(PROGRAM_REDUCERS.cell, { ...EVENTS, ...NOTICES });

/** The same cell without handlers for notices: they become facts. */
export const deafReducer: ReducerDefinition = define(PROGRAM_REDUCERS.deaf, EVENTS);

function define(name: string, events: EventSchemas): ReducerDefinition {
  return defineReducer({
    name,
    state,
    events: events as typeof EVENTS,
    facts: { 'law/Stated@1': value() },
    logs: Object.fromEntries(PROGRAM_LOGS.map((log) => [log, value()])),
    tables: Object.fromEntries(PROGRAM_TABLES.map((table) => [table, value()])),
    // The keys are in no canonical order, and `mark` is left to its default.
    init: () => ({ list: [], later: {}, bag: {} }) as unknown as z.output<typeof state>,
    reduce: (draft, event, ctx) => new Performance(draft as unknown as Draft, event, ctx).perform() as undefined,
  });
}

interface Draft {
  bag: Slots;
  list: unknown[];
  later: Slots;
  mark?: number;
}

interface Event {
  readonly name: string;
  readonly value: unknown;
}

class Performance {
  readonly #payload: unknown;
  #returned: unknown;

  constructor(
    private readonly draft: Draft,
    private readonly event: Event,
    private readonly ctx: ReducerContext,
  ) {
    this.#payload = (event.value as { readonly payload?: unknown } | null)?.payload;
  }

  perform(): unknown {
    const { draft, event } = this;
    if (event.name === 'sys/TimerFired@1') {
      const { name } = event.value as { readonly name: string };
      this.#all(opsOf(draft.later[name]));
    } else if (event.name === PROGRAM_EVENTS.told || event.name.startsWith('sys/')) {
      draft.list.push({ heard: event.name, value: event.value });
    } else {
      this.#all(opsOf((event.value as { readonly ops: unknown }).ops));
    }
    return this.#returned;
  }

  #all(ops: readonly ReducerOp[]): void {
    for (const op of ops) this.#one(op);
  }

  #one(op: ReducerOp): void {
    const { draft, ctx } = this;
    switch (op.do) {
      case 'set':
        return this.#write(op.at, op.value);
      case 'unset':
        return this.#at(op.at, (map, key) => delete map[key]);
      case 'blank':
        return this.#write(op.at, undefined);
      case 'minus_zero':
        return this.#write(op.at, -0);
      case 'keys':
        return this.#write(op.at, mapOf(op.keys));
      case 'alias':
        return this.#write(op.at, this.#read(op.from));
      case 'touch':
        return touch(this.#read(op.at), op.value);
      case 'keep':
        return this.#write(op.at, this.#payload);
      case 'spoil':
        return touch(this.#payload, op.value);
      case 'list':
        return changeList(draft.list, op.how, op.value);
      case 'look':
        draft.list.push(looks(draft));
        return;
      case 'unmark':
        delete draft.mark;
        return;
      case 'illegal':
        return illegal(draft, op.what);
      case 'throw':
        return raise(op.what);
      case 'try':
        return this.#attempt(op.ops);
      case 'end':
        return ctx.end();
      case 'return':
        this.#returned = op.value;
        return;
      default:
        return this.#ask(op);
    }
  }

  /** Operations that go through the context. */
  #ask(op: Exclude<ReducerOp, { do: Plain }>): void {
    const { draft, ctx } = this;
    switch (op.do) {
      case 'send': {
        const name = op.creates ? PROGRAM_EVENTS.made : PROGRAM_EVENTS.ran;
        return ctx.send(op.to, { name, value: { ops: op.ops, payload: op.payload } }, { reply: op.reply });
      }
      case 'fan':
        for (let i = 0; i < op.count; i++)
          ctx.send(op.to, { name: PROGRAM_EVENTS.made, value: { ops: op.ops, payload: i } });
        return;
      case 'emit':
        ctx.emit({ plan: programPlan, input: op.plan });
        return;
      case 'cancel':
        return ctx.cancel(op.plan);
      case 'timer':
        draft.later[op.name] = op.ops;
        return ctx.timer(op.name, ctx.now + op.in_ms);
      case 'clear':
        return ctx.clearTimer(op.name);
      case 'append':
        for (let i = 0; i < op.times; i++) ctx.append(op.log, op.value);
        return;
      case 'head':
        return this.#write(op.at, ctx.logHead(op.log));
      case 'put':
        for (let i = 0; i < op.times; i++) ctx.table(op.table).set(`${op.key}${i}`, op.value);
        return;
      case 'drop':
        return this.#write(op.at, removed(ctx.table(op.table), op.key, op.times));
      case 'page':
        return this.#write(op.at, page(ctx.table(op.table), op.key, op.limit));
      case 'fact':
        return ctx.record('law/Stated@1', op.value);
      case 'draw':
        return this.#write(op.at, { id: ctx.id('draw'), random: ctx.random(), again: ctx.random() });
      case 'stamp':
        return this.#write(op.at, { now: ctx.now, from: ctx.sender, parent: ctx.parent, here: ctx.address });
      case 'reject':
        return ctx.reject(op.code);
      default:
        return op satisfies never;
    }
  }

  #attempt(ops: readonly ReducerOp[]): void {
    try {
      this.#all(ops);
    } catch {
      this.draft.list.push('swallowed');
    }
  }

  /** The map that a path leads into, and its last key; nothing happens when there is no such map. */
  #at(path: SlotPath, change: (map: Slots, key: string) => unknown): void {
    const into = path.length === 1 ? this.draft.bag : this.#read(path.slice(0, -1));
    const key = path[path.length - 1];
    if (isMap(into) && key !== undefined) change(into, key);
  }

  #write(path: SlotPath, thing: unknown): void {
    this.#at(path, (map, key) => {
      map[key] = thing;
    });
  }

  #read(path: SlotPath): unknown {
    let found: unknown = this.draft.bag;
    for (const key of path) found = isMap(found) ? found[key] : undefined;
    return found;
  }
}

type Plain =
  | 'set'
  | 'unset'
  | 'blank'
  | 'minus_zero'
  | 'keys'
  | 'alias'
  | 'touch'
  | 'keep'
  | 'spoil'
  | 'list'
  | 'look'
  | 'unmark'
  | 'illegal'
  | 'throw'
  | 'try'
  | 'end'
  | 'return';

function opsOf(thing: unknown): readonly ReducerOp[] {
  return Array.isArray(thing) ? (thing as ReducerOp[]) : [];
}

function isMap(thing: unknown): thing is Slots {
  return typeof thing === 'object' && thing !== null && !Array.isArray(thing) && !isRef(thing);
}

function mapOf(keys: readonly string[]): Slots {
  const map: Slots = {};
  for (const [i, key] of keys.entries()) map[key] = i;
  return map;
}

function touch(thing: unknown, written: Value): void {
  if (isMap(thing)) thing.touched = written;
  else if (Array.isArray(thing)) thing.push(written);
}

function changeList(list: unknown[], how: ListChange, item: Value): void {
  switch (how) {
    case 'pop':
      list.pop();
      return;
    case 'shift':
      list.shift();
      return;
    case 'push':
      list.push(item);
      return;
    case 'unshift':
      list.unshift(item);
      return;
    case 'reverse':
      list.reverse();
      return;
    case 'sort':
      list.sort();
      return;
    case 'splice':
      list.splice(1, 2, item, item);
      return;
    case 'truncate':
      list.length = Math.min(list.length, 1);
      return;
    case 'share':
      if (list.length > 0) list.push(list[0]);
      return;
    default:
      how satisfies never;
  }
}

/** The properties of a state that a reducer can observe but canonical bytes do not show. */
function looks({ bag, list }: Draft): string {
  const keys = Object.keys(bag);
  const seen = [keys.join(), `mark ${'mark' in bag}`, `${list.length}`];
  for (const [i, key] of keys.entries()) {
    const [one, next] = [bag[key], bag[keys[i + 1] ?? key]];
    seen.push(Object.is(one, -0) ? '-0' : typeof one, String(i + 1 < keys.length && one === next && isMap(one)));
    if (isMap(one)) seen.push(Object.keys(one).join());
  }
  return seen.join(';').slice(0, 300);
}

/** Removes the keys that `put` would write under `key`. @returns the number of removed keys */
function removed(table: Table<Value>, key: string, times: number): number {
  let count = 0;
  for (let i = 0; i < times; i++) if (table.delete(`${key}${i}`)) count++;
  return count;
}

/** The observable entries of a table from a key on; each value read is written to, to prove that it is not shared. */
function page(table: Table<Value>, key: string, limit: number): unknown {
  const entries = table.range({ after: key, limit });
  for (const [, one] of entries) touch(one, 'seen');
  const first = table.first();
  return { size: table.size, first: first?.[0], keys: entries.map(([at]) => at).join(), one: table.get(`${key}1`) };
}

function raise(what: 'error' | 'text' | 'nothing'): never {
  if (what === 'error') throw new TypeError('thrown by the program');
  // biome-ignore lint/style/useThrowOnlyError: authors may throw anything, and the engine must survive it
  throw what === 'text' ? 'a text' : Object.create(null);
}

class Instance {
  readonly here = 1;
}

function illegal({ bag }: Draft, what: Illegal): void {
  const self: unknown[] = [];
  self.push(self);
  const holed = [1, 2, 3];
  delete holed[1];
  let deep: unknown = 0;
  for (let i = 0; i < 60; i++) deep = [deep];
  const things: Record<Illegal, () => unknown> = {
    nan: () => Number.NaN,
    infinity: () => Number.NEGATIVE_INFINITY,
    function: () => illegal,
    instance: () => new Instance(),
    bigint: () => 1n,
    symbol: () => Symbol.iterator,
    hole: () => holed,
    surrogate: () => '\ud800',
    cycle: () => self,
    bytes: () => Uint8Array.of(1),
    proto: () => parseOwnJson('{"__proto__":1}'),
    deep: () => deep,
  };
  bag.illegal = things[what]();
}
