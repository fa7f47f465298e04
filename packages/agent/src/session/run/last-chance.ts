/**
 * The moment at which nothing is left to do in this process. Node would end then, without a word, while a run is still
 * awaited. Watches of runs learn of it, so that they can say what they wait for. Runtimes without that moment, and
 * processes that live on, are not affected.
 */

/** The part of Node's `process` that announces the moment. */
interface Announcer {
  on(event: 'beforeExit', listener: () => void): unknown;
  off(event: 'beforeExit', listener: () => void): unknown;
}

const watches = new Set<() => void>();

const announce = (): void => {
  for (const tell of [...watches]) tell();
};

/** Waits for something, and for the moment at which nothing is left to do in this process. */
export class LastChance {
  #tell: () => void = () => undefined;
  readonly #heard = (): void => this.#tell();

  constructor() {
    if (watches.size === 0) announcer()?.on?.('beforeExit', announce);
    watches.add(this.#heard);
  }

  /** Resolves as the promise does, or when nothing is left to do. */
  or<T>(promise: Promise<T>): Promise<T | 'last chance'> {
    return new Promise((resolve, reject) => {
      this.#tell = () => resolve('last chance');
      promise.then(resolve, reject);
    });
  }

  close(): void {
    watches.delete(this.#heard);
    if (watches.size === 0) announcer()?.off?.('beforeExit', announce);
  }
}

function announcer(): Partial<Announcer> | undefined {
  return (globalThis as { process?: Partial<Announcer> }).process;
}
