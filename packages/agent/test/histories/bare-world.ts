/**
 * A world without waiting: the kernel's engine, its leaves and its journal, and in place of clock, dispatcher and
 * adapters the hands of a test. What a dispatcher decides is decided here by the same rules, one call at a time, so that
 * many thousands of histories can be played. What is written is an ordinary journal: `verifyStore` replays it.
 *
 * Invariants
 * B1  What is durable is frames and leaves; what runs is forgotten by a crash, and recovered as the kernel recovers it.
 * B2  A frame is whole: its `continue` frames follow before anything else.
 */
import { createHash } from 'node:crypto';
import type {
  CommandName,
  IngressRecord,
  JournalRecord,
  PolicyRule,
  Principal,
  Receipt,
  Ref,
  Value,
} from '@reprise/contracts';
import {
  type App,
  decode,
  encode,
  isKeyed,
  memory,
  nextHead,
  requestKey,
  type StoredFrame,
  verifyStore,
} from '@reprise/kernel';
import { reducerFor } from '@reprise/kernel/define';
import { assertIngress } from '../../../kernel/src/ports/journal/frame.js';
import { EMPTY_HEAD, type Head } from '../../../kernel/src/ports/journal/port.js';
import type { EffectLeaf, LeafOf, ListedKind, RunningPlans } from '../../../kernel/src/pure/engine/index.js';
import { cellKey, foldIngress, type LeafChange, type LeafKey } from '../../../kernel/src/pure/engine/index.js';
import type { CellLeaf } from '../../../kernel/src/pure/engine/leaf/leaves.js';
import { Refusal } from '../../../kernel/src/pure/engine/leaf/signals.js';
import { check } from '../../../kernel/src/pure/schema/index.js';
import { firstManifest } from '../../../kernel/src/run/world/open/era.js';
import {
  askInput,
  attemptInput,
  continueInput,
  deferredInput,
  type OwnInput,
  receiptInput,
  timerInput,
} from '../../../kernel/src/run/world/write/own-inputs.js';
import { timerOf } from '../../../kernel/src/run/world/write/timers.js';

/** What an adapter says of an effect. */
export type Said = Omit<Receipt, 'adapter' | 'attempts'>;

/** An adapter at work. */
export interface AtWork {
  readonly effect: string;
  readonly attempt: number;
  readonly leaf: EffectLeaf;
  /** It was told to stop. */
  told: boolean;
  /** It was settled without it: its answer comes late. */
  settled: boolean;
}

/** A frame as watchers see it. */
export interface Frame {
  readonly seq: number;
  readonly at: number;
  /** The chain digest after it. */
  readonly head: string;
  readonly records: readonly JournalRecord[];
  readonly changes: readonly LeafChange[];
  /** Content that it made, by digest. */
  readonly made: ReadonlyMap<string, Uint8Array>;
}

const hash = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());

interface Leaf {
  readonly key: LeafKey;
  readonly leaf: unknown;
}

/** What a world begins with. */
export interface BareOptions {
  readonly app: App;
  readonly policy?: readonly PolicyRule[];
  /** Kinds of effects that are deferred until the test settles them. */
  readonly handedOn: readonly string[];
  /** Told of each frame. */
  readonly onFrame: (frame: Frame) => void;
}

/** A world in the hands of a test. */
export class BareWorld {
  /** The journal's time. */
  now = 1_000_000;
  readonly running = new Map<string, AtWork>();
  readonly #leaves = new Map<string, Leaf>();
  readonly #effects = new Map<string, EffectLeaf>();
  readonly #timers = new Map<string, LeafKey>();
  readonly #frames: StoredFrame[] = [];
  readonly #content = new Map<string, Uint8Array>();
  #plans: RunningPlans = new WeakMap();
  #head: Head = EMPTY_HEAD;
  #ids = 0;

  constructor(private readonly options: BareOptions) {
    const { app, policy } = options;
    const random = (length: number): Uint8Array => new Uint8Array(length).fill(7);
    const make = firstManifest(
      { app, store: memory(), ...(policy === undefined ? {} : { policy }) },
      random,
      undefined,
    );
    this.#write(make({ seq: 0, at: this.now }));
  }

  /** The number of frames. */
  get frames(): number {
    return this.#frames.length;
  }

  /** Keeps content. */
  put(ref: Ref, bytes: Uint8Array): void {
    this.#content.set(ref.hex, bytes);
  }

  /** Asks something of a cell. @returns the code of a refusal */
  request(
    reducer: string,
    key: string,
    name: string,
    given: unknown,
    { as: principal = 'operator' }: { readonly as?: Principal } = {},
  ): string | undefined {
    const event = reducerFor(this.options.app, reducer)?.events.get(name);
    if (event === undefined) throw new Error(`no event ${name}`);
    const checked = check(event.node, decode(encode(given)));
    if (!checked.ok) throw new Error(`${name} ${checked.path}: expected ${checked.expected}, got ${checked.actual}`);
    const id = `r${this.#ids++}`;
    const request = { to: [reducer, key] as [string, string], event: { name, value: checked.value } };
    return this.#submit({ make: (stamps) => ({ kind: 'request', ...stamps, principal, id, ...request }) });
  }

  /** Brings a failed cell back. @returns the code of a refusal */
  revive(reducer: string, key: string): string | undefined {
    const id = `r${this.#ids++}`;
    const request = { to: [reducer, key] as [string, string], event: { name: 'sys/Revive@1', value: {} } };
    return this.#submit({ make: (stamps) => ({ kind: 'request', ...stamps, principal: 'operator', id, ...request }) });
  }

  /** Asks something of the kernel. @returns the code of a refusal */
  command(name: CommandName, given: unknown): string | undefined {
    const id = `k${this.#ids++}`;
    const command = { name, value: decode(encode(given)) } as never;
    return this.#submit({ make: (stamps) => ({ kind: 'command', ...stamps, principal: 'human:ann', id, command }) });
  }

  /** An adapter says what became of its effect. */
  answer({ effect, attempt }: AtWork, said: Said): void {
    this.running.delete(effect);
    this.#submit(receiptInput(effect, attempt, { adapter: 'test', attempts: attempt, ...said }));
  }

  /** A running effect asks a person, and continues meanwhile. */
  ask({ effect, attempt }: AtWork, question: Value): void {
    const n = this.#effects.get(effect)?.asks?.length ?? 0;
    this.#submit(askInput(effect, attempt, { n, question, expires: null, to: null }));
  }

  /** Content by its digest. */
  content(hex: string): Uint8Array | undefined {
    return this.#content.get(hex);
  }

  /** Time passes: what is due happens on the way, each at its time, or, after a leap, all at once. */
  advance(ms: number, leap: boolean): void {
    const until = this.now + ms;
    if (leap) this.now = until;
    for (;;) {
      const next = this.#nextDue();
      if (next === undefined || next.due > until) break;
      this.now = Math.max(this.now, next.due);
      next.happen();
    }
    this.now = until;
  }

  /** The process dies and is started again. */
  crash(): void {
    this.running.clear();
    this.#plans = new WeakMap();
    const open = [...this.#effects].sort(([, a], [, b]) => a.queued[0] - b.queued[0] || a.queued[1] - b.queued[1]);
    for (const [effect, leaf] of open) if (leaf.attempt > 0 && leaf.deferred === undefined) this.#recover(effect, leaf);
    for (const [effect, leaf] of open)
      if (this.#effects.get(effect) === leaf && mayStart(leaf)) this.#start(effect, leaf);
    this.advance(0, true);
  }

  /** Effects that wait for a decision or a settlement. */
  waiting(how: 'approval' | 'deferred'): string[] {
    return [...this.#effects].flatMap(([id, leaf]) => (leaf.late === undefined && leaf[how] !== undefined ? [id] : []));
  }

  /** The effects that are open. */
  get open(): ReadonlyMap<string, EffectLeaf> {
    return this.#effects;
  }

  /** A cell. */
  cell(reducer: string, key: string): CellLeaf | undefined {
    const leaf = this.#leaves.get(cellKey([reducer, key]).id);
    return leaf?.leaf as CellLeaf | undefined;
  }

  /** Replays the journal. @throws RepriseError when it gives other bytes */
  async verify(): Promise<void> {
    const store = memory({ hash });
    const open = await store.open();
    for (const bytes of this.#content.values()) await open.content.put(bytes);
    await open.journal.append(this.#frames, EMPTY_HEAD);
    const { head } = await verifyStore(open, { app: this.options.app });
    if (head.digest !== this.#head.digest) throw new Error('the replay ends at another head');
  }

  #recover(effect: string, leaf: EffectLeaf): void {
    const { attempt, guarantee } = leaf;
    const told = leaf.cancelled !== undefined || leaf.late !== undefined;
    const base = { adapter: 'kernel', attempts: attempt };
    if (guarantee !== 'idempotent') this.#submit(receiptInput(effect, attempt, { ...base, status: 'outcome_unknown' }));
    else if (told) this.#submit(receiptInput(effect, attempt, { ...base, status: 'cancelled' }));
    else this.#start(effect, leaf);
  }

  #start(effect: string, { attempt }: EffectLeaf): void {
    if (this.#submit(attemptInput(effect, attempt + 1, () => undefined)) === undefined) this.#execute([effect]);
  }

  #nextDue(): { readonly due: number; happen(): void } | undefined {
    let next: { readonly due: number; happen(): void } | undefined;
    for (const key of this.#timers.values()) {
      const timer = timerOf(key);
      if (next === undefined || timer.due < next.due)
        next = { due: timer.due, happen: () => this.#submit(timerInput(timer)) };
    }
    for (const work of this.running.values()) {
      const { deadline } = work.leaf;
      if (deadline === null || work.settled || (next !== undefined && next.due <= deadline)) continue;
      next = { due: deadline, happen: () => this.#timeOut(work) };
    }
    return next;
  }

  #timeOut({ effect, attempt }: AtWork): void {
    const receipt = { adapter: 'kernel', attempts: attempt, status: 'timeout', code: 'adapter_timeout' } as const;
    this.#submit(receiptInput(effect, attempt, receipt, true));
  }

  /** @returns the code of a refusal */
  #submit(fact: Pick<OwnInput, 'make'>): string | undefined {
    try {
      this.#write(fact.make({ seq: this.#head.seq + 1, at: this.now }, false));
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      return thrown.code;
    }
    return undefined;
  }

  #write(ingress: IngressRecord): void {
    assertIngress(ingress);
    const env = { app: this.options.app, hash, plans: this.#plans };
    const list = <K extends ListedKind>(kind: K) =>
      [...this.#leaves.values()].flatMap(({ key, leaf }) =>
        key.path[0] === kind ? [{ key, leaf: leaf as LeafOf[K] }] : [],
      );
    const get = <L>(key: LeafKey<L>) => this.#leaves.get(key.id)?.leaf as L | undefined;
    const leaves = { get, list, naming: list };
    const folded = foldIngress(env, leaves, ingress);
    const armed = folded.emitted.map(({ effect }) => effect);
    const { bytes, records, changes, staged, aborts, continues } = folded.seal(armed);
    const { seq, at, kind } = ingress;
    this.#head = nextHead(this.#head, bytes, hash);
    const key = isKeyed(ingress) ? { key: requestKey(ingress, hash) } : {};
    this.#frames.push({ seq, at, kind, head: this.#head.digest, bytes, ...key });
    for (const { ref, bytes: blob } of staged) this.#content.set(ref.hex, blob);
    for (const change of changes) this.#follow(change);
    for (const effect of aborts) this.#tell(effect);
    const made = new Map(staged.map(({ ref, bytes: blob }) => [ref.hex, blob]));
    this.options.onFrame({ seq, at, head: this.#head.digest, records, changes, made });
    if (continues) return this.#write(continueInput.make({ seq: seq + 1, at }, false));
    this.#execute(armed);
  }

  #follow({ key, after }: LeafChange): void {
    if (after === undefined) this.#leaves.delete(key.id);
    else this.#leaves.set(key.id, { key, leaf: after });
    const [kind, id] = key.path;
    if (kind === 'timer' && after === undefined) this.#timers.delete(key.id);
    else if (kind === 'timer') this.#timers.set(key.id, key);
    if (kind !== 'effect') return;
    const effect = String(id);
    if (after === undefined) this.#effects.delete(effect);
    else this.#effects.set(effect, after as EffectLeaf);
    const work = this.running.get(effect);
    if (work !== undefined) work.settled = this.#effects.get(effect)?.late !== undefined;
  }

  #tell(effect: string): void {
    const work = this.running.get(effect);
    if (work !== undefined) work.told = true;
  }

  /** Armed effects start; what is handed on waits for others from then on. */
  #execute(armed: readonly string[]): void {
    for (const effect of armed) {
      const leaf = this.#effects.get(effect);
      if (leaf === undefined || leaf.late !== undefined) continue;
      const { attempt } = leaf;
      if (this.options.handedOn.includes(leaf.name)) {
        this.#submit(deferredInput(effect, attempt, { expires: null, to: null }));
        continue;
      }
      this.running.set(effect, { effect, attempt, leaf, told: leaf.cancelled !== undefined, settled: false });
    }
  }
}

/** Whether an effect waits for nothing but its turn. */
function mayStart({ attempt, approval, deferred, late }: EffectLeaf): boolean {
  return attempt === 0 && approval === undefined && deferred === undefined && late === undefined;
}
