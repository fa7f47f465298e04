/** Finds in a world's frames that a run cannot go on: its session has failed, or was never made. */
import { type JournalRecord, RepriseError } from '@reprise/contracts';
import { SESSION_REDUCER } from '../contracts/session.js';

/** The name of the command that revives a failed cell. */
const REVIVE = 'sys/Revive@1';

/** Reads the frames from the one that accepted a run's input, or made its session. */
export class RunLoss {
  /** The code of the fault with which the session failed, while it is not revived. */
  #fault: string | undefined;
  /** Whether an input of the session was accepted, which means that the session was made. */
  #made = false;
  #refused = false;
  /** Why an event to the session was refused. */
  #why: string | undefined;

  constructor(
    private readonly session: string,
    private readonly run: string,
  ) {}

  /** Reads the next frame. */
  see(records: readonly JournalRecord[]): void {
    for (const record of records) this.#read(record);
  }

  /** Why the run does not go on, by the frames read so far; undefined when it may. */
  get error(): RepriseError | undefined {
    if (this.#refused && !this.#made)
      return new RepriseError('run_failed', `run ${this.run} never began: its session could not be made`, {
        where: `session ${this.session}`,
        actual: this.#why ?? this.#fault,
        hint: 'The world’s policy or the session’s own reducer refused it. `reprise tail` shows the refusal.',
      });
    if (this.#fault === undefined) return undefined;
    return new RepriseError('cell_failed', `run ${this.run} cannot go on: its session has failed`, {
      where: `session ${this.session}`,
      fault: this.#fault,
      actual: this.#fault,
      hint: 'Close the session with `session.close()`, which ends its runs; or fix the cause, revive it with the kernel’s `World.revive` and cancel the run.',
    });
  }

  #read(record: JournalRecord): void {
    switch (record.kind) {
      case 'fault':
        if (record.target.length === 2 && this.#isOwn(record.target)) this.#fault = record.code;
        return;
      case 'request':
        if (record.event.name === REVIVE && this.#isOwn(record.to)) this.#fault = undefined;
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
