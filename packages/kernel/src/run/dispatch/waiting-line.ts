import { Alarm } from '../../ports/time/alarm.js';
import type { Clock } from '../../ports/time/clock.js';
import { LazyHeap } from '../../ports/time/lazy-heap.js';
import type { EffectLeaf } from '../../pure/engine/index.js';

interface Waiting {
  readonly effect: string;
  readonly kind: string;
  readonly queued: readonly [number, number];
  /** The deadline; Infinity without one. */
  readonly deadline: number;
}

/** The collaborators of a waiting line. */
interface WaitingLineParts {
  readonly clock: Clock;
  now(): number;
  /** Called when the deadline of a waiting effect has come. */
  due(): void;
}

/**
 * Effects that wait for their turn. It finds, for each kind, the effect emitted first and, over all kinds, the effect
 * with the earliest deadline. A step costs the logarithm of how many wait.
 */
export class WaitingLine {
  readonly #waiting = new Map<string, Waiting>();
  readonly #kinds = new Map<string, LazyHeap<Waiting>>();
  readonly #deadlines = new LazyHeap<Waiting>(
    (a, b) => a.deadline < b.deadline,
    (waiting) => this.#waits(waiting),
  );
  readonly #alarm: Alarm;

  constructor(private readonly parts: WaitingLineParts) {
    this.#alarm = new Alarm({ clock: parts.clock, now: () => parts.now(), ring: () => parts.due() });
  }

  /** The number of waiting effects. */
  get size(): number {
    return this.#waiting.size;
  }

  has(effect: string): boolean {
    return this.#waiting.has(effect);
  }

  /** Kinds with waiting effects, and kinds that had some. A copy: effects may leave meanwhile. */
  kinds(): readonly string[] {
    return [...this.#kinds.keys()];
  }

  /** The next effect of a kind; it stays in the line. */
  first(kind: string): string | undefined {
    return this.#kinds.get(kind)?.first()?.effect;
  }

  /** An effect whose deadline has passed; it stays in the line. */
  overdue(): string | undefined {
    const next = this.#deadlines.first();
    return next !== undefined && this.parts.now() >= next.deadline ? next.effect : undefined;
  }

  /** Puts an effect where its emission places it. */
  add(effect: string, { name, queued, deadline }: EffectLeaf): void {
    const waiting: Waiting = { effect, kind: name, queued, deadline: deadline ?? Number.POSITIVE_INFINITY };
    this.#waiting.set(effect, waiting);
    this.#lineOf(name).push(waiting);
    if (deadline !== null) this.#deadlines.push(waiting);
  }

  /** Takes an effect out. @returns whether it waited */
  remove(effect: string): boolean {
    return this.#waiting.delete(effect);
  }

  /** Sleeps until the next deadline, then reports it. */
  watch(): void {
    this.#alarm.set(this.#deadlines.first()?.deadline);
  }

  rest(): void {
    this.#alarm.stop();
  }

  #waits(waiting: Waiting): boolean {
    return this.#waiting.get(waiting.effect) === waiting;
  }

  #lineOf(kind: string): LazyHeap<Waiting> {
    let line = this.#kinds.get(kind);
    if (line === undefined) {
      line = new LazyHeap<Waiting>(emittedBefore, (waiting) => this.#waits(waiting));
      this.#kinds.set(kind, line);
    }
    return line;
  }
}

function emittedBefore({ queued: a }: Waiting, { queued: b }: Waiting): boolean {
  return a[0] !== b[0] ? a[0] < b[0] : a[1] < b[1];
}
