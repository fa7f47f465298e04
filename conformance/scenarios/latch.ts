/** Something that others wait for until it is opened. */
export class Latch {
  #resolve: () => void = () => undefined;
  /** Resolves when it is open. */
  readonly opened = new Promise<void>((resolve) => {
    this.#resolve = resolve;
  });

  /** Opens it, for good. */
  open(): void {
    this.#resolve();
  }
}
