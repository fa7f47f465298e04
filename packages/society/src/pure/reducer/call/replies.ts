/**
 * Replies of the kernel: what is sent names the route that takes its refusal, and what that route is about. So a cell has
 * one table of routes, and no other place reads a tag.
 */
import type { Address } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';

/** The routes of an entity and of a swarm. */
type Route =
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

/** Gives the reply to an event, or to a command, to its route. @returns whether it has one */
export function takeReply<S, C extends Pick<ReducerContext, 'address'>>(
  routes: Routes<S, C>,
  draft: S,
  { tag = '', to, outcome, code = '' }: Reply,
  ctx: C,
): boolean {
  const end = tag.indexOf('.');
  const route = end < 0 ? undefined : routes[tag.slice(0, end) as Route];
  route?.(
    draft,
    tag.slice(end + 1),
    { to: to ?? ctx.address, code: outcome === 'accepted' ? '' : code || 'not_authorized' },
    ctx,
  );
  return route !== undefined;
}
