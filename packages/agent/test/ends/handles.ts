/** The handles of runs that a host takes, and whether each of their waiting methods has settled. */
import { isRepriseError } from '@reprise/contracts';
import type { AgentEvent, Run } from '../../src/index.js';

interface Waiting {
  readonly what: string;
  settled: boolean;
}

/** What a handle's `result()` came to, by what was watched. */
export interface Outcomes {
  /** The input, or the number of the run. */
  readonly of: string;
  readonly stop: string;
}

/** Watches handles. */
export class Handles {
  taken = 0;
  readonly outcomes: Outcomes[] = [];
  #waiting: Waiting[] = [];
  #wrong: string | undefined;

  /** @param handleOf a handle in place of each that is taken */
  constructor(private readonly handleOf: (run: Run) => Run = (run) => run) {}

  /** Watches a handle with each method that waits. */
  watch(of: string, taken: Run): void {
    const run = this.handleOf(taken);
    this.taken++;
    const name = `${of} (${run.id})`;
    this.#wait(`${name}.result()`, async () => {
      const { stop } = await run.result();
      this.outcomes.push({ of, stop: JSON.stringify(stop) });
    });
    this.#wait(`${name}.text()`, () => run.text());
    this.#wait(`${name}.events()`, async () => {
      let last: AgentEvent | undefined;
      let ends = 0;
      for await (const event of run.events()) {
        last = event;
        if ('stop' in event) ends++;
      }
      if (last?.type === 'input.dropped' ? ends > 0 : ends !== 1)
        throw new Error(`${ends} ends, ${last?.type} is the last`);
    });
    this.#wait(`${name}.stream()`, async () => {
      for await (const _ of run.stream());
    });
  }

  /** @throws Error when a method has not settled, or settled with what none may */
  allSettled(): void {
    if (this.#wrong !== undefined) throw new Error(this.#wrong);
    const open = this.#waiting.find(({ settled }) => !settled);
    if (open !== undefined) throw new Error(`${open.what} has not settled`);
    this.#waiting = [];
  }

  #wait(what: string, act: () => Promise<unknown>): void {
    const waiting: Waiting = { what, settled: false };
    this.#waiting.push(waiting);
    const failed = (error: unknown): void => {
      if (!EXPECTED.some((code) => isRepriseError(error, code))) this.#wrong ??= `${what}: ${String(error)}`;
    };
    const settled = (): void => {
      waiting.settled = true;
    };
    act().catch(failed).finally(settled);
  }
}

/** What a handle may settle with besides an outcome: the run failed, or the process that watched it ended. */
const EXPECTED = ['run_failed', 'world_closed', 'store_failed'] as const;
