/**
 * Threads that verify a world. An app cannot be sent to a thread, so each loads the modules and opens the world itself.
 *
 * Invariants
 * T1  A thread that ends before its result rejects its task with `worker_failed`: no task waits for ever.
 * T2  Threads that cannot begin are left out; without any, the verification goes on in its own thread.
 * T3  An aborted task rejects at once, and its thread ends soon, whatever it is doing: it is asked to end between two
 *     steps, and ended from outside only when it does not. Ended from outside in the middle of a call to the database, it
 *     would end the whole process: the native library panics when the engine takes no more values from it.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { RepriseError } from '@reprise/contracts';
import type { RangeResult, SharedBlobs, Told, VerifyWorkers } from '@reprise/kernel';
import { forThread } from '../world/place.js';
import type { FromThread, ThreadTask, ToThread } from './thread-messages.js';

/** How long a thread that was asked to end can take for its step, in milliseconds. A step with the database is far shorter. */
const STEP_MS = 5_000;

/** A thread takes as long to begin as some thousand frames take to verify. */
const FRAMES_MIN = 4_000;

interface ThreadsOptions {
  /** How many threads there can be. */
  readonly size: number;
  /** The frames that a range must have to be worth a task; 4,000 by default. */
  readonly framesMin?: number;
  /** The memory of each thread; the default of Node without. */
  readonly memory?: ResourceLimits;
}

/** The threads of one verification, begun when they are needed. */
export class VerifyThreads implements VerifyWorkers {
  readonly size: number;
  readonly framesMin: number;
  readonly #all = new Set<Thread>();
  readonly #idle: Thread[] = [];
  #refusal: RepriseError | undefined;

  constructor(
    private readonly start: ThreadTask,
    private readonly options: ThreadsOptions,
  ) {
    this.size = options.size;
    this.framesMin = options.framesMin ?? FRAMES_MIN;
  }

  /** Why no thread could begin; undefined when one did. */
  get refusal(): RepriseError | undefined {
    return this.#refusal;
  }

  async begin(tasks: number): Promise<number> {
    const threads = Array.from(
      { length: Math.min(this.size, tasks) },
      () => new Thread(this.start, this.options.memory),
    );
    for (const thread of threads) this.#all.add(thread);
    const refusals = await Promise.all(threads.map(({ ready }) => ready));
    this.#idle.push(...threads.filter((_, i) => refusals[i] === undefined)); // T2
    if (this.#idle.length === 0) this.#refusal = refusals[0];
    return this.#idle.length;
  }

  async verify(
    task: Parameters<VerifyWorkers['verify']>[0],
    tell: (told: Told) => void,
    stop: AbortSignal,
  ): Promise<RangeResult> {
    return (await this.#run({ ask: 'verify', task }, 'verified', tell, stop)).result;
  }

  async read(
    share: Parameters<VerifyWorkers['read']>[0],
    tell: (told: Told) => void,
    stop: AbortSignal,
  ): Promise<SharedBlobs> {
    return (await this.#run({ ask: 'read', share }, 'read', tell, stop)).result;
  }

  /** Ends all threads; a second call ends none. */
  async close(): Promise<void> {
    await Promise.all([...this.#all].map((thread) => thread.end('the verification is over')));
  }

  async #run<K extends 'verified' | 'read'>(
    message: ToThread,
    say: K,
    tell: (told: Told) => void,
    stop: AbortSignal,
  ): Promise<Extract<FromThread, { readonly say: K }>> {
    const thread = this.#idle.pop();
    if (thread === undefined) throw failed('no worker is idle');
    const abort = (): void => void thread.end('the verification is over'); // T3
    stop.addEventListener('abort', abort, { once: true });
    try {
      const said = await thread.ask(message, tell);
      if (said.say !== say) throw failed('a worker sent another answer', { actual: said.say });
      this.#idle.push(thread);
      return said as Extract<FromThread, { readonly say: K }>;
    } finally {
      stop.removeEventListener('abort', abort);
    }
  }
}

/** One thread, with at most one task. */
class Thread {
  readonly #worker: Worker;
  readonly #exited: Promise<unknown>;
  #task: { tell(told: Told): void; take(said: FromThread): void; fail(error: RepriseError): void } | undefined;
  #ended: RepriseError | undefined;
  /** Resolves when it has begun, with an error when it cannot. */
  readonly ready: Promise<RepriseError | undefined>;

  constructor(start: ThreadTask, memory: ResourceLimits | undefined) {
    const [module, how] = threadModule();
    this.#worker = new Worker(module, {
      name: 'reprise-verify',
      workerData: { ...start, world: forThread(start.world) },
      stdout: true, // what an app's module prints, the first thread has printed
      stderr: true,
      ...how,
      ...(memory === undefined ? {} : { resourceLimits: memory }),
    });
    this.#exited = new Promise((exited) => this.#worker.once('exit', exited));
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.on('message', (said: FromThread) => this.#hear(said));
    this.#worker.on('messageerror', (cause) => this.#over(failed('a worker sent an unreadable message', { cause })));
    this.#worker.on('error', (cause) => this.#over(failed('a verification worker failed', { cause })));
    this.#worker.on('exit', (code) =>
      this.#over(failed('a verification worker ended', { actual: `exit code ${code}` })),
    );
    this.ready = this.#next(() => undefined).then(
      () => undefined,
      (why: RepriseError) => why,
    );
  }

  /** Gives it a task; resolves with its result. */
  ask(message: ToThread, tell: (told: Told) => void): Promise<FromThread> {
    const said = this.#next(tell);
    this.#worker.postMessage(message);
    return said;
  }

  /** Rejects its task and ends it (T3). Idempotent. */
  async end(why: string): Promise<void> {
    this.#over(failed(why));
    this.#worker.postMessage({ ask: 'end' } satisfies ToThread);
    const patience = setTimeout(() => void this.#worker.terminate(), STEP_MS);
    await this.#exited;
    clearTimeout(patience);
  }

  #next(tell: (told: Told) => void): Promise<FromThread> {
    return new Promise((take, fail) => {
      if (this.#ended === undefined) this.#task = { tell, take, fail };
      else fail(this.#ended);
    });
  }

  #hear(said: FromThread): void {
    const task = this.#task;
    if (said.say === 'told') return task?.tell(said.told);
    this.#task = undefined;
    task?.take(said);
  }

  // T1
  #over(error: RepriseError): void {
    this.#ended ??= error;
    const task = this.#task;
    this.#task = undefined;
    task?.fail(this.#ended);
  }
}

/** The module of the thread: built, or, where this module was not built either, its source with a loader. */
function threadModule(): readonly [URL | string, { readonly execArgv?: string[]; readonly eval?: boolean }] {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) return [new URL('./verify-thread.js', here), {}];
  const loader = createRequire(here)
    .resolve('tsx/esm/api')
    .replace(/\.cjs$/, '.mjs');
  const [api, entry] = [pathToFileURL(loader), new URL('../verify-thread.ts', here)].map(({ href }) =>
    JSON.stringify(href),
  );
  const text = `void import(${api}).then(({ register }) => { register(); return import(${entry}); });`;
  return [text, { eval: true, execArgv: ['--conditions=@reprise/source'] }];
}

function failed(what: string, facts: { readonly actual?: string; readonly cause?: unknown } = {}): RepriseError {
  return new RepriseError('worker_failed', what, {
    ...facts,
    hint: 'Verify with fewer workers, --workers 1 for none, or give the process more memory.',
  });
}
