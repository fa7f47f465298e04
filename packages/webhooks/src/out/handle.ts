/** Outgoing webhooks as an app sees them: how each receiver stands, what waits, what was undelivered, and another try. */
import type { AgentWorld } from '@reprise/agent';
import { type Address, isFilled, type Principal, present, requireArgument } from '@reprise/contracts';
import { AT_ONCE, type Delivery, type NoticeData, OUTBOX, type OutboxState } from '../pure/index.js';
import type { Receiver } from './receivers.js';

/** How a receiver stands: whether it answers, and how much waits for it. */
export interface ReceiverStatus {
  readonly receiver: string;
  /** Whether it answered that it is gone (410): nothing is sent to it until {@link Webhooks.retry}. */
  readonly gone: boolean;
  /** Its failures in a row. */
  readonly failures: number;
  /** Deliveries that wait or are under way, that it has taken, and that were given up. */
  readonly waiting: number;
  readonly delivered: number;
  readonly undelivered: number;
}

/** A delivery that was not taken, as it is listed. */
export interface ListedDelivery {
  readonly receiver: string;
  /** The `webhook-id` of each attempt. */
  readonly id: string;
  readonly type: string;
  /** When it happened, in journal milliseconds. */
  readonly at: number;
  readonly data: NoticeData;
  readonly attempts: number;
  /** Why the last attempt failed; absent before it. */
  readonly code?: string;
}

/** Which delivery to take up again, and as whom. */
export interface RetryOptions {
  /** The `webhook-id`; all that are listed when absent. */
  readonly id?: string;
  readonly as?: Principal;
}

/** The outgoing webhooks of a world. */
export class Webhooks {
  constructor(
    private readonly world: AgentWorld,
    private readonly receivers: readonly Receiver[],
  ) {}

  /** How each receiver stands, in the order in which they were declared. */
  async receiversNow(): Promise<readonly ReceiverStatus[]> {
    return Promise.all(this.receivers.map(({ name }) => this.#status(name)));
  }

  /** The deliveries that wait for a receiver or are under way to it, the first one first. */
  async waiting(receiver: string): Promise<readonly ListedDelivery[]> {
    const cell = this.#cell(receiver);
    return [...(await this.#all(cell, 'under_way')), ...(await this.#all(cell, 'waiting'))];
  }

  /** The newest deliveries to a receiver that were given up, at most 256, the oldest first. */
  async undelivered(receiver: string): Promise<readonly ListedDelivery[]> {
    return this.#all(this.#cell(receiver), 'undelivered');
  }

  /**
   * Takes up undelivered ones again, with the ids that they had, and sends again to a receiver that was gone.
   *
   * @throws RepriseError `request_rejected` (`delivery_unknown`) for an id that is not listed
   */
  async retry(receiver: string, { id, as }: RetryOptions = {}): Promise<void> {
    const cell = this.#cell(receiver);
    const rounds = id === undefined ? Math.max(1, Math.ceil((await this.undelivered(receiver)).length / AT_ONCE)) : 1;
    for (let round = 0; round < rounds; round++)
      await this.world.kernel.request(cell, { name: 'webhooks/Retry@1', value: { id: id ?? null } }, present({ as }));
  }

  async #status(receiver: string): Promise<ReceiverStatus> {
    const cell: Address = [OUTBOX, receiver];
    const state = (await this.world.kernel.state(cell)) as OutboxState | undefined;
    const { gone = false, failures = 0, delivered = 0, undelivered = 0 } = state ?? {};
    const waiting = (await this.waiting(receiver)).length;
    return { receiver, gone, failures, waiting, delivered, undelivered };
  }

  async #all(cell: Address, table: 'waiting' | 'under_way' | 'undelivered'): Promise<readonly ListedDelivery[]> {
    const found: ListedDelivery[] = [];
    for (let after: string | undefined, more = true; more; ) {
      const page = await this.world.kernel.table(cell, table, present({ after }));
      // The reducer's own schema checked each entry before it was stored.
      found.push(...page.map(([, entry]) => listed(cell[1], entry as unknown as Delivery)));
      after = page.at(-1)?.[0];
      more = page.length > 0;
    }
    return found;
  }

  #cell(receiver: string): Address {
    const known = this.receivers.map(({ name }) => name);
    const fits = isFilled(receiver) && known.includes(receiver);
    requireArgument(fits, 'webhooks(receiver)', `a receiver: ${known.join(', ')}`, receiver);
    return [OUTBOX, receiver];
  }
}

function listed(receiver: string, { id, type, at, data, attempts, code }: Delivery): ListedDelivery {
  return { receiver, id, type, at, data, attempts, ...(code === null ? {} : { code }) };
}
