/** Statements for many rows at once: what comes while one is under way goes with the next. */
import { isRepriseError } from '@reprise/contracts';
import { isRefusal } from './errors.js';

interface Waiting<T> {
  readonly item: T;
  settle(outcome: Promise<void>): void;
}

/**
 * Gathers what is to be written, one statement after the other. The first one waits for the end of the turn, so that all
 * worlds that a host closes at a time are released by one statement.
 */
export class Gathering<T> {
  #waiting: Waiting<T>[] = [];
  #isWriting = false;

  /** @param write writes all items or none */
  constructor(private readonly write: (items: readonly T[]) => Promise<void>) {}

  /** Resolves when the item is written. @throws what `write` throws */
  add(item: T): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ item, settle: resolve });
      if (this.#isWriting) return;
      this.#isWriting = true;
      setImmediate(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#write(this.#waiting.splice(0, GROUP_MAX));
    }
    this.#isWriting = false;
  }

  /** Never rejects. When the database refuses the statement of several items, each has one of its own. */
  async #write(group: readonly Waiting<T>[]): Promise<void> {
    const written = this.write(group.map(({ item }) => item));
    const error: unknown = await written.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (group.length > 1 && isRepriseError(error) && isRefusal(error.details.cause)) {
      for (const one of group) await this.#write([one]);
    } else for (const { settle } of group) settle(written);
  }
}

/** The most rows of one statement. */
const GROUP_MAX = 1_000;
