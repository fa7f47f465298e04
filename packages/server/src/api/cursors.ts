/**
 * Cursors of events: the place of an event in the journal, and the world in which it is. A world and its forks have places
 * with the same numbers, and other events there.
 */
import type { Cursor } from '@reprise/agent';
import { Problem } from '../sessions/problem.js';

const FORM = /^(\d{1,15})\.(\d{1,9})\.([0-9a-f]{8})$/;

/** The cursors of one world. */
export class EventCursors {
  /** @param head the last durable frame now */
  constructor(
    private readonly world: string,
    private readonly head: () => number,
  ) {}

  /** The cursor of an event. */
  of(place: Cursor): string {
    return `${place}.${this.world.slice(0, 8)}`;
  }

  /** The event behind which a client goes on. @throws Problem for what no client of this world was given */
  read(cursor: string): Cursor {
    const [, seq = '', record = '', world] = FORM.exec(cursor) ?? [];
    if (world === undefined) throw new Problem(400, 'invalid_argument', 'This is no cursor.', { where: 'after' });
    if (world !== this.world.slice(0, 8))
      throw new Problem(409, 'wrong_cursor', 'The cursor is of another world: begin again without one.');
    if (Number(seq) > this.head())
      throw new Problem(
        409,
        'wrong_cursor',
        'The cursor is of an event that this world does not have: begin again without one.',
      );
    return `${Number(seq)}.${Number(record)}`;
  }
}
