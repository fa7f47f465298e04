/** A mutex, in order: readers never see half a commit, and a commit never falls within a page. */
export class Gate {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a body when all earlier ones have ended. */
  alone<T>(body: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(body, body);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
