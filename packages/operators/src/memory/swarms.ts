/** Which swarms have tasks and no answer yet, while a journal is read. */
import type { JournalRecord } from '@reprise/contracts';
import { REDUCERS } from '../names/reducers.js';

/** A swarm whose tasks had no answer, and how many there were. */
interface Unanswered {
  readonly swarm: string;
  readonly tasks: number;
}

const [COMPLETED, OPENED, WORK] = ['society/TaskCompleted@1', 'society/OpenSwarm@1', 'society/Work@1'] as const;

/** What the bytes of each frame hold that says something of tasks and their answers. */
export const ANSWERING: readonly string[] = [COMPLETED, OPENED, WORK];

/** Follows the tasks of the workers of swarms that were opened in the frames that are read. */
export class SwarmAnswers {
  readonly #tasks = new Map<string, Set<number>>();
  readonly #answered = new Set<string>();

  /** Takes a record of the journal. */
  take(record: JournalRecord): void {
    if (record.kind === 'event') this.#takeEvent(record);
    if (record.kind !== 'fact' || record.from?.[0] !== REDUCERS.swarm) return;
    if (record.name !== COMPLETED) return;
    const swarm = String(record.from[1]);
    const { status, task } = record.value as { readonly status: string; readonly task: number };
    if (status === 'ok' && this.#tasks.get(swarm)?.has(task) === true) this.#answered.add(swarm);
  }

  #takeEvent({ to, from, event: { name, value } }: Extract<JournalRecord, { readonly kind: 'event' }>): void {
    // A swarm that exists refuses to be opened again.
    if (to[0] === REDUCERS.swarm && name === OPENED && !this.#tasks.has(to[1])) this.#tasks.set(to[1], new Set());
    if (from?.[0] !== REDUCERS.swarm || name !== WORK) return;
    const { n, role } = value as { readonly n: number; readonly role: string };
    if (role === 'worker') this.#tasks.get(String(from[1]))?.add(taskOf(n));
  }

  /** The swarms that have tasks and no answer. */
  unanswered(): readonly Unanswered[] {
    return [...this.#tasks].flatMap(([swarm, { size }]) =>
      size === 0 || this.#answered.has(swarm) ? [] : [{ swarm, tasks: size }],
    );
  }
}

/** The task of a work: each of its two attempts is a work of its own. */
function taskOf(work: number): number {
  return Math.floor((work + 1) / 2);
}
