/**
 * Replies of the kernel: what is sent names the route that takes its refusal, and what that route is about. So a cell has
 * one table of routes, and no other place reads a tag.
 */
import type { Address } from '@reprise/contracts';
import type { EventHandlers, ReducerContext, TableSchemas } from '@reprise/kernel/define';
import type { makingEvents } from '@reprise/org/contracts';

/** The routes of an entity and of a swarm. */
type Route =
  | 'adopted'
  | 'app'
  | 'archive'
  | 'ask'
  | 'compiled'
  | 'emcon'
  | 'failed'
  | 'group'
  | 'hold'
  | 'hot'
  | 'lead'
  | 'report'
  | 'rights'
  | 'said'
  | 'session'
  | 'stands'
  | 'swarm'
  | 'swarm-gone'
  | 'work';

/** The name of a reply: its route, and what it is about. */
export function tagOf(route: Route, about: string): string {
  return `${route}.${about}`;
}

/** Has a refusal come back by a route. */
export function refusedTo(route: Route, about = '') {
  return { reply: 'refusal', tag: tagOf(route, about) } as const;
}

/** A reply as its route takes it: who was to hear what was sent, and why it did not; the code of an acceptance is empty. */
export interface Replied {
  readonly to: Address;
  readonly code: string;
}

/** What a cell does with the replies of each of its routes. */
export type Routes<S, C> = Readonly<Partial<Record<Route, (draft: S, about: string, reply: Replied, ctx: C) => void>>>;

/** A reply to an event, or the refusal of a command. */
interface Reply {
  readonly tag?: string;
  readonly to?: Address;
  readonly outcome?: 'accepted' | 'rejected';
  readonly code?: string;
}

/** An event that no route takes. */
export interface Unrouted {
  readonly name: keyof typeof makingEvents;
  readonly value: unknown;
}

/** The handlers of replies and refusals: each goes to its route, and those of cells on their way to their rights to `others`. */
export function replyHandlers<S, T extends TableSchemas>(
  routes: Routes<S, ReducerContext<T>>,
  others: (draft: S, event: Unrouted, ctx: ReducerContext<T>) => void,
): EventHandlers<S, typeof makingEvents, T> {
  const routed = (name: Unrouted['name']) => (draft: S, value: Reply, ctx: ReducerContext<T>) => {
    if (!takeReply(routes, draft, value, ctx)) others(draft, { name, value }, ctx);
  };
  return {
    'sys/Reply@1': routed('sys/Reply@1'),
    'sys/CommandRefused@1': routed('sys/CommandRefused@1'),
    'work/RightsStand@1': (draft, value, ctx) => others(draft, { name: 'work/RightsStand@1', value }, ctx),
  };
}

function takeReply<S, T extends TableSchemas>(
  routes: Routes<S, ReducerContext<T>>,
  draft: S,
  { tag = '', to, outcome, code = '' }: Reply,
  ctx: ReducerContext<T>,
): boolean {
  const end = tag.indexOf('.');
  const take = end < 0 ? undefined : routes[tag.slice(0, end) as Route];
  const reply = { to: to ?? ctx.address, code: outcome === 'accepted' ? '' : code || 'not_authorized' };
  take?.(draft, tag.slice(end + 1), reply, ctx);
  return take !== undefined;
}
