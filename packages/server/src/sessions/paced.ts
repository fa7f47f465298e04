/** What stands before each answer about sessions: how often a principal may ask, and refusals as problem details. */
import type { Principal } from '@reprise/contracts';
import { busy, type Entrance, type Surface } from '../door/door.js';
import { problemOf } from './problem.js';

/** Answers a request when its principal may ask again; what refuses it is its answer. @throws an error of the server */
export async function paced(
  surface: Pick<Surface, 'refuse'>,
  { pace }: Pick<Entrance, 'pace'>,
  principal: Principal,
  answer: () => Promise<Response>,
): Promise<Response> {
  const wait = pace.take(principal, 1);
  if (wait !== undefined) return busy(surface, 'requests', wait);
  try {
    return await answer();
  } catch (error) {
    const refused = problemOf(error);
    if (refused === undefined) throw error;
    return refused;
  }
}
