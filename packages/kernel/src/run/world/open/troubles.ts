/** Reports caught errors to the operator's watcher: the original, or a copy without secrets. */
import { formatAddress, RepriseError } from '@reprise/contracts';
import { type Scrubber, shownError } from '../../../ports/scrub/index.js';
import type { FaultedDelivery } from '../../../pure/engine/index.js';
import { tellListener } from '../../callers/tell.js';
import type { ErrorOrigin, OpenKernelWorldOptions } from './options.js';

/** Reports the errors of a world to its watcher. */
export class Troubles {
  constructor(
    private readonly watcher: OpenKernelWorldOptions['onError'],
    private readonly scrubber: Scrubber,
  ) {}

  /** Reports an error. A throwing watcher must not make anything else fail. */
  tell(error: unknown, origin: ErrorOrigin): void {
    tellListener(() => this.watcher?.(shownError(error, this.scrubber), origin));
  }

  /** Reports a delivery that became a fault; its text is nowhere else. */
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
