/** The shapes of who is in a world. */
import type { Owner } from '../names/owner.js';

/** A frame and its time in journal milliseconds. */
export interface FrameTime {
  readonly frame: number;
  readonly at: number;
}

/** A session, in the list of who is there. */
export interface SessionRow {
  readonly of: Owner;
  /** `Idle`, `Running`, and so on, as the session itself says it. */
  readonly lifecycle: string;
  /** The number of items of its transcript. */
  readonly items: number;
  /** When its state last changed; null for before the newest snapshot. */
  readonly changed: FrameTime | null;
}

/** The answer of `sessionsOf`: the sessions of a world after a frame. */
export interface SessionsReport {
  readonly frame: number;
  /** The session that changed last stands first. */
  readonly sessions: readonly SessionRow[];
}

/** The parts of a world, by name, the oldest first. */
export interface WorldParts {
  readonly trees: readonly string[];
  readonly projects: readonly string[];
  /** Whether it has agents of a society. */
  readonly society: boolean;
}
