/** Lets an operator confirm a wall clock that the world would not follow by itself. */
import { type IngressRecord, isWhole, type Principal, RepriseError } from '@reprise/contracts';
import type { Stamper } from '../../../ports/time/stamper.js';
import { requirePrincipal } from '../../../pure/arguments/arguments.js';
import type { CommittedFrame, Stamps } from '../write/ingress.js';

/** The clock that an operator confirms. */
export interface ClockConfirmation {
  /** The wall clock that the operator saw, in milliseconds since 1970: `world.clockJump.wall`. */
  readonly wall: number;
  /** How far the clock may have moved since it was seen, in milliseconds; a day when absent. */
  readonly within?: number;
  /** The principal that confirms; `operator` when absent. */
  readonly as?: Principal;
}

/** A day: the operator may need a night. It is less than the distance between a wrong date and a right one. */
const CLOCK_CONFIRM_WITHIN_MS = 86_400_000;

interface ClockConfirmationParts {
  readonly stamper: Stamper;
  /** Folds one frame and makes it durable, with nothing in between. */
  commitAlone(make: (stamps: Stamps) => IngressRecord): Promise<CommittedFrame>;
}

/**
 * Journals the confirmation, and then follows the clock: the frame itself still has the old time. Runs between
 * commits.
 *
 * @throws RepriseError `clock_mismatch`, and the errors of the store
 */
export async function confirmClock(
  { wall, within = CLOCK_CONFIRM_WITHIN_MS, as = 'operator' }: ClockConfirmation,
  { stamper, commitAlone }: ClockConfirmationParts,
): Promise<CommittedFrame> {
  const { jump } = stamper;
  if (jump === undefined || Math.abs(jump.wall - wall) > within || !Number.isSafeInteger(jump.wall)) {
    throw new RepriseError('clock_mismatch', 'the confirmed clock is not the one this world is waiting for', {
      expected: jump === undefined ? 'no confirmation: time follows the wall clock' : jump.wall,
      actual: wall,
      hint: 'Read world.clockJump again; when it is undefined there is nothing to confirm.',
    });
  }
  const frame = await commitAlone((stamps) => ({ kind: 'clock', ...stamps, principal: as, wall: jump.wall }));
  stamper.confirm(jump.wall);
  return frame;
}

/** Checks the form of a confirmation, not the jump. @throws RepriseError `invalid_argument` */
export function requireConfirmation(given: unknown): void {
  const parts = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  const { wall, within = 0, as = 'operator' } = parts;
  requirePrincipal(as);
  if (!isWhole(wall)) throw notOne('wall', 'milliseconds since 1970', wall);
  if (typeof within !== 'number' || !(within >= 0)) throw notOne('within', 'milliseconds, 0 or more', within);
}

function notOne(where: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_argument', 'invalid clock confirmation', { where, expected, actual });
}
