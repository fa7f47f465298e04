/** Numbers the calls of a process to the outside, and kills or stops it at one of these steps. */

/** At which step, and on which side of it. */
export interface Moment {
  /** The number of a step, or the name of the first step that is to be called so: numbers vary from run to run. */
  readonly step: number | string;
  readonly side: 'before' | 'after';
}

/** The blow: the process dies as by `kill -9`, or is suspended. */
export type Blow = 'SIGKILL' | 'SIGSTOP';

/** The steps of one process, in the order in which they begin. */
export class Steps {
  readonly #names: string[] = [];

  /**
   * @param moment when the blow falls; never when absent
   * @param say called with the name of the step just before the blow
   */
  constructor(
    private readonly moment: Moment | undefined,
    private readonly blow: Blow,
    private readonly say: (line: string) => void,
  ) {}

  /** The names of the steps that have begun, in order; the first is step 1. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** Executes one step. */
  async take<T>(name: string, body: () => Promise<T>): Promise<T> {
    const isFirst = !this.#names.includes(name);
    const step = this.#names.push(name);
    const meant = this.moment?.step === step || (isFirst && this.moment?.step === name);
    if (meant) this.#strike('before', name);
    const result = await body();
    if (meant) this.#strike('after', name);
    return result;
  }

  #strike(side: Moment['side'], name: string): void {
    if (this.moment?.side !== side) return;
    this.say(`moment ${side} ${name}`);
    process.kill(process.pid, this.blow);
  }
}
