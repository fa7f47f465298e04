/** Attempts in this process (call/C1): an operation runs in its world, or the outcome says why not. */
import { type ErrorCode, present, RepriseError } from '@reprise/contracts';
import type { Host, HostedWorld } from '@reprise/kernel/host';
import { type Operation, readInput, writeOutput } from './operation.js';
import { whenAborted } from './time/waits.js';
import { errorIn, type Outcome } from './wire/outcome.js';
import type { Asked } from './wire/seal.js';

/** After these, a world may be open elsewhere or can be opened again: what was requested is requested again by its id. */
const LOST: ReadonlySet<ErrorCode> = new Set(['fenced', 'world_closed', 'store_failed', 'commit_failed']);

/** What a process says that opens a world of another release of the app: another process may have the app for it. */
const WRONG_RELEASE: ReadonlySet<ErrorCode> = new Set([
  'manifest_mismatch',
  'plan_in_flight',
  'era_incompatible',
  'replay_divergence',
  'semantics_unknown',
  'code_mismatch',
]);

/** What executes operations needs of its process. */
interface ExecutionParts<W extends HostedWorld> {
  readonly operations: ReadonlyMap<string, Operation<W>>;
  /** The host of its worlds, once it is open. @throws RepriseError `host_closed` before and after */
  host(): Host<W>;
  /** Tells operators of an error whose cause no caller gets. */
  tell(error: RepriseError, world: string): void;
}

const SLOW: Outcome = { kind: 'again', reason: 'slow' };

/** Executes operations in the worlds of this process. */
export class Execution<W extends HostedWorld> {
  constructor(private readonly parts: ExecutionParts<W>) {}

  /** One attempt. What the operation does after the signal is for nobody. Never rejects. */
  async attempt(asked: Asked, signal: AbortSignal): Promise<Outcome> {
    const operation = this.parts.operations.get(asked.operation);
    if (operation === undefined) return { kind: 'again', reason: 'unknown_operation' };
    const done = new AbortController();
    const slow = whenAborted(signal, done.signal).then(() => SLOW);
    return Promise.race([this.#run(operation, asked, signal), slow]).finally(() => done.abort());
  }

  async #run(operation: Operation<W>, asked: Asked, signal: AbortSignal): Promise<Outcome> {
    const { id, as, actor } = asked;
    const context = { request: { id, as, ...present({ actor }) }, signal };
    let isOpen = false;
    try {
      return await this.parts.host().use(asked.world, async (world): Promise<Outcome> => {
        isOpen = true;
        if (signal.aborted) return SLOW; // its caller left while it waited for the world
        const input = readInput(operation as Operation<never>, asked.input);
        const output = await operation.run(world, input, context);
        return { kind: 'answer', output: writeOutput(operation as Operation, output) };
      });
    } catch (error) {
      return isOpen ? this.#failed(operation, asked, error) : notOpened(error);
    }
  }

  #failed(operation: Operation<W>, { world }: Asked, thrown: unknown): Outcome {
    const known = errorIn(thrown);
    if (known !== undefined) return endOf(known);
    const error = new RepriseError('operation_failed', `the operation ${operation.name} threw an error`, {
      where: world,
      cause: thrown,
    });
    this.parts.tell(error, world);
    return { kind: 'error', error };
  }
}

/** What an attempt says whose world did not open here: nothing of it was done. */
function notOpened(thrown: unknown): Outcome {
  const error = errorIn(thrown);
  if (error === undefined) {
    const details = { where: 'open', cause: thrown };
    const failed = new RepriseError('operation_failed', 'the world could not be opened', details);
    return { kind: 'error', error: failed, isUnopened: true };
  }
  if (error.code === 'world_locked') {
    const { by } = error.details as { readonly by?: { readonly address?: string } };
    return { kind: 'elsewhere', address: by?.address };
  }
  if (WRONG_RELEASE.has(error.code)) return { kind: 'again', reason: 'wrong_release', error };
  const end = endOf(error);
  return end.kind === 'error' ? { ...end, isUnopened: true } : end;
}

/** What an error of Reprise says of an attempt. */
function endOf(error: RepriseError): Outcome {
  return LOST.has(error.code) ? { kind: 'again', reason: 'failed', error } : { kind: 'error', error };
}
