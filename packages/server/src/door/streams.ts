/**
 * Streams that are open, and whether their requests would still be taken.
 *
 * Invariants
 * T1  A stream ends when the request that opened it would be refused: its token has ended or was taken back, or its
 *     principal may act no longer. Nothing is told on it after that.
 */
import type { Principal } from '@reprise/contracts';
import type { Visit } from './visit.js';

/** The longest time to wait for the principal of a stream; then the stream ends. */
const LONGEST_MS = 10_000;

/** The open streams of a server. */
export class Streams {
  readonly #open = new Map<Visit, Principal>();
  readonly #timer: NodeJS.Timeout;

  /** @param principalOf finds the principal of a request, as for a new one; @param everyMs how often all are checked */
  constructor(
    private readonly principalOf: (visit: Visit) => Promise<Principal | undefined>,
    everyMs: number,
  ) {
    this.#timer = setInterval(() => void this.check(), everyMs);
    this.#timer.unref();
  }

  /** Watches a stream until its visit is over. */
  watch(visit: Visit, principal: Principal): void {
    this.#open.set(visit, principal);
    visit.hold(() => this.#open.delete(visit));
  }

  /** Ends the streams that may go on no longer (T1). @param whose those of one principal; absent: all */
  async check(whose?: Principal): Promise<void> {
    const checked = [...this.#open].filter(([, principal]) => whose === undefined || principal === whose);
    await Promise.all(
      checked.map(async ([visit, principal]) => {
        if ((await this.#principalNow(visit)) !== principal) visit.stop();
      }),
    );
  }

  close(): void {
    clearInterval(this.#timer);
    for (const visit of this.#open.keys()) visit.stop();
  }

  async #principalNow(visit: Visit): Promise<Principal | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, LONGEST_MS, undefined).unref();
    });
    try {
      return await Promise.race([this.principalOf(visit), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
