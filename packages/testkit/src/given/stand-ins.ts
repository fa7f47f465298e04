/** Definitions that stand for the rest of an app, so that one reducer or one plan can be tested alone. */
import type { Address, Value } from '@reprise/contracts';
import { value } from '@reprise/contracts';
import {
  type App,
  defineEffect,
  type EffectDefinition,
  type PlanDefinition,
  type ReducerDefinition,
} from '@reprise/kernel';
import { type GivenSender, givenSender } from './given-sender.js';

type Node = ReducerDefinition['state'];
type Events = ReducerDefinition['events'];

const ANY: Node = { type: 'value' };

/** Makes a cell with a given state. */
export const SEEDED = 'testkit/Seeded@1';

/** A map with a value for every name. */
class Total<V> extends Map<string, V> {
  constructor(
    entries: Iterable<readonly [string, V]>,
    private readonly otherwise: (name: string) => V,
  ) {
    super(entries);
  }

  override get(name: string): V {
    return super.get(name) ?? this.otherwise(name);
  }

  override has(): boolean {
    return true;
  }
}

/** The events of a stand-in: those of the real reducer with their schemas, or any. */
function openEvents(real?: ReducerDefinition): Events {
  if (real === undefined) return new Total([], () => ({ node: ANY, creates: true }));
  return new Map([...real.events].map(([name, { node }]) => [name, { node, creates: true }]));
}

/**
 * A reducer that accepts its events and does nothing, under any name. With `real`, it checks the events as that one
 * does.
 */
export function sink(name: string, real?: ReducerDefinition): ReducerDefinition {
  const seedable = new Map([...openEvents(real), [SEEDED, { node: ANY, creates: true }]] as const);
  return {
    type: 'reducer',
    name,
    state: ANY,
    events: real === undefined ? openEvents() : seedable,
    facts: new Map(),
    logs: new Map(),
    tables: new Map(),
    digest: '00'.repeat(32),
    init: (_key, event) => (event.name === SEEDED ? event.value : {}),
    reduce: () => undefined,
  };
}

/** A reducer whose cells can be created with a state: that is the first event, and it is not reduced. */
function seedable(reducer: ReducerDefinition): ReducerDefinition {
  return {
    ...reducer,
    events: new Map([...reducer.events, [SEEDED, { node: ANY, creates: true }]]),
    init: (key, event) => (event.name === SEEDED ? event.value : reducer.init(key, event)),
    reduce: (draft, event, ctx) => (event.name === SEEDED ? undefined : reducer.reduce(draft, event, ctx)),
  };
}

const never = defineEffect({ kind: 'testkit.never@1', params: value(), receipt: value() });

/** A plan that takes the same input and waits for ever, so that a reducer's test sees its intent and no more. */
function inert(plan: PlanDefinition): PlanDefinition {
  return {
    ...plan,
    effects: new Map<string, EffectDefinition>([[never.name, never]]),
    *run(_input, context) {
      yield* context.awaitReceipt(context.emitEffect(never, null));
    },
  };
}

/** What a test states about the senders of the events that it gives. */
export interface Senders {
  /** The sender of the event that is delivered next; the outside when absent. */
  from: GivenSender | undefined;
  /** The cell that made the tested one; null for the outside. */
  readonly maker: Address | null;
}

/** A reducer whose events are judged by their declared senders here: the engine knows no cell that could send them. */
function judged(reducer: ReducerDefinition, senders: Senders): ReducerDefinition {
  const open = [...reducer.events].map(([name, { node, creates }]) => [name, { node, creates }] as const);
  let isNew = false;
  return {
    ...reducer,
    events: new Map(open),
    init: (key, event) => {
      isNew = true;
      return reducer.init(key, event);
    },
    reduce: (draft, event, context) => {
      const state = isNew ? undefined : (draft as Value);
      isNew = false;
      const { read, row } = givenSender({ reducer, event, state, context, ...senders });
      reducer.reduce(draft, row === undefined ? event : { ...event, row }, knowing(context, read));
    },
  };
}

/** The same context; what it says of the sender is what the test states. */
function knowing(ctx: Context, read: object): Context {
  return new Proxy(ctx, {
    get: (target, key) => Reflect.get(Object.hasOwn(read, key) ? read : target, key),
  });
}

/** An app of one reducer in a world of sinks; plans join it, inert, when the reducer emits them. */
export function appAround(reducer: ReducerDefinition, others: readonly ReducerDefinition[], senders: Senders): App {
  const plans = new Map<string, PlanDefinition>();
  const seeded = seedable(judged(reducer, senders));
  const tested: ReducerDefinition = {
    ...seeded,
    reduce: (draft, event, ctx) => seeded.reduce(draft, event, registering(ctx, plans)),
  };
  const known = [tested, ...others.map((other) => sink(other.name, other))];
  return {
    reducers: new Total(
      known.map((one) => [one.name, one]),
      (name) => sink(name),
    ),
    plans,
    effects: new Map(),
  };
}

type Context = Parameters<ReducerDefinition['reduce']>[2];

/** The same context; an emitted plan is registered first. */
function registering(ctx: Context, plans: Map<string, PlanDefinition>): Context {
  return new Proxy(ctx, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        const plan = (given[0] as { readonly plan?: PlanDefinition } | undefined)?.plan;
        if (key === 'emit' && plan !== undefined) plans.set(plan.name, inert(plan));
        return Reflect.apply(member, target, given);
      };
    },
  });
}

/** Starts a plan in its host. */
export const STARTED = 'testkit/Started@1';

/**
 * An app of one plan, in a cell that accepts every event that the plan raises; with `owner`, the events of that
 * reducer.
 */
export function appOfPlan(plan: PlanDefinition, cell: Address, owner?: ReducerDefinition): App {
  const host: ReducerDefinition = {
    ...sink(cell[0], owner),
    init: () => ({}),
    reduce: (_draft, event, ctx) => {
      if (event.name === STARTED) ctx.emit({ plan, input: event.value });
    },
  };
  const events = new Map([...host.events, [STARTED, { node: ANY, creates: true }]] as const);
  const hosted = owner === undefined ? host : { ...host, events };
  const reducers = new Total([[cell[0], hosted]], (name: string) => sink(name));
  return { reducers, plans: new Map([[plan.name, plan]]), effects: plan.effects };
}
