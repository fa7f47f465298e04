/**
 * Notes of a move in the two stores of a world, so that it is never in use in both of them: each would start its effects.
 * The store that is left says where the world is now; the other one says that it is not whole yet.
 */
import { RepriseError } from '@reprise/contracts';
import type { OpenStore } from '../../ports/store/store.js';

const MOVED = 'moved ';
const MOVING = 'moving';
const LEAVING = 'leaving';
const UNSETTLED = 'unsettled ';

/** Where the world of this store has moved to; undefined when it has not moved. */
export function movedTo({ markAtOpen }: Pick<OpenStore, 'markAtOpen'>): string | undefined {
  return markAtOpen?.startsWith(MOVED) === true ? markAtOpen.slice(MOVED.length) : undefined;
}

/** Whether a move into this store has begun and not ended. */
export function isMovedInto({ markAtOpen }: OpenStore): boolean {
  return markAtOpen === MOVING;
}

/** Notes that a world is being moved into a store. Durable when it resolves. */
export function noteMoving(store: OpenStore): Promise<void> {
  return store.mark(MOVING);
}

/** Notes that the world of a store has moved. Durable when it resolves. */
export function noteMoved(store: OpenStore, to: string): Promise<void> {
  return store.mark(MOVED + to);
}

/** Whether the last process that had the world open moved it: also when that was killed, the world is whole. */
export function isLeaving({ markAtOpen }: OpenStore): boolean {
  return markAtOpen === LEAVING;
}

/** Notes that the world of a store is being moved out of it, and is in use here until then. Durable when it resolves. */
export function noteLeaving(store: OpenStore): Promise<void> {
  return store.mark(LEAVING);
}

/**
 * Notes that the world was not closed by the last process that used it, since the opening that found this out closes the
 * store properly. The note that stood is kept in it.
 */
export async function noteUnsettled(store: OpenStore): Promise<void> {
  const { markAtOpen, ended } = store;
  if (unsettledNote(store) === undefined) await store.mark(UNSETTLED + (ended === 'lost' ? '' : (markAtOpen ?? '')));
}

/** A note of an input that was being folded, as `run/world/write/suspects.ts` writes it. */
const OF_AN_INPUT = /^(\d+) /;

/**
 * Notes that the world was not closed by the last process that used it, where an opening is refused: it closes the store
 * properly, and what the last process has noted of an input would count no longer.
 */
export async function keepUnsettled(store: OpenStore): Promise<void> {
  const { markAtOpen, cleanlyClosed, ended } = store;
  const before = unsettledNote(store);
  if (before !== undefined) return store.mark(UNSETTLED + before); // this opening may have removed it
  if (cleanlyClosed || (markAtOpen !== null && !OF_AN_INPUT.test(markAtOpen))) return; // a note of a fork or a move stays
  const own = ended === 'lost' ? withoutItsDeath(markAtOpen ?? '') : markAtOpen;
  await store.mark(UNSETTLED + (own ?? ''));
}

/** A note is written for the case of a death, which it counts. */
function withoutItsDeath(note: string): string {
  return note.replace(OF_AN_INPUT, (_all, deaths: string) => `${Number(deaths) - 1} `);
}

/** The note of the last process that used a world and did not close it, where a move has found that out; undefined otherwise. */
export function unsettledNote({ markAtOpen }: OpenStore): string | undefined {
  return markAtOpen?.startsWith(UNSETTLED) === true ? markAtOpen.slice(UNSETTLED.length) : undefined;
}

/** Removes what a move has noted in a store that its world has not left: it is in use there again. */
export async function noteInUse(store: OpenStore): Promise<void> {
  if (isLeaving(store) || unsettledNote(store) !== undefined) await store.mark(null);
}

/**
 * Refuses a store whose world has moved, or is being moved into it.
 *
 * @throws RepriseError `world_elsewhere`, `move_unfinished`
 */
export function requireInPlace(store: OpenStore): void {
  const to = movedTo(store);
  if (to !== undefined)
    throw new RepriseError('world_elsewhere', 'this world has moved to another store', {
      expected: 'the world where it is in use',
      actual: to,
      hint: 'Open it there, or move it back. This copy can still be read.',
    });
  if (isMovedInto(store))
    throw new RepriseError('move_unfinished', 'a world is being moved into this store', {
      hint: 'Run the move again: it continues where it stopped. Until then the world is whole in the store that it comes from.',
    });
}
