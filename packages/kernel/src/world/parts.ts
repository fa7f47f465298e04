/** What an open world is made of. The opening makes the parts; each half of the world takes those that it uses. */
import type { RepriseError } from '@reprise/contracts';
import type { Performer } from '../adapter/performer.js';
import type { App } from '../define/index.js';
import type { ForkLeaf } from '../engine/index.js';
import type { LeafTable } from '../state/leaf-table.js';
import type { OpenStore } from '../store/store.js';
import type { Clock, RandomBytes } from '../time/clock.js';
import type { Stamper } from '../time/stamper.js';
import type { Ack } from './acknowledgement.js';
import type { ClockConfirmation } from './confirm-clock.js';
import type { Eraser } from './erasure.js';
import type { Stepper } from './stepper.js';
import type { TimerDriver, TimerQueue } from './timers.js';
import type { Watchers } from './watchers.js';

/** The parts of an open world. */
export interface WorldParts {
  readonly id: string;
  readonly app: App;
  /** Earlier apps, to perform what was written with them. */
  readonly legacy: readonly App[];
  readonly store: OpenStore;
  readonly table: LeafTable;
  readonly stepper: Stepper;
  readonly eraser: Eraser;
  readonly fork: ForkLeaf | undefined;
  /** Whether this opening wrote the first frame. */
  readonly created: boolean;
  readonly performer: Performer;
  readonly timers: TimerQueue;
  readonly timerDriver: TimerDriver;
  readonly stamper: Stamper;
  readonly random: RandomBytes;
  readonly clock: Clock;
  readonly watchers: Watchers;
  /** Resolves with why nothing more is written. */
  readonly ended: Promise<RepriseError>;
  readonly drive: 'auto' | 'manual';
  snapshot(): Promise<Ack>;
  confirmClock(confirmation: ClockConfirmation): Promise<Ack>;
}
