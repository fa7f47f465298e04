/**
 * Senders for events that a reducer takes from cells. Every reducer of the app gets one more event, by which a cell of it
 * sends another event on: so an event comes from a cell that its declaration names.
 */
import { type Address, address, type Value, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { type App, creates, defineApp, defineReducer, type ReducerDefinition, type World } from '@reprise/kernel';
import { by, from } from '@reprise/kernel/define';
import type { GivenEvent } from '../given/given-reducer.js';

type EventDefinition = ReducerDefinition['events'] extends ReadonlyMap<string, infer E> ? E : never;
type Who = NonNullable<EventDefinition['from']>[number];
type KeyPart = Extract<Who, { form: 'row' }>['key'][number];

/** The event by which a cell sends another one on. */
export const RELAY = 'testkit/Relay@1';

const relaying = defineReducer({
  name: 'testkit/Relaying@1',
  state: z.strictObject({}),
  events: { [RELAY]: creates(from(z.strictObject({ to: address, name: z.string(), value: value() }), by.outside)) },
  init: () => ({}),
  reduce: (_draft, event, ctx) => {
    const { to, ...sent } = event.value;
    ctx.send(to, sent);
  },
});

/** The app with an additional event for every reducer, and without a policy: every cell reaches every other one. */
export function withRelays(app: App): App {
  const reducers = [...app.reducers.values()].map((one) => ({
    ...one,
    events: new Map([...one.events, ...relaying.events]),
    reduce: (...given: Parameters<ReducerDefinition['reduce']>) =>
      given[1].name === RELAY
        ? relaying.reduce(...(given as Parameters<typeof relaying.reduce>))
        : one.reduce(...given),
  }));
  return defineApp({ reducers, plans: [...app.plans.values()] });
}

/** What a sender is found by. */
interface Wanted {
  readonly app: App;
  readonly to: Address;
  readonly event: GivenEvent;
  /** Draws one of the declared forms, and one of the rows of a table. */
  readonly n: number;
}

/**
 * Finds a cell that the declaration of an event names, in the receiver as it is.
 *
 * @returns null for the outside: where that is drawn, and where no form names a cell of the app now
 */
export async function declaredSender(world: World, wanted: Wanted): Promise<Address | null> {
  const { app, to, event, n } = wanted;
  const declared = app.reducers.get(to[0])?.events.get(event.name)?.from ?? [by.outside];
  const state = await world.state(to);
  for (let i = 0; i < declared.length; i++) {
    const who = declared[(n + i) % declared.length] as Who;
    if (who.form === 'outside' || who.form === 'any' || who.form === 'maker') return null;
    const found = await cellOf(world, who, state as Fields | undefined, wanted);
    if (found !== undefined && app.reducers.has(found[0])) return found;
  }
  return null;
}

type Fields = Readonly<Record<string, Value>>;

async function cellOf(
  world: World,
  who: Who,
  state: Fields | undefined,
  { to, event, n }: Wanted,
): Promise<Address | undefined> {
  const keyOf = (parts: readonly KeyPart[], row = ''): string =>
    parts.map((part) => partText(part, { to, event: event.value as Fields, state, row })).join('');
  switch (who.form) {
    case 'self':
      return state === undefined ? undefined : to;
    case 'state': {
      const named = address.safeParse(state?.[who.state]);
      return named.success ? [...named.data] : undefined;
    }
    case 'cell':
      return [who.reducer, keyOf(who.key)];
    case 'row': {
      if (state === undefined) return undefined;
      const rows = await world.table(to, who.table);
      const row = rows[n % rows.length]?.[0];
      return row === undefined ? undefined : [who.reducer, keyOf(who.key, row)];
    }
    default:
      return undefined; // a plan, an adapter or a cell above is not staged
  }
}

interface PartsFrom {
  readonly to: Address;
  readonly event: Fields;
  readonly state: Fields | undefined;
  readonly row: string;
}

function partText(part: KeyPart, { to, event, state, row }: PartsFrom): string {
  if (typeof part === 'string') return part;
  if ('own' in part) return to[1];
  if ('row' in part) return part.digits === undefined ? row : String(Number(row));
  return String('event' in part ? event[part.event] : state?.[part.state]);
}
