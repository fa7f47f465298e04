/** What the parts of one simulation share. */
import type { SimulatedDisk } from './simulated-disk.js';
import type { SimulationPlay, SimulationRun, SimulationSubject } from './subject.js';
import type { Turnstile } from './turnstile.js';

/** The scene of a run. */
export interface Scene extends SimulationRun {
  readonly subject: SimulationSubject;
  readonly play: SimulationPlay;
  readonly turnstile: Turnstile;
  readonly disk: SimulatedDisk;
  /** The log, decision by decision. */
  readonly log: string[];
  /** Waits until nothing continues by itself (simulation/S1). Throws when a promise was broken (simulation/S2). */
  rest(): Promise<void>;
}
