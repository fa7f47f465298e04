/** What a run does now, with what keeps it from going on. */
import type { Trouble, World } from '@reprise/kernel';
import { SESSION_REDUCER } from '../contracts/session.js';
import type { EndedOrWaiting } from './run.js';
import { sessionsOf, type WaitParts } from './run-wait.js';

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
  const troubles = await parts.world.trouble();
  const ofStore = troubles.find(({ kind }) => kind === 'store_full' || kind === 'store_slow');
  if (ofStore !== undefined || which === 'store' || troubles.length === 0) return stalled(ofStore);
  const sessions = new Set<string>([session]);
  for await (const below of sessionsOf(parts, session)) sessions.add(below);
  return stalled(
    troubles.find((trouble) => cellsOf(trouble).some(([of, key]) => of === SESSION_REDUCER && sessions.has(key))),
  );
}

function stalled(trouble: Trouble | undefined): Stalled | undefined {
  return trouble && { status: 'stalled', code: trouble.code, since: trouble.since, trouble };
}

/** The cells that a trouble holds up. */
function cellsOf(trouble: Trouble): readonly (readonly [string, string])[] {
  if (trouble.kind === 'cell_failed') return [trouble.where];
  return trouble.kind === 'service_failing' ? trouble.cells : [];
}
