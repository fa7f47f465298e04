/** Tells the operator's watcher of errors that were caught: the original, or a copy without secrets. */
import { formatAddress, RepriseError } from '@reprise/contracts';
import { type Scrubber, shownError } from '../../../ports/scrub/index.js';
import type { FaultedDelivery } from '../../../pure/engine/index.js';
import type { ErrorOrigin, OpenKernelWorldOptions } from './options.js';

/** What goes wrong in a world, as its watcher is told. */
export class Troubles {
  constructor(
    private readonly watcher: OpenKernelWorldOptions['onError'],
    private readonly scrubber: Scrubber,
  ) {}

  /** Tells of an error. A watcher that throws is no reason for anything to fail. */
  tell(error: unknown, origin: ErrorOrigin): void {
    try {
      this.watcher?.(shownError(error, this.scrubber), origin);
    } catch {
      // telemetry: nobody to tell
    }
  }

  /** Tells of a delivery that a fault stands for; its text is nowhere else. */
  tellFault({ target, name, code, detail, cause }: FaultedDelivery): void {
    const [reducer, key, ordinal] = target;
    const error =
      cause ?? new RepriseError('delivery_faulted', detail, { where: formatAddress([reducer, key]), fault: code });
    this.tell(
      error,
      ordinal === undefined
        ? { source: 'cell', cell: [reducer, key], event: name, code }
        : { source: 'plan', plan: [reducer, key, ordinal], name, code },
    );
  }
}
