/** The timers of a world by due time, and what fires them. */
import type { Address } from '@reprise/contracts';
import { Alarm } from '../../../ports/time/alarm.js';
import type { Clock } from '../../../ports/time/clock.js';
import { LazyHeap } from '../../../ports/time/lazy-heap.js';
import type { LeafChange, LeafKey } from '../../../pure/engine/index.js';

/** A timer, read from its leaf's key. */
export interface Timer {
  readonly due: number;
  readonly cell: Address;
  /** The plan's ordinal, or null for the cell's own timer. */
  readonly plan: number | null;
  readonly name: string;
}

/** Reads a timer from its leaf's key. */
export function timerOf(key: LeafKey): Timer {
  const [, due, reducer, plan, name, cellKey] = key.path as readonly ['timer', number, string, number, string, string];
  return { due, cell: [reducer, cellKey], plan: plan < 0 ? null : plan, name };
}

/** Timers in (due, address) order. Cleared timers are skipped when they come up. */
export class TimerQueue {
  readonly #live = new Map<string, Timer>();
  /** Timers that were taken while their frames are not durable yet. */
  readonly #taken = new Map<string, Timer>();
  readonly #queue = new LazyHeap<Queued>(before, ({ id, timer }) => this.#live.get(id) === timer);

  follow(changes: readonly LeafChange[]): void {
    for (const { key, after } of changes) {
      if (key.path[0] !== 'timer') continue;
      if (after !== undefined) this.add(key);
      else {
        this.#live.delete(key.id);
        this.#taken.delete(key.id);
      }
    }
  }

  add(key: LeafKey): void {
    if (this.#live.has(key.id)) return;
    const timer = timerOf(key);
    this.#live.set(key.id, timer);
    this.#queue.push({ id: key.id, timer });
  }

  /** When the next timer is due; undefined without one. */
  get nextDue(): number | undefined {
    return this.#queue.first()?.timer.due;
  }

  /** When the next timer is due that no durable frame has fired. */
  get nextUnfired(): number | undefined {
    let next = this.nextDue;
    for (const { due } of this.#taken.values()) next = Math.min(due, next ?? due);
    return next;
  }

  /** Takes the next timer that is due at `now`. It leaves this list; its frame removes the leaf. */
  takeDue(now: number): Timer | undefined {
    const first = this.#queue.first();
    if (first === undefined || first.timer.due > now) return undefined;
    this.#live.delete(first.id);
    this.#taken.set(first.id, first.timer);
    return first.timer;
  }
}

interface Queued {
  readonly id: string;
  readonly timer: Timer;
}

function before({ timer: a }: Queued, { timer: b }: Queued): boolean {
  return a.due !== b.due ? a.due < b.due : addressOf(a) < addressOf(b);
}

function addressOf(timer: Timer): string {
  return `${timer.cell[0]}\0${timer.cell[1]}\0${timer.plan ?? -1}\0${timer.name}`;
}

/** Fires timers when they are due. */
export class TimerDriver {
  readonly #alarm: Alarm;

  constructor(
    private readonly timers: TimerQueue,
    clock: Clock,
    private readonly now: () => number,
    private readonly fire: (timer: Timer) => void,
  ) {
    this.#alarm = new Alarm({ clock, now, ring: () => this.run() });
  }

  /** Fires due timers and sleeps until the next. */
  run(): void {
    for (let timer = this.timers.takeDue(this.now()); timer !== undefined; timer = this.timers.takeDue(this.now())) {
      this.fire(timer);
    }
    this.#alarm.set(this.timers.nextDue);
  }

  stop(): void {
    this.#alarm.stop();
  }
}
