/**
 * Folds single frames through the kernel's own engine, with a map of leaves in place of a world: no store, no clock, no
 * adapter. A given/when/then test sees exactly the records that a world would journal.
 */
import type {
  Address,
  IngressRecord,
  JournalRecord,
  PlanAddress,
  PolicyRule,
  Receipt,
  Value,
} from '@reprise/contracts';
import { KERNEL_SEMANTICS } from '@reprise/contracts';
import { type App, decode, encode, FRAME_DEPTH_MAX, foldIngress, portableSha256, readTable } from '@reprise/kernel';

/** The reason of a refused input: the engine's code, and the fault or the reducer's own code behind it. */
interface Refused {
  readonly code: string;
  readonly what: string;
  readonly fault?: string;
  readonly reason?: string;
}

/** The result of one input and the rest of its cascade. */
export interface Folded {
  readonly records: readonly JournalRecord[];
  readonly refused?: Refused;
  /** Running effects whose cancellation was requested. */
  readonly aborts: readonly string[];
}

interface SetTimer {
  readonly due: number;
  readonly cell: Address;
  /** −1 for a cell's own timer. */
  readonly plan: number;
  readonly name: string;
}

type Leaves = Parameters<typeof foldIngress>[1];
type ListedLeaf = ReturnType<Leaves['list']> extends Iterable<infer L> ? L : never;
type LeafKey = ListedLeaf['key'];
type Stamped<I> = I extends IngressRecord ? Omit<I, 'seq' | 'at' | 'principal'> : never;

/** The time at which a bench starts: 2026-01-01T00:00:00Z. */
export const BENCH_START = 1_767_225_600_000;

/** A world of one map. */
export class Bench {
  readonly #leaves = new Map<string, { readonly key: LeafKey; readonly leaf: Value }>();
  readonly #blobs = new Map<string, Uint8Array>();
  #seq = 0;

  constructor(
    private readonly app: App,
    public at: number = BENCH_START,
    policy: readonly PolicyRule[] = [{ effect: '*', decision: 'allow' }],
  ) {
    const identity = { world: '11'.repeat(32), seed: '22'.repeat(32), semantics: KERNEL_SEMANTICS };
    this.fold({ kind: 'manifest', ...identity, reducers: [], plans: [], effects: [], policy: [...policy] });
  }

  /** Content that folds have written, by digest. */
  get blobs(): ReadonlyMap<string, Uint8Array> {
    return this.#blobs;
  }

  /** The timers that are set, the earliest first. */
  get timers(): SetTimer[] {
    const timers: SetTimer[] = [];
    for (const {
      key: { path },
    } of this.#leaves.values()) {
      if (path[0] !== 'timer') continue;
      const [, due, reducer, plan, name, key] = path as readonly [string, number, string, number, string, string];
      timers.push({ due, cell: [reducer, key], plan, name });
    }
    return timers.sort((a, b) => a.due - b.due);
  }

  /** Sends an event to a cell, as an outside request; notices of the kernel may be sent as well. */
  request(to: Address, event: { readonly name: string; readonly value: unknown }): Folded {
    const value = decode(encode(event.value));
    return this.fold({ kind: 'request', id: `given-${this.#seq}`, to, event: { name: event.name, value } });
  }

  /** Settles an effect with a receipt of its first attempt. */
  receipt(effect: string, receipt: Receipt): Folded {
    return this.fold({ kind: 'receipt', effect, attempt: 1, receipt });
  }

  /** Fires a timer, at its time or now, whichever is later. */
  fire({ due, cell, plan, name }: SetTimer): Folded {
    this.at = Math.max(this.at, due);
    return this.fold({ kind: 'timer', cell, plan: plan < 0 ? null : plan, name, due });
  }

  /** Folds an input and its `continue` frames; arms every effect at once, like a world below its bounds. */
  fold(ingress: Stamped<IngressRecord>): Folded {
    const records: JournalRecord[] = [];
    const aborts: string[] = [];
    try {
      let next: Stamped<IngressRecord> | undefined = ingress;
      while (next !== undefined) {
        const sealed = this.#seal(next);
        records.push(...sealed.records);
        aborts.push(...sealed.aborts);
        next = sealed.continues ? { kind: 'continue' } : undefined;
      }
      return { records, aborts };
    } catch (thrown) {
      return { records, aborts, refused: refusalOf(thrown) };
    }
  }

  /** A cell's state; undefined when it does not exist. */
  state(of: Address): Value | undefined {
    const cell = this.leaf('cell', of[0], of[1]) as { readonly live: boolean; readonly state: Value } | undefined;
    return cell?.live === true ? cell.state : undefined;
  }

  /** Whether a plan instance still exists. */
  has(plan: PlanAddress): boolean {
    return this.leaf('plan', plan[0], plan[2], plan[1]) !== undefined;
  }

  /** All entries of a cell's table. */
  table(of: Address, name: string): [key: string, value: Value][] {
    const leaves = this.#reader;
    const entries: [string, Value][] = [];
    for (let page = readTable(leaves, of, name); page.length > 0; ) {
      entries.push(...page);
      page = readTable(leaves, of, name, { after: page[page.length - 1]?.[0] as string });
    }
    return entries;
  }

  /** A leaf, as a copy. */
  leaf(...path: readonly Value[]): unknown {
    const found = this.#leaves.get(path.join('\0'));
    return found && decode(encode(found.leaf, FRAME_DEPTH_MAX));
  }

  get #reader(): Leaves {
    const list = (kind: string) => [...this.#leaves.values()].filter(({ key }) => key.path[0] === kind);
    return {
      get: <L>(key: { readonly id: string }) => this.#leaves.get(key.id)?.leaf as L | undefined,
      list: list as unknown as Leaves['list'],
      naming: list as unknown as Leaves['naming'],
    };
  }

  #seal(ingress: Stamped<IngressRecord>) {
    const principal = ingress.kind === 'receipt' ? (`adapter:${ingress.effect}` as const) : ('operator' as const);
    const stamped = { ...ingress, seq: this.#seq, at: this.at, principal } as IngressRecord;
    const folded = foldIngress({ app: this.app, hash: portableSha256 }, this.#reader, stamped);
    const sealed = folded.seal(folded.emitted.map(({ effect }) => effect));
    this.#seq++;
    for (const { key, after } of sealed.changes) {
      if (after === undefined) this.#leaves.delete(key.id);
      else this.#leaves.set(key.id, { key, leaf: after as Value });
    }
    for (const { ref, bytes } of sealed.staged) this.#blobs.set(ref.hex, bytes);
    return sealed;
  }
}

/** Converts the engine's refusals, which are thrown but are not errors, into results. */
function refusalOf(thrown: unknown): Refused {
  const signal = thrown as { readonly code?: unknown; readonly what?: unknown; readonly facts?: object };
  if (thrown instanceof Error || typeof signal.code !== 'string') throw thrown;
  const { fault, reason } = (signal.facts ?? {}) as { readonly fault?: string; readonly reason?: string };
  return {
    code: signal.code,
    what: String(signal.what),
    ...(fault === undefined ? {} : { fault }),
    ...(reason === undefined ? {} : { reason }),
  };
}
