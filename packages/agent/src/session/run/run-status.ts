/** What a run does now, with what keeps it from going on. */
import type { Trouble, World } from '@reprise/kernel';
import { SESSION_REDUCER } from '../../contracts/session.js';
import type { EndedOrWaiting } from './run.js';
import { sessionsOf, type WaitParts } from './run-wait.js';
import { stallsOf } from './stalls.js';

/** A run that does not go on, and nobody is asked: an operator has to look at it. */
export interface Stalled {
  readonly status: 'stalled';
  /** The code of the trouble, such as `store_full` or `provider_error_retryable/network`. */
  readonly code: string;
  /** When the trouble began, in journal milliseconds. */
  readonly since: number;
  /** The trouble, as `world.trouble()` lists it. */
  readonly trouble: Trouble;
}

/** What a run does now. */
export type RunStatus<R> = EndedOrWaiting<R> | { readonly status: 'running' } | Stalled;

/** What tells why a run is stalled. */
interface StallParts extends WaitParts {
  readonly world: WaitParts['world'] & Pick<World, 'trouble'>;
}

/**
 * The first trouble that holds up a session, or a session below it; undefined when none does.
 *
 * @param which `store` for that of the store alone, which holds up all runs
 */
export async function stalledBy(parts: StallParts, session: string, which?: 'store'): Promise<Stalled | undefined> {
  const [trouble] = await stallsOfSession(parts, session, which);
  return trouble && { status: 'stalled', code: trouble.code, since: trouble.since, trouble };
}

/** The troubles that hold up a session, or a session below it: those of the store alone, where it has some. */
export async function stallsOfSession(
  parts: StallParts,
  session: string,
  which?: 'store',
): Promise<readonly Trouble[]> {
  const troubles = await parts.world.trouble();
  if (which === 'store') return troubles.filter(({ kind }) => kind === 'store_full' || kind === 'store_slow');
  // What is asked below would wait for the store.
  const ofAll = stallsOf(troubles, () => false);
  if (ofAll.length > 0) return ofAll;
  if (troubles.length === 0) return [];
  const sessions = new Set<string>([session]);
  for await (const below of sessionsOf(parts, session)) sessions.add(below);
  return stallsOf(troubles, ([of, key]) => of === SESSION_REDUCER && sessions.has(key));
}
