/** What a request or a command may state about who acted. */
import { ACTOR_BYTES_MAX, type Actor, mayState, type Principal, type Value } from '@reprise/contracts';
import { byteLength } from '../../codec/index.js';
import { Refusal } from '../leaf/signals.js';

/** Refuses an actor that is too large, or that names a person whom the principal does not speak for. */
export function requireActor(who: Principal, actor: Actor | undefined): void {
  if (actor === undefined) return;
  const bytes = byteLength(actor as Value);
  if (bytes > ACTOR_BYTES_MAX) {
    throw new Refusal('bound_exceeded', 'the actor is too large', {
      where: 'actor',
      expected: `at most ${ACTOR_BYTES_MAX} bytes`,
      actual: `${bytes} bytes`,
    });
  }
  if (mayState(who, actor)) return;
  throw new Refusal('cap_denied', `${who} may not act in the name of another person`, {
    where: 'actor',
    actual: actor,
    hint: 'State a program or a rule as the actor, or decide as the person itself.',
  });
}
