/** A queue as a plain program: what each command answers, and who hears what. */

/** A command to a queue, as a client or the host gives it. */
export type QueueStep =
  | {
      readonly do: 'enqueue';
      readonly by: string;
      readonly item: string;
      readonly priority: number;
      readonly lease: number | null;
    }
  | { readonly do: 'done'; readonly by: string; readonly item: string }
  | { readonly do: 'cancel'; readonly by: string; readonly item: string }
  | { readonly do: 'limit'; readonly limit: number }
  | { readonly do: 'pause' }
  | { readonly do: 'resume' }
  | { readonly do: 'pass'; readonly ms: number };

interface Item {
  readonly item: string;
  readonly by: string;
  readonly priority: number;
  readonly lease: number | null;
  readonly n: number;
  due: number | null;
}

/** The model. */
export class QueueModel {
  readonly heard = new Map<string, string[]>();
  #waiting: Item[] = [];
  #running: Item[] = [];
  #paused = false;
  #n = 0;

  constructor(
    private limit: number,
    private now: number,
  ) {}

  /** Executes a step. */
  step(step: QueueStep): void {
    switch (step.do) {
      case 'enqueue':
        if (this.#find(step.item) !== undefined) return this.#tell(step.by, 'item_known');
        this.#waiting.push({ ...step, n: this.#n++, due: null });
        return this.#grant();
      case 'done':
      case 'cancel':
        return this.#release(step.do, step.by, step.item);
      case 'limit':
        this.limit = step.limit;
        return this.#grant();
      case 'pause':
        this.#paused = true;
        return;
      case 'resume':
        this.#paused = false;
        return this.#grant();
      case 'pass':
        return this.#pass(this.now + step.ms);
      default:
        step satisfies never;
    }
  }

  /** The items in line and those that have a slot, by name. */
  get items(): { readonly waiting: string[]; readonly running: string[] } {
    const names = (list: readonly Item[]) => list.map(({ item }) => item).sort();
    return { waiting: names(this.#waiting), running: names(this.#running) };
  }

  #find(name: string): Item | undefined {
    return [...this.#waiting, ...this.#running].find(({ item }) => item === name);
  }

  #release(how: 'done' | 'cancel', by: string, name: string): void {
    const found = this.#find(name);
    if (found === undefined) return this.#tell(by, 'item_unknown');
    if (found.by !== by && by !== 'operator') return this.#tell(by, 'not_yours');
    if (how === 'done' && !this.#running.includes(found)) return this.#tell(by, 'not_running');
    this.#drop(found);
    if (how === 'cancel' && by === 'operator') this.#tell(found.by, `flow/ItemCancelled@1 ${name}`);
    this.#grant();
  }

  #drop(item: Item): void {
    this.#waiting = this.#waiting.filter((one) => one !== item);
    this.#running = this.#running.filter((one) => one !== item);
  }

  #grant(): void {
    while (!this.#paused && this.#running.length < this.limit && this.#waiting.length > 0) {
      const [first] = this.#waiting.toSorted((a, b) => b.priority - a.priority || a.n - b.n) as [Item];
      this.#drop(first);
      first.due = first.lease === null ? null : this.now + first.lease;
      this.#running.push(first);
      this.#tell(first.by, `flow/Granted@1 ${first.item}`);
    }
  }

  #pass(until: number): void {
    for (;;) {
      const due = Math.min(...this.#running.map((one) => one.due ?? Number.POSITIVE_INFINITY));
      if (due > until) break;
      this.now = Math.max(this.now, due);
      const ended = this.#running.filter((one) => one.due !== null && one.due <= this.now);
      for (const item of ended) this.#drop(item);
      for (const { by, item } of ended) this.#tell(by, `flow/Expired@1 ${item}`);
      this.#grant();
    }
    this.now = until;
  }

  #tell(who: string, what: string): void {
    if (who === 'operator') return;
    this.heard.set(who, [...(this.heard.get(who) ?? []), what]);
  }
}
