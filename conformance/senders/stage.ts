/**
 * A world in which one event of a reducer is sent by each kind of sender. The receiver has the real declarations, with
 * another recipe: it counts what it takes, so that only the declaration and the engine decide. Policy permits everything.
 */
import { type Address, isRepriseError, type PolicyRule, type Principal, type Value, value } from '@reprise/contracts';
import {
  type Adapter,
  by,
  creates,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  from,
  memory,
  openKernelWorld,
  type ReducerDefinition,
  type World,
} from '@reprise/kernel';
import type { KeyPart, Who } from '@reprise/kernel/define';
import * as z from 'zod';
import type { Kind, Made } from './kinds.js';

/** One event of a reducer, with its declared senders. */
export interface Declared {
  readonly reducer: ReducerDefinition;
  readonly name: string;
  readonly from: readonly Who[];
}

const [MAKER, STRANGER, FOREIGN, CHILD] = ['law/Maker@1', 'law/Stranger@1', 'law/Foreign@1', 'law/Child@1'];
const ALLOW_ALL: readonly PolicyRule[] = [
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
];
const ROW = 'r';
const NUMBER = '7';
const FIELD = 'field';

const hold = defineEffect({ kind: 'law.hold@1', params: value(), receipt: value() });
const sending = z.strictObject({ to: z.tuple([z.string(), z.string()]), name: z.string(), value: value() });

/** Raises the given events for its own cell, then leaves an effect open. */
const holdPlan = definePlan({
  name: 'law/hold@1',
  input: z.strictObject({ sends: z.array(sending) }),
  effects: [hold],
  // biome-ignore lint/correctness/useYield: it leaves its effect behind
  *run({ sends }, plan) {
    for (const { name, value } of sends) plan.raiseEvent({ name, value });
    plan.emitEffect(hold, null);
  },
});

/** What a cell of the stage does when it is told to. */
const doing = z.strictObject({
  sends: z.array(sending),
  plan: z.boolean(),
  end: z.boolean(),
  rows: z.array(z.tuple([z.string(), z.string()])),
  set: z.record(z.string(), value()),
});
type Doing = z.infer<typeof doing>;

const DO = 'law/Do@1';
const NOTHING: Doing = { sends: [], plan: false, end: false, rows: [], set: {} };

const cell = (name: string) =>
  defineReducer({
    name: name as 'law/Cell@1',
    state: z.strictObject({ took: z.int() }),
    events: { 'law/Do@1': creates(from(doing, by.any)) },
    init: () => ({ took: 0 }),
    reduce: (_draft, { value: given }, ctx) => act(given, ctx),
  });

/** An execution that lasts until its world closes. */
function untilStopped(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
}

type Context = Parameters<ReducerDefinition['reduce']>[2];

function act({ sends, plan, end, rows }: Doing, ctx: Context): undefined {
  for (const [table, key] of rows) ctx.table(table).set(key, null);
  if (plan) ctx.emit({ plan: holdPlan, input: { sends } });
  else for (const { to, name, value: given } of sends) ctx.send(to, { name, value: given });
  if (end) ctx.end();
  return undefined;
}

/** The receiver: the declarations of the real reducer, and a recipe that counts what it takes. */
function receiver({ reducer }: Declared, forms: readonly Who[]): ReducerDefinition {
  const base = cell(reducer.name);
  const any = { type: 'value' } as const;
  const fields = stateFields(forms);
  const events = [...reducer.events].filter(([name]) => !name.startsWith('sys/'));
  return {
    ...base,
    state: {
      type: 'object',
      fields: Object.fromEntries(['took', ...fields].map((field) => [field, { node: any, optional: false }])),
    },
    events: new Map([...base.events, ...events.map(([name, event]) => [name, { ...event, node: any }] as const)]),
    tables: new Map([...reducer.tables.keys()].map((table) => [table, any])),
    init: () => ({ took: 0, ...Object.fromEntries(fields.map((field) => [field, null])) }),
    reduce: (draft, event, ctx) => {
      const state = draft as Record<string, Value>;
      if (event.name !== DO) state.took = Number(state.took) + 1;
      else {
        Object.assign(state, (event.value as Doing).set);
        act(event.value as Doing, ctx);
      }
      return undefined;
    },
  };
}

/** The fields of the state that forms name. */
function stateFields(forms: readonly Who[]): readonly string[] {
  const parts = forms.flatMap((who) => ('key' in who ? who.key : []));
  const named = parts.flatMap((part) => (typeof part === 'object' && 'state' in part ? [part.state] : []));
  return [...new Set([...named, ...forms.flatMap((who) => (who.form === 'state' ? [who.state] : []))])];
}

/** One event on its stage. */
export class SenderStage {
  readonly #world: World;
  readonly #declared: Declared;
  readonly #made: Made;
  #to: Address;
  #fresh = 0;

  private constructor(world: World, declared: Declared, made: Made) {
    this.#world = world;
    this.#declared = declared;
    this.#made = made;
    this.#to = [declared.reducer.name, 'own'];
  }

  static async open(declared: Declared, made: Made): Promise<SenderStage> {
    const { reducer, from: forms } = declared;
    const named = forms.flatMap((who) => ('reducer' in who ? [who.reducer] : []));
    const others = [...new Set([MAKER, STRANGER, FOREIGN, CHILD, ...named] as string[])];
    const known = others.filter((name) => name !== reducer.name).map((name) => cell(name));
    const app = defineApp({ reducers: [receiver(declared, forms), ...known], plans: [holdPlan] });
    const adapter: Adapter = { effect: hold, name: 'hold', doExecute: (_params, { signal }) => untilStopped(signal) };
    const world = await openKernelWorld({ store: memory(), app, policy: ALLOW_ALL, adapters: [adapter] });
    await world.command('sys/SetRights@1', { holder: 'human:none', exercise: { may: { send: [] } } });
    const stage = new SenderStage(world, declared, made);
    if (made !== 'now') await stage.#makeReceiver('own');
    return stage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#world.close();
  }

  /** Has a kind of sender send the event. @returns whether the receiver took it */
  async tries(kind: Kind): Promise<boolean> {
    if (this.#made === 'now') this.#to = [this.#declared.reducer.name, `new${this.#fresh++}`];
    else if (kind === 'a later generation of the maker') await this.#makeReceiver('other');
    const before = await this.#took();
    await this.#send(kind);
    const after = await this.#took();
    this.#to = [this.#declared.reducer.name, 'own'];
    return after > before;
  }

  async #took(): Promise<number> {
    const state = (await this.#world.state(this.#to)) as { readonly took: number } | undefined;
    return state?.took ?? 0;
  }

  /** Makes the receiver with the rows and fields that its forms name. */
  async #makeReceiver(key: string): Promise<void> {
    const { reducer, from: forms } = this.#declared;
    this.#to = [reducer.name, key];
    if (this.#made === 'by a cell') {
      const grand = aboveOf(forms);
      await this.#do([grand, `${key}.grand`], { sends: [this.#order([grand, `${key}.maker`], {})] });
      await this.#do([grand, `${key}.maker`], { sends: [this.#order(this.#to, {})] });
    }
    const set: Record<string, Value> = {};
    for (const part of forms.flatMap((who) => ('key' in who ? who.key : [])))
      if (typeof part === 'object' && 'state' in part) set[part.state] = FIELD;
    for (const [i, who] of forms.entries()) if (who.form === 'state') set[who.state] = [...this.#named(who, i)];
    const rows = forms.flatMap((who): [string, string][] => (who.form === 'row' ? [[who.table, rowKey(who.key)]] : []));
    await this.#do(this.#to, { set, rows, plan: true });
  }

  async #send(kind: Kind): Promise<void> {
    const to = this.#to;
    const event = { to, name: this.#declared.name, value: this.#value() };
    const grand = aboveOf(this.#declared.from);
    switch (kind) {
      case 'the operator':
        return this.#request('operator');
      case 'a person':
        return this.#request('human:ann');
      case 'a person without rights':
        return this.#request('human:none');
      case 'a request in the name of the cell':
        return this.#request(`cell:${to[0]}/${to[1]}`);
      case 'the adapter of an own effect':
        return this.#request(await this.#adapterOf(to));
      case 'the adapter of an effect of another cell':
        await this.#do([STRANGER as string, 'x'], { plan: true });
        return this.#request(await this.#adapterOf([STRANGER as string, 'x']));
      case 'the cell itself':
        return this.#do(to, { sends: [event] });
      case 'an own plan':
        return this.#do(to, { sends: [event], plan: true });
      case 'the maker':
        return this.#do([grand, `${to[1]}.maker`], { sends: [event] });
      case 'an ancestor':
        return this.#do([grand, `${to[1]}.grand`], { sends: [event] });
      case 'a later generation of the maker':
        await this.#do([grand, `${to[1]}.maker`], { end: true });
        return this.#do([grand, `${to[1]}.maker`], { sends: [event] });
      case 'a child':
        await this.#do(to, { sends: [this.#order([CHILD as string, 'c'], {})] });
        return this.#do([CHILD as string, 'c'], { sends: [event] });
      case 'a child that was made again by another':
        await this.#do(to, { sends: [this.#order([CHILD as string, 'f'], {})] });
        await this.#do([CHILD as string, 'f'], { end: true });
        return this.#do([CHILD as string, 'f'], { sends: [event] });
      case 'a stranger':
        return this.#do([STRANGER as string, 's'], { sends: [event] });
      default:
        return this.#do(this.#namedBy(kind), { sends: [event] });
    }
  }

  #order(to: Address, what: Partial<Doing>): Doing['sends'][number] {
    return { to: [...to], name: DO, value: { ...NOTHING, ...what } };
  }

  #value(): Value {
    const parts = this.#declared.from.flatMap((who) => ('key' in who ? who.key : []));
    const fields = parts.flatMap((part) => (typeof part === 'object' && 'event' in part ? [part.event] : []));
    return Object.fromEntries(fields.map((field) => [field, FIELD]));
  }

  #namedBy(kind: Kind): Address {
    const i = Number(/form (\d+) names/.exec(kind)?.[1]);
    const who = this.#declared.from[i] as Who;
    if (who.form === 'above') return [who.reducer, 'elsewhere'];
    const [reducer, key] = this.#named(who, i);
    if (kind.startsWith('a foreign reducer')) return [FOREIGN as string, key];
    return kind.endsWith('with another key') ? [reducer, `${key}.other`] : [reducer, key];
  }

  #named(who: Who, i: number): Address {
    if (who.form === 'state') return [STRANGER as string, `named${i}`];
    if (who.form === 'cell' || who.form === 'row') return [who.reducer, keyOf(who.key, this.#to[1])];
    throw new Error(`form ${i} names no cell`);
  }

  async #adapterOf([reducer, key]: Address): Promise<Principal> {
    const open = await this.#world.openEffects();
    const found = open.find(({ cell }) => cell[0] === reducer && cell[1] === key);
    if (found === undefined) throw new Error(`${reducer}/${key} has no open effect`);
    return `adapter:${found.effect}`;
  }

  async #request(as: Principal): Promise<void> {
    await tolerant(this.#world.request(this.#to, { name: this.#declared.name, value: this.#value() }, { as }));
  }

  async #do(cell: Address, what: Partial<Doing>): Promise<void> {
    await tolerant(this.#world.request(cell, { name: DO, value: { ...NOTHING, ...what } }));
  }
}

/** The reducer of what stands above the receiver: that of a form which names one. */
function aboveOf(forms: readonly Who[]): string {
  return forms.flatMap((who) => (who.form === 'above' ? [who.reducer] : []))[0] ?? (MAKER as string);
}

function rowKey(key: readonly KeyPart[]): string {
  const part = key.find((one) => typeof one === 'object' && 'row' in one) as { readonly digits?: number };
  return part.digits === undefined ? ROW : NUMBER.padStart(part.digits, '0');
}

function keyOf(parts: readonly KeyPart[], own: string): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part;
      if ('own' in part) return own;
      if ('row' in part) return part.digits === undefined ? ROW : NUMBER;
      return FIELD;
    })
    .join('');
}

const OUTCOMES: readonly string[] = ['request_rejected', 'cap_denied', 'policy_denied', 'cell_absent'];

/** A refused request is one of the outcomes: the receiver's count says what happened. */
async function tolerant(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isRepriseError(error) || !OUTCOMES.includes(error.code)) throw error;
  }
}
