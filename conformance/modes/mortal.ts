/**
 * A world whose processes die: each append and each start of something outside is a step, and a blow falls on one.
 *
 * Invariants
 * M1  A dead process writes nothing, and starts nothing outside, any more.
 * M2  What was acknowledged is noted when the answer leaves the store; what the dying process did not hear is not.
 * M3  What happens outside is counted here, where no crash of the world uncounts it; and a tool that can look up whether
 *     its call happened finds what was counted.
 */
import { type OpenStore, RepriseError, type Store, type StoredFrame } from '@reprise/kernel';
import type { ModelClient } from '@reprise/providers';
import type { Tool } from 'reprise';
import { quickMemory } from '../quick-memory.js';
import { Latch } from '../scenarios/latch.js';

/** When a process dies: around the n-th append of frames, or as the n-th thing outside has been started. */
export type Blow =
  | { readonly step: 'append'; readonly n: number; readonly side: 'before' | 'after' }
  | { readonly step: 'dispatch'; readonly n: number };

/** A blow in words. */
export function wordsOf(blow: Blow): string {
  return blow.step === 'append' ? `${blow.side} append ${blow.n}` : `at dispatch ${blow.n}`;
}

/** The state that outlives its processes: the store, and the events outside. */
export class Mortal {
  store: Store = quickMemory();
  /** The heads that were acknowledged to processes. */
  readonly acknowledged: string[] = [];
  /** By its key, how often each call was replayed that must not happen twice. */
  readonly replayed = new Map<string, number>();
  #crashed = false;

  /** A process that has the world open from now on. */
  process(blow?: Blow): MortalProcess {
    return new MortalProcess(this, blow);
  }

  /** Opens the store as the next process finds it. */
  async open(): Promise<OpenStore> {
    const open = await this.store.open();
    const cleanlyClosed = open.cleanlyClosed && !this.#crashed;
    this.#crashed = false;
    return { ...open, cleanlyClosed };
  }

  /** Its process died. */
  crashed(): void {
    this.#crashed = true;
  }
}

/** One process, with its replacements of store, model and tools. */
export class MortalProcess {
  appends = 0;
  dispatches = 0;
  readonly #death = new Latch();
  #dead = false;
  #held: OpenStore | undefined;

  constructor(
    private readonly mortal: Mortal,
    private readonly blow: Blow | undefined,
  ) {}

  /** Resolves when it is dead. */
  get death(): Promise<void> {
    return this.#death.opened;
  }

  /** The store, as this process has it. */
  get store(): Store {
    const { store } = this.mortal;
    return { label: 'mortal', open: () => this.#open(), openReadonly: () => store.openReadonly() };
  }

  /** A model, each call of which is a step. */
  client(client: ModelClient): ModelClient {
    const generate: ModelClient['generate'] = (request, context) =>
      this.#dispatch(context.signal, () => client.generate(request, context));
    return { ...client, generate };
  }

  /** A tool, each call of which is a step. */
  readonly tool = (tool: Tool): Tool => ({
    ...tool,
    run: (args, context) =>
      this.#dispatch(
        context.signal,
        async () => tool.run(args, context),
        () => {
          if (tool.entry.guarantee === 'idempotent') return;
          const { replayed } = this.mortal;
          replayed.set(context.idempotencyKey, (replayed.get(context.idempotencyKey) ?? 0) + 1); // M3
        },
      ),
    ...(tool.reconcile !== undefined && { reconcile: this.#lookUp(tool.reconcile) }),
  });

  #lookUp(reconcile: NonNullable<Tool['reconcile']>): NonNullable<Tool['reconcile']> {
    return (args, context) =>
      this.mortal.replayed.has(context.idempotencyKey) ? reconcile(args, context) : 'not_done'; // M3
  }

  async #open(): Promise<OpenStore> {
    const open = await this.mortal.open();
    this.#held = open;
    const { journal, content } = open;
    return {
      ...open,
      journal: { ...journal, append: (frames, expected) => this.#append(open, frames, expected) },
      content: { ...content, put: async (bytes) => (this.#dead ? never() : content.put(bytes)) },
      mark: async (note) => (this.#dead ? never() : open.mark(note)),
      close: async () => (this.#dead ? undefined : open.close()),
    };
  }

  async #append(
    open: OpenStore,
    frames: readonly StoredFrame[],
    expected: Parameters<OpenStore['journal']['append']>[1],
  ) {
    if (this.#dead) throw death(); // M1
    const n = ++this.appends;
    if (this.#meant('append', n, 'before')) throw await this.#die();
    const head = await open.journal.append(frames, expected);
    if (this.#meant('append', n, 'after')) throw await this.#die();
    this.mortal.acknowledged.push(head.digest); // M2
    return head;
  }

  async #dispatch<T>(signal: AbortSignal, body: () => Promise<T>, begun: () => void = () => undefined): Promise<T> {
    if (this.#dead) return untilAborted(signal); // M1
    begun();
    if (!this.#meant('dispatch', ++this.dispatches)) return body();
    await this.#die();
    return untilAborted(signal);
  }

  #meant(step: Blow['step'], n: number, side?: 'before' | 'after'): boolean {
    const { blow } = this;
    return blow?.step === step && blow.n === n && (blow.step !== 'append' || blow.side === side);
  }

  async #die(): Promise<RepriseError> {
    this.#dead = true;
    this.mortal.crashed();
    await this.#held?.close();
    this.#death.open();
    return death();
  }
}

function death(): RepriseError {
  return new RepriseError('store_failed', 'the process that held this store is dead');
}

function never(): never {
  throw death();
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(death());
    signal.addEventListener('abort', () => reject(death()), { once: true });
  });
}
