/**
 * An app whose cells do what a test tells them: an event carries the steps that its reducer performs. So one
 * reducer serves every test, a journal replays without knowing the test, and a test reads as what happens.
 */
import { type Address, type CommandName, type Value, value } from '@reprise/contracts';
import * as z from 'zod';
import {
  type App,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  type EffectDefinition,
  type PlanBody,
  type PlanContext,
  type PlanDefinition,
  type ReducerContext,
  type RequestOptions,
  type World,
} from '../../src/index.js';

/** One step of a cell. */
export type Step = readonly [string, ...Value[]];

/** The state of a cell. */
export interface Seen {
  n: number;
  seen: string[];
  on: Record<string, Step[]>;
}

const CELL = 'lab/Cell@1';
const DEAF = 'lab/Deaf@1';

/** The address of a cell. */
export const cell = (key: string): Address => [CELL, key];

/** The address of a cell that takes no notices. */
export const deaf = (key: string): Address => [DEAF, key];

/** An effect that may happen once. */
export const once = effect('lab.once@1', 'at_most_once');
/** An effect that may happen again. */
export const again = effect('lab.again@1', 'idempotent');
/** An effect that can be reconciled. */
export const asked = effect('lab.asked@1', 'reconcile');

function effect(kind: string, guarantee: 'at_most_once' | 'idempotent' | 'reconcile') {
  return defineEffect({ kind, params: value(), receipt: z.strictObject({ got: value() }), guarantee });
}

// The events of a cell.

/** Adds to its number. */
export const add = (by: number): Step => ['add', by];
/** Remembers a word. */
export const note = (word: string): Step => ['note', word];
/** Sends steps to another cell, which is made when it is absent. */
export const send = (to: string, ...steps: Step[]): Step => ['send', [...cell(to)], steps, false];
/** Sends steps and requests an answer. */
export const command = (to: string, ...steps: Step[]): Step => ['send', [...cell(to)], steps, true];
/** Sends steps to a cell that must be there. */
export const tell = (to: string, ...steps: Step[]): Step => ['tell', [...cell(to)], steps, false];
/** Sends steps to an existing cell and requests an answer. */
export const order = (to: string, ...steps: Step[]): Step => ['tell', [...cell(to)], steps, true];
/** Sends the same steps to many fresh cells. */
export const sendMany = (count: number, prefix: string, ...steps: Step[]): Step => ['many', count, prefix, steps];
/** Starts a plan. */
export const start = (plan: string, input: Value = null): Step => ['start', plan, input];
/** Sets a timer, `in` milliseconds from now. */
export const wake = (name: string, inMs: number): Step => ['wake', name, inMs];
/** Clears a timer. */
export const unwake = (name: string): Step => ['unwake', name];
/** Sets the steps for a later occasion: a timer's name, an event's name. */
export const when = (what: string, ...steps: Step[]): Step => ['when', what, steps];
/** Executes the steps that were set for a word. */
export const does = (what: string): Step => ['does', what];
/** States a fact. */
export const fact = (word: string): Step => ['fact', word];
/** Appends to its log. */
export const log = (item: Value): Step => ['log', item];
/** Cancels a plan. */
export const cancel = (plan: number | 'all'): Step => ['cancel', plan];
/** Asks something of the kernel. */
export const kernel = (name: CommandName, value: unknown): Step => ['kernel', name, value as Value];
/** Ends the cell. */
export const end = (): Step => ['end'];
/** Refuses the event. */
export const reject = (code: string): Step => ['reject', code];
/** Refuses the event when the number is not this. */
export const rejectUnless = (n: number, code: string): Step => ['rejectUnless', n, code];
/** Refuses the event, with the number of the cell in the code. */
export const rejectTelling = (): Step => ['rejectTelling'];
/** Throws. */
export const fail = (how = 'error'): Step => ['fail', how];
/** Recurses without end. */
export const recurse = (): Step => ['recurse'];
/** Recurses without end and calls `ctx` at every step, so that the stack ends inside the kernel. */
export const recurseCalling = (): Step => ['recurseCalling'];
/** Does a step so many calls deep: near the end of the stack, the step ends at any line of the kernel. */
export const deepDown = (calls: number, step: Step): Step => ['deepDown', calls, step];
/** Sends to another cell, which sends back, and so on without end. */
export const pingPong = (to: string): Step => ['pingPong', to];
/** Writes something illegal into its state. */
export const spoil = (how: Illegal): Step => ['spoil', how];
/** Passes something invalid to a call of `ctx`. */
export const give = (to: 'send' | 'start' | 'fact' | 'log', what: Illegal): Step => ['give', to, what];
/** Remembers an identifier. */
export const name = (label: string): Step => ['name', label];
/** Remembers its parent. */
export const parent = (): Step => ['parent'];

/** Things that are not values. */
export const ILLEGAL = [
  'nan',
  'infinity',
  'bytes in state',
  'date',
  'cycle',
  'large',
  'function',
  'surrogate',
  'hole',
  'bigint',
  'deep',
  'instance',
  'accessor',
  'symbol',
] as const;
/** A thing that is not a value. */
export type Illegal = (typeof ILLEGAL)[number];

/** Makes a thing that is not a value, or is too large for one. */
export function illegal(what: Illegal): unknown {
  switch (what) {
    case 'nan':
      return Number.NaN;
    case 'infinity':
      return Number.NEGATIVE_INFINITY;
    case 'bytes in state':
      return Uint8Array.of(1, 2);
    case 'date':
      return new Date(0);
    case 'cycle': {
      const self: unknown[] = [];
      self.push(self);
      return self;
    }
    case 'large':
      return 'x'.repeat(70_000);
    case 'function':
      return () => 1;
    case 'surrogate':
      return '\ud800';
    case 'hole':
      return new Array(2);
    case 'bigint':
      return BigInt(1);
    case 'deep': {
      let deep: unknown = 1;
      for (let i = 0; i < 60; i++) deep = [deep];
      return deep;
    }
    case 'instance':
      return new Map();
    case 'accessor':
      return Object.defineProperty({}, 'x', { get: () => 1, enumerable: true });
    case 'symbol':
      return Symbol('x');
    default:
      return what satisfies never;
  }
}

const steps = z.strictObject({ steps: z.array(value()) });
const events = {
  'lab/Do@1': creates(steps),
  'lab/Must@1': steps,
  'lab/Got@1': z.strictObject({ what: z.string(), value: value() }),
};
const notices = {
  'sys/TimerFired@1': z.strictObject({ name: z.string(), due: z.int() }),
  'sys/PlanFailed@1': z.strictObject({ plan: value(), name: z.string(), code: z.string() }),
  'sys/Reply@1': z.strictObject({
    to: value(),
    event: z.string(),
    outcome: z.string(),
    code: z.exactOptional(z.string()),
  }),
  'sys/EffectOpened@1': z.strictObject({ effect: z.string(), name: z.string(), params: value(), from: value() }),
  'sys/CommandRefused@1': z.strictObject({ command: z.string(), code: z.string() }),
  'sys/Undeliverable@1': z.strictObject({ to: value(), event: z.string(), code: z.string() }),
};

/** A plan's body as a test writes it. */
export type Body = (input: Value, plan: PlanContext) => PlanBody;

/** A lab: an app, and how to ask its cells for something. */
export interface Lab {
  readonly app: App;
  readonly plans: Readonly<Record<string, PlanDefinition>>;
}

/** Makes a lab with these plans; each may emit the lab's three effects, and those given. */
export function lab(bodies: Readonly<Record<string, Body>> = {}, effects: readonly EffectDefinition[] = []): Lab {
  const plans: Record<string, PlanDefinition> = {};
  for (const [word, run] of Object.entries(bodies)) {
    plans[word] = definePlan({ name: `lab/${word}@1`, input: value(), effects: [once, again, asked, ...effects], run });
  }
  const recipe = {
    state: z.strictObject({ n: z.int(), seen: z.array(z.string()), on: z.record(z.string(), z.array(value())) }),
    facts: { 'lab/Said@1': z.strictObject({ word: value() }) },
    logs: { history: value() },
    init: () => ({ n: 0, seen: [], on: {} }),
  };
  const hearing = defineReducer({
    ...recipe,
    name: CELL,
    events: { ...events, ...notices },
    reduce: (draft, event, ctx) => react(draft as Seen, event as Told, ctx, plans),
  });
  const unhearing = defineReducer({
    ...recipe,
    name: DEAF,
    events,
    reduce: (draft, event, ctx) => react(draft as Seen, event as Told, ctx, plans),
  });
  return { app: defineApp({ reducers: [hearing, unhearing], plans: Object.values(plans) }), plans };
}

interface Told {
  readonly name: string;
  readonly value: Record<string, Value>;
}

type Plans = Readonly<Record<string, PlanDefinition>>;

function react(draft: Seen, event: Told, ctx: ReducerContext, plans: Plans): void {
  const told = event.value;
  switch (event.name) {
    case 'lab/Do@1':
    case 'lab/Must@1':
      perform(draft, told.steps as unknown as Step[], ctx, plans);
      return;
    case 'lab/Got@1':
      draft.seen.push(`${String(told.what)}=${JSON.stringify(told.value)}`);
      perform(draft, draft.on[String(told.what)] ?? [], ctx, plans);
      return;
    case 'sys/TimerFired@1':
      draft.seen.push(`timer ${String(told.name)}`);
      perform(draft, draft.on[String(told.name)] ?? [], ctx, plans);
      return;
    case 'sys/EffectOpened@1':
      draft.seen.push(`opened ${String(told.name)}`);
      perform(draft, draft.on.opened ?? [], ctx, plans);
      for (const step of draft.on.settle ?? []) {
        ctx.command('sys/Settle@1', { effect: String(told.effect), outcome: step[1] as never });
      }
      return;
    case 'sys/Reply@1':
      draft.seen.push(`reply ${String(told.outcome)}${told.code === undefined ? '' : ` ${String(told.code)}`}`);
      break;
    default:
      draft.seen.push(`${event.name.slice(4, -2)} ${String(told.code)}`);
  }
  perform(draft, draft.on[event.name] ?? [], ctx, plans);
}

function perform(draft: Seen, list: readonly Step[], ctx: ReducerContext, plans: Plans): void {
  for (const step of list) performOne(draft, step, ctx, plans);
}

type Args = readonly [never, never, never];
type Doing = (args: Args, draft: Seen, ctx: ReducerContext, plans: Plans) => void;

const DOINGS: Readonly<Record<string, Doing>> = {
  add: ([by], draft) => {
    draft.n += by as number;
  },
  note: ([word], draft) => {
    draft.seen.push(word as string);
  },
  send: ([to, list, reply], _draft, ctx) => ctx.send(to, { name: 'lab/Do@1', value: { steps: list } }, { reply }),
  tell: ([to, list, reply], _draft, ctx) => ctx.send(to, { name: 'lab/Must@1', value: { steps: list } }, { reply }),
  many: ([count, prefix, list], _draft, ctx) => {
    for (let i = 0; i < count; i++) ctx.send(cell(`${prefix}${i}`), { name: 'lab/Do@1', value: { steps: list } });
  },
  start: ([plan, input], _draft, ctx, plans) => {
    ctx.emit({ plan: plans[plan] as PlanDefinition, input });
  },
  wake: ([timer, inMs], _draft, ctx) => ctx.timer(timer, ctx.now + inMs),
  unwake: ([timer], _draft, ctx) => ctx.clearTimer(timer),
  when: ([what, list], draft) => {
    draft.on[what] = list;
  },
  does: ([what], draft, ctx, plans) => perform(draft, draft.on[what] ?? [], ctx, plans),
  fact: ([word], _draft, ctx) => ctx.record('lab/Said@1', { word }),
  log: ([item], _draft, ctx) => ctx.append('history', item),
  cancel: ([plan], _draft, ctx) => ctx.cancel(plan),
  kernel: ([name, value], _draft, ctx) => ctx.command(name as CommandName, value),
  end: (_args, _draft, ctx) => ctx.end(),
  reject: ([code], _draft, ctx) => ctx.reject(code),
  rejectUnless: ([n, code], draft, ctx) => {
    if (draft.n !== n) ctx.reject(code);
  },
  rejectTelling: (_args, draft, ctx) => ctx.reject(`n_${draft.n}`),
  fail: ([how]) => {
    throw thrownThing(how);
  },
  recurse: (_args, draft) => deeper(draft),
  recurseCalling: (_args, _draft, ctx) => deeperCalling(ctx),
  deepDown: ([calls, step], draft, ctx, plans) => descend(calls, () => performOne(draft, step, ctx, plans)),
  pingPong: ([to], _draft, ctx) =>
    ctx.send(cell(to), { name: 'lab/Do@1', value: { steps: [pingPong(ctx.address[1])] } }),
  spoil: ([how], draft) => {
    (draft as unknown as Record<string, unknown>).n = illegal(how);
  },
  give: ([to, what], _draft, ctx, plans) => giveIllegal(to, illegal(what), ctx, plans),
  name: ([label], draft, ctx) => {
    draft.seen.push(ctx.id(label), String(ctx.random()));
  },
  parent: (_args, draft, ctx) => {
    draft.seen.push(`parent ${ctx.parent === null ? 'none' : ctx.parent.join('/')}`);
  },
};

function performOne(draft: Seen, [what, ...args]: Step, ctx: ReducerContext, plans: Plans): void {
  const doing = DOINGS[what];
  if (doing === undefined) throw new Error(`the lab cannot ${what}`);
  doing(args as unknown as Args, draft, ctx, plans);
}

function giveIllegal(to: string, thing: unknown, ctx: ReducerContext, plans: Plans): void {
  if (to === 'send') ctx.send(ctx.address, { name: 'lab/Do@1', value: { steps: [thing] } });
  else if (to === 'start') ctx.emit({ plan: Object.values(plans)[0] as PlanDefinition, input: thing });
  else if (to === 'fact') ctx.record('lab/Said@1', { word: thing });
  else ctx.append('history', thing);
}

function deeper(draft: Seen): number {
  return deeper(draft) + draft.n;
}

function descend(calls: number, then: () => void): number {
  if (calls > 0) return descend(calls - 1, then) + 1;
  then();
  return 0;
}

function deeperCalling(ctx: ReducerContext): number {
  ctx.record('lab/Said@1', { word: 1 });
  return deeperCalling(ctx) + 1;
}

/** Things that authors' code may throw; not all of them are errors, and not all of them can be shown. */
export const THROWN = ['error', 'text', 'nothing', 'null', 'symbol', 'bare', 'hostile'] as const;

/** Makes a thing to throw. */
export function thrownThing(how: string): unknown {
  switch (how) {
    case 'text':
      return 'words';
    case 'nothing':
      return undefined;
    case 'null':
      return null;
    case 'symbol':
      return Symbol('thrown');
    case 'bare':
      return Object.create(null);
    case 'hostile': {
      const hostile = new Error('x');
      Object.defineProperty(hostile, 'message', {
        get: () => {
          throw new Error('from the message');
        },
      });
      return hostile;
    }
    default:
      return new Error('as told');
  }
}

/** Asks a cell to do something. */
export function ask(world: World, key: string, list: readonly Step[], options: RequestOptions = {}) {
  return world.request(cell(key), { name: 'lab/Do@1', value: { steps: list } }, options);
}

/** Asks a cell that must be there. */
export function askPresent(world: World, key: string, list: readonly Step[], options: RequestOptions = {}) {
  return world.request(cell(key), { name: 'lab/Must@1', value: { steps: list } }, options);
}

/** The notices that a cell has got; undefined when it does not exist. */
export async function seen(world: World, key: string): Promise<readonly string[] | undefined> {
  return ((await world.state(cell(key))) as unknown as Seen | undefined)?.seen;
}

/** A cell's number; undefined when it does not exist. */
export async function numberOf(world: World, key: string): Promise<number | undefined> {
  return ((await world.state(cell(key))) as unknown as Seen | undefined)?.n;
}

/** Sends the plan's cell the content of a receipt: its status, and its payload or code. */
export function tellCell(plan: PlanContext, what: string, told: Value): void {
  plan.raiseEvent({ name: 'lab/Got@1', value: { what, value: told } });
}
