/** What the operator of a world is told, while it opens and while it is open: errors, troubles, and who waits for them. */
import type { RepriseError } from '@reprise/contracts';
import { detailOfError, Scrubber } from '../../../ports/scrub/index.js';
import type { OpenStore } from '../../../ports/store/store.js';
import { systemClock } from '../../../ports/time/clock.js';
import type { ClockJump, Stamper } from '../../../ports/time/stamper.js';
import { WakingClock } from '../../../ports/time/waking-clock.js';
import { clockJumped, clockTrouble, type EndTrouble, type HostTrouble } from '../../../state/trouble.js';
import { StoreWatch } from '../write/store-watch.js';
import type { OpenKernelWorldOptions } from './options.js';
import { ServiceWatch } from './service-watch.js';
import { StatusPost } from './status-post.js';
import { TroubleListeners } from './trouble-listeners.js';
import { Troubles } from './troubles.js';

/** The operator's side of a world. */
export class Operator {
  /** Wakes the sleepers when time leaps. */
  readonly clock: WakingClock;
  readonly scrubber: Scrubber;
  readonly listeners = new TroubleListeners();
  readonly troubles: Troubles;
  readonly storeWatch: StoreWatch;
  readonly services: ServiceWatch;
  readonly #where: string;
  #stamper: Stamper | undefined;
  #end: EndTrouble | undefined;
  #post: StatusPost | undefined;

  constructor({ clock = systemClock, conceal, onError, store }: OpenKernelWorldOptions) {
    this.#where = store.label;
    this.clock = new WakingClock(clock);
    this.scrubber = new Scrubber(conceal);
    this.troubles = new Troubles(onError, this.scrubber);
    const shared = {
      clock: this.clock,
      now: () => this.now(),
      began: (trouble: HostTrouble) => this.#began(trouble),
      changed: () => this.#post?.changed(),
    };
    const report = (error: RepriseError) => this.tellWorld(error);
    this.storeWatch = new StoreWatch({ ...shared, where: store.label, report });
    this.services = new ServiceWatch({
      ...shared,
      scrubber: this.scrubber,
      report: (error, origin) => this.troubles.tell(error, origin),
    });
  }

  /** The journal time now; before the journal is read, the wall clock. */
  now(): number {
    return this.#stamper?.now() ?? this.clock.wall();
  }

  /** From now on the time is the journal's. */
  follow(stamper: Stamper): void {
    this.#stamper = stamper;
  }

  /** From now on readers of the store in other processes see the troubles. */
  postTo({ post }: Pick<OpenStore, 'post'>): void {
    if (post === undefined) return;
    this.#post = new StatusPost({ post, troubles: () => this.hostTroubles });
    this.#post.changed();
  }

  /** Reports an error of the world itself. */
  tellWorld(error: RepriseError): void {
    this.troubles.tell(error, { source: 'world', code: error.code });
  }

  /** The wall clock is not followed from now on, so that deadlines may pass too late; or it is right again. */
  clockJumped(jump: ClockJump | undefined): void {
    if (jump === undefined) return this.#post?.changed();
    this.#began(clockTrouble(jump));
    this.tellWorld(clockJumped(jump));
  }

  /** An error closed the world. */
  ended(error: RepriseError): void {
    const since = this.now();
    const detail = detailOfError(error, this.scrubber);
    this.#end = { kind: 'world_ended', where: this.#where, code: error.code, since, waiting: 0, error: detail };
    this.#began(this.#end);
    this.tellWorld(error);
  }

  /** What needs attention and is in no journal: the world and its store first, then the clock and the services outside. */
  get hostTroubles(): readonly HostTrouble[] {
    const jump = this.#stamper?.jump;
    return [
      ...(this.#end === undefined ? [] : [this.#end]),
      ...this.storeWatch.troubles,
      ...(jump === undefined ? [] : [clockTrouble(jump)]),
      ...this.services.troubles,
    ];
  }

  #began(trouble: HostTrouble): void {
    this.listeners.tell(trouble);
    this.#post?.changed();
  }
}
