import { type Actor, actorOf, type Principal } from '@reprise/contracts';
import { KERNEL } from '@reprise/org/contracts';

/** The receipt of a plan's effect says who settled it; without one, the program that is the world itself. */
export function settledBy({ by, actor }: { readonly by?: string; readonly actor?: Actor }): Actor {
  return by === undefined ? (actor ?? KERNEL) : actorOf(by as Principal, actor);
}
