/** The states of the past for all questions of a server: one replayer, which one question after another moves. */
import type { ReadonlyStore, WorldAt } from '@reprise/kernel';
import { KeptPast } from '@reprise/kernel/past';
import type { DiffApps } from '@reprise/operators/diff';

/** The past of one world. */
export class Past {
  /** The question before: a state holds only until the replayer is moved. */
  #last: Promise<unknown> = Promise.resolve();
  #kept: Promise<KeptPast> | undefined;

  constructor(
    private readonly store: ReadonlyStore,
    private readonly apps: () => Promise<DiffApps>,
  ) {}

  /**
   * Reads from the state after a frame, alone: other questions wait.
   *
   * @throws RepriseError as `worldAt`
   */
  read<T>(frame: number, signal: AbortSignal, body: (then: WorldAt) => Promise<T>): Promise<T> {
    const own = this.#last.then(async () => {
      signal.throwIfAborted();
      const kept = await this.#open();
      return body(await kept.at(frame, signal));
    });
    this.#last = own.catch(() => undefined);
    return own;
  }

  #open(): Promise<KeptPast> {
    const kept = this.#kept ?? this.#made();
    this.#kept = kept;
    kept.catch(() => {
      this.#kept = undefined; // an app may be at hand later
    });
    return kept;
  }

  async #made(): Promise<KeptPast> {
    const { app, legacy } = await this.apps();
    return new KeptPast(this.store, app, legacy);
  }
}
