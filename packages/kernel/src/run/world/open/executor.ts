/** Makes what executes the effects of a world: the dispatcher, or, in a dry fork, the recorded receipts. */
import {
  type Address,
  type Capability,
  isRepriseError,
  present,
  type Receipt,
  RepriseError,
  type Value,
} from '@reprise/contracts';
import type { ContentStore } from '../../../ports/content/port.js';
import type { Scrubber } from '../../../ports/scrub/index.js';
import type { OpenStore } from '../../../ports/store/store.js';
import type { Clock } from '../../../ports/time/clock.js';
import type { WorldLeaf } from '../../../pure/engine/index.js';
import { RecordedReceipts } from '../../../replay/fork/recorded-receipts.js';
import type { Callers } from '../../callers/callers.js';
import { Dispatcher } from '../../dispatch/dispatcher.js';
import { DryAnswers } from '../../dispatch/dry-answers.js';
import type { Executor } from '../../dispatch/executor.js';
import { throttled } from '../../dispatch/throttle.js';
import type { IngressOutcome } from '../write/ingress.js';
import { askInput, attemptInput, deferredInput, dryInput, type OwnInput, receiptInput } from '../write/own-inputs.js';
import type { Stepper } from '../write/stepper.js';
import type { OpenKernelWorldOptions } from './options.js';
import type { ServiceWatch } from './service-watch.js';
import type { Troubles } from './troubles.js';

/** The collaborators of an executor. */
interface ExecutorParts {
  readonly options: OpenKernelWorldOptions;
  readonly store: OpenStore;
  readonly stepper: Stepper;
  readonly clock: Clock;
  readonly scrubber: Scrubber;
  readonly troubles: Troubles;
  readonly content: ContentStore;
  readonly services: ServiceWatch;
  readonly callers: Callers;
  now(): number;
  /** The current rights of a cell. */
  rights(cell: Address): Promise<Capability>;
  /** Submits an input of the world's own. */
  submit(input: OwnInput): Promise<IngressOutcome>;
}

/** A dry fork executes nothing, whatever adapters it is opened with. */
export function makeExecutor(parts: ExecutorParts, fork: WorldLeaf['fork']): Executor {
  if (fork?.mode !== 'dry') return makeDispatcher(parts);
  const { options, store, stepper, submit } = parts;
  return new DryAnswers({
    app: options.app,
    recorded: new RecordedReceipts(store.content, fork.recorded),
    settle: async (effect, receipt, recorded) => void (await submit(dryInput(effect, receipt, recorded))),
    failed: (error) => stepper.close(asError(error)),
  });
}

/** Settles an effect by a receipt. */
export function settle(
  submit: ExecutorParts['submit'],
  effect: string,
  attempt: number,
  receipt: Receipt,
  unanswered = false,
): Promise<unknown> {
  return submit(receiptInput(effect, attempt, receipt, unanswered));
}

function makeDispatcher(parts: ExecutorParts): Dispatcher {
  const { options, store, clock, scrubber, troubles, content, services, callers, now, submit, rights } = parts;
  const { adapters = [], throttle } = options;
  return new Dispatcher({
    adapters: throttle === undefined ? adapters : adapters.map((adapter) => throttled(adapter, throttle, store.tenure)),
    content,
    services,
    callers,
    clock,
    now,
    secret: options.secrets ?? noSecrets,
    scrubber,
    trouble: (error, origin) => troubles.tell(error, origin),
    progress: (effect, note) => tell(options.onProgress, effect, note),
    arm: async (effect, attempt, placed) => {
      const outcome = await submit(attemptInput(effect, attempt, placed));
      return outcome.status === 'committed' && outcome.frame.armed.includes(effect);
    },
    settle: (effect, attempt, receipt, unanswered) => settle(submit, effect, attempt, receipt, unanswered),
    defer: async (effect, attempt, deferral) =>
      (await submit(deferredInput(effect, attempt, deferral))).status === 'committed',
    ask: async (effect, attempt, asked) => {
      const outcome = await submit(askInput(effect, attempt, asked));
      if (outcome.status === 'refused') throw outcome.error;
    },
    rights,
    ...present({ tenure: store.tenure }),
  });
}

/** A throwing watcher must not make an effect fail. */
function tell(watcher: OpenKernelWorldOptions['onProgress'], effect: string, note: Value): void {
  try {
    watcher?.(effect, note);
  } catch {
    // telemetry: there is no one left to report it to
  }
}

function asError(thrown: unknown): RepriseError {
  if (isRepriseError(thrown)) return thrown;
  return new RepriseError('store_failed', 'the receipts of this fork cannot be read', { cause: thrown });
}

/** The resolver of a world that was opened without `secrets`. */
export async function noSecrets(name: string): Promise<string> {
  throw new RepriseError('invalid_argument', `the secret ${name} is unavailable: this world has no resolver`, {
    hint: 'Open the world with `secrets`.',
  });
}
