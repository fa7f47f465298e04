/** Lets one at a time through, in order: readers never see half a commit, nor a commit half of a page. */
export class Gate {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a body when all before it have ended. */
  alone<T>(body: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(body, body);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
