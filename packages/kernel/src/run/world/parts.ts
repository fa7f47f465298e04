/** What an open world is made of. The opening makes the parts; each half of the world takes those that it uses. */
import type { RepriseError } from '@reprise/contracts';
import type { ContentStore } from '../../ports/content/port.js';
import type { OpenStore } from '../../ports/store/store.js';
import type { Clock, RandomBytes } from '../../ports/time/clock.js';
import type { Stamper } from '../../ports/time/stamper.js';
import type { App } from '../../pure/define/index.js';
import type { ForkLeaf } from '../../pure/engine/index.js';
import type { LeafTable } from '../../state/leaf-table.js';
import type { Callers } from '../callers/callers.js';
import type { Executor } from '../dispatch/executor.js';
import type { ClockConfirmation } from './life/confirm-clock.js';
import type { Eraser } from './life/erasure.js';
import type { Operator } from './open/operator.js';
import type { RecentFrames } from './read/recent-frames.js';
import type { Watchers } from './read/watchers.js';
import type { Ack } from './write/acknowledgement.js';
import type { Stepper } from './write/stepper.js';
import type { TimerDriver, TimerQueue } from './write/timers.js';

/** The parts of an open world. */
export interface WorldParts {
  readonly id: string;
  /** The label of the store, for errors. */
  readonly label: string;
  readonly app: App;
  /** Earlier apps, to execute what was written with them. */
  readonly legacy: readonly App[];
  readonly store: OpenStore;
  readonly table: LeafTable;
  readonly stepper: Stepper;
  readonly eraser: Eraser;
  readonly fork: ForkLeaf | undefined;
  /** Whether this opening wrote the first frame. */
  readonly created: boolean;
  readonly executor: Executor;
  readonly timers: TimerQueue;
  readonly timerDriver: TimerDriver;
  readonly stamper: Stamper;
  readonly random: RandomBytes;
  readonly clock: Clock;
  readonly watchers: Watchers;
  /** The newest frames, for those who watch. */
  readonly recent: RecentFrames;
  readonly callers: Callers;
  /** What the operator is told. */
  readonly operator: Operator;
  /** The content of the store, as callers get it. */
  readonly content: ContentStore;
  /** Resolves with the reason why nothing more is written. */
  readonly ended: Promise<RepriseError>;
  readonly drive: 'auto' | 'manual';
  /** A secret of the world, which is concealed from then on. */
  secret(name: string): Promise<string>;
  snapshot(): Promise<Ack>;
  confirmClock(confirmation: ClockConfirmation): Promise<Ack>;
}
