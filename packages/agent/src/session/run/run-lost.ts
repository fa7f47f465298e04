/** Finds in a world's frames that a run cannot begin, since its session was never made; and words that its session has failed. */
import { type JournalRecord, RepriseError } from '@reprise/contracts';
import { SESSION_REDUCER } from '../../contracts/session.js';

/** Reads the frames from the one that accepted a run's input, or made its session. */
export class RunLoss {
  /** Whether an input of the session was accepted, which means that the session was made. */
  #made = false;
  #refused = false;
  /** Why an event to the session was refused, or the fault of its first event. */
  #why: string | undefined;

  constructor(
    private readonly session: string,
    private readonly run: string,
  ) {}

  see(records: readonly JournalRecord[]): void {
    for (const record of records) this.#read(record);
  }

  /** Why the run never begins, by the frames read so far; undefined when it may. */
  get error(): RepriseError | undefined {
    if (!this.#refused || this.#made) return undefined;
    return new RepriseError('run_failed', `run ${this.run} never began: its session could not be made`, {
      where: `session ${this.session}`,
      actual: this.#why,
      hint: 'The world’s policy or the session’s own reducer refused it. `reprise tail` shows the refusal.',
    });
  }

  #read(record: JournalRecord): void {
    switch (record.kind) {
      case 'fault':
        if (record.target.length === 2 && this.#isOwn(record.target)) this.#why ??= record.code;
        return;
      case 'denial':
        if (!this.#made && record.what.includes(this.session)) this.#why = record.code;
        return;
      case 'fact':
        this.#readFact(record.name, record.from, record.value as Fields);
        return;
      default:
        return;
    }
  }

  #readFact(name: string, from: readonly unknown[] | null, value: Fields): void {
    if (name === 'aos.agent/InputAccepted@1' && from !== null && this.#isOwn(from)) this.#made = true;
    if (name === 'aos.agent/ChildChanged@1' && value.session === this.session && value.status === 'failed')
      this.#refused = true;
    if (name === 'sys/Reply@1' && from !== null && this.#isOwn(from) && typeof value.code === 'string')
      this.#why = value.code;
  }

  #isOwn([reducer, key]: readonly unknown[]): boolean {
    return reducer === SESSION_REDUCER && key === this.session;
  }
}

type Fields = { readonly session?: unknown; readonly status?: unknown; readonly code?: unknown };

/** The failure of the cell of a run's session, told of the run. */
export function sessionFailed({ details }: RepriseError, run: string): RepriseError {
  return new RepriseError('cell_failed', `run ${run} cannot go on: its session has failed`, {
    ...details,
    hint: 'Close the session with `session.close()`, which ends its runs; or fix the cause, revive it with `session.revive()` and cancel the run.',
  });
}
