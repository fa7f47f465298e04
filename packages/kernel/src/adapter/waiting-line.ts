import type { EffectLeaf } from '../engine/index.js';
import type { Clock } from '../time/clock.js';

interface Waiting {
  readonly effect: string;
  readonly leaf: EffectLeaf;
  /** Ends the watch over its deadline. */
  readonly watch: AbortController;
}

/** What a waiting line works with. */
export interface WaitingLineParts {
  readonly clock: Clock;
  /** The journal time now. */
  now(): number;
  /** The deadline of one that still waits has come. */
  due(): void;
}

/** Effects that wait for their turn, in the order in which they were emitted. */
export class WaitingLine {
  #line: Waiting[] = [];

  constructor(private readonly parts: WaitingLineParts) {}

  /** How many wait. */
  get length(): number {
    return this.#line.length;
  }

  /** The waiting effects and their kinds, first the one that was emitted first. A copy: they may leave meanwhile. */
  list(): readonly { readonly effect: string; readonly name: string }[] {
    return this.#line.map(({ effect, leaf }) => ({ effect, name: leaf.name }));
  }

  /** Whether an effect of this kind waits. */
  hasKind(name: string): boolean {
    return this.#line.some(({ leaf }) => leaf.name === name);
  }

  /** Puts an effect where its emission places it. */
  add(effect: string, leaf: EffectLeaf): void {
    const waiting: Waiting = { effect, leaf, watch: new AbortController() };
    const last = this.#line.at(-1);
    this.#line.push(waiting);
    if (last !== undefined && order(last, waiting) > 0) this.#line.sort(order);
    if (leaf.deadline !== null) void this.#watch(leaf.deadline, waiting.watch.signal);
  }

  /** Takes an effect out, if it waits. */
  remove(effect: string): void {
    const at = this.#line.findIndex((waiting) => waiting.effect === effect);
    if (at < 0) return;
    this.#line[at]?.watch.abort();
    this.#line.splice(at, 1);
  }

  /** Watches over no deadline any more. */
  close(): void {
    for (const { watch } of this.#line) watch.abort();
  }

  async #watch(deadline: number, stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted && this.parts.now() < deadline) {
      await this.parts.clock.sleep(deadline - this.parts.now(), stopped);
    }
    if (!stopped.aborted) this.parts.due();
  }
}

function order({ leaf: a }: Waiting, { leaf: b }: Waiting): number {
  return a.queued[0] - b.queued[0] || a.queued[1] - b.queued[1];
}
