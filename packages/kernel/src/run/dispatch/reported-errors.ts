/** Reports an adapter's error to `onError`, and stores its text beside the receipt. */
import type { Address, Receipt } from '@reprise/contracts';
import type { AnyAdapter } from '../../ports/adapter/adapter.js';
import type { ContentStore } from '../../ports/content/port.js';
import { putValue } from '../../ports/content/values.js';
import { detailOfError, type Scrubber } from '../../ports/scrub/index.js';
import type { EffectLeaf } from '../../pure/engine/index.js';

/** The effect that an error came from. */
export interface EffectErrorOrigin {
  readonly source: 'effect';
  readonly effect: string;
  /** The kind of the effect, for example `tool.call@1`. */
  readonly name: string;
  readonly adapter: string;
  readonly attempt: number;
  /** The cell whose plan asked for it. */
  readonly cell: Address;
  /** The status the effect ended with; absent when the error did not end it. */
  readonly status?: Receipt['status'];
  readonly code?: string;
}

/** The collaborators of error reporting. */
export interface ErrorParts {
  readonly scrubber: Scrubber;
  readonly trouble: TellTrouble;
}

/** Reports an error, as it was thrown. Never throws. */
export type TellTrouble = (error: unknown, origin: EffectErrorOrigin) => void;

/** An effect as the origin of an error. */
export function originOf(effect: string, leaf: EffectLeaf, adapter: AnyAdapter | undefined): EffectErrorOrigin {
  const { name, attempt, plan } = leaf;
  return { source: 'effect', effect, name, adapter: adapter?.name ?? '', attempt, cell: [plan[0], plan[1]] };
}

/** The error in an outcome. */
export function errorIn(outcome: unknown): unknown {
  try {
    return (outcome as { readonly error?: unknown } | null | undefined)?.error;
  } catch {
    return undefined;
  }
}

/** The receipt with a link to the stored text of its error. A failure to store the text does not change the outcome. */
export async function withError(
  receipt: Receipt,
  error: unknown,
  origin: EffectErrorOrigin,
  { content, scrubber, trouble }: ErrorParts & { readonly content: Pick<ContentStore, 'put'> },
): Promise<Receipt> {
  const { status, code } = receipt;
  if (error === undefined || status === 'ok' || status === 'cancelled') return receipt;
  trouble(error, { ...origin, status, ...(code === undefined ? {} : { code }) });
  try {
    return { ...receipt, error_ref: await putValue(content, detailOfError(error, scrubber)) };
  } catch {
    return receipt;
  }
}

/** The errors that one execution reports: the last one may be the error that ends it. */
export class ReportedErrors {
  #last: { readonly error: unknown } | undefined;

  constructor(private readonly tell: (error: unknown) => void) {}

  add(error: unknown): void {
    this.flush();
    this.#last = { error };
  }

  /** Reports the last error as one that ended nothing. */
  flush(): void {
    const last = this.#last;
    this.#last = undefined;
    if (last !== undefined) this.tell(last.error);
  }

  /** @returns the error that ended the execution, when it did not end well and its outcome carries no error */
  end({ receipt, error }: { readonly receipt: Receipt; readonly error: unknown }): unknown {
    if (receipt.status === 'ok' || receipt.status === 'cancelled' || error !== undefined) this.flush();
    const last = this.#last;
    this.#last = undefined;
    return last?.error;
  }
}
