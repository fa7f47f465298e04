/** What sessions said last: the outputs of their newest model calls. */
import { isRef, isRepriseError, type JournalRecord, type Ref } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { getValue } from '@reprise/kernel/store';
import { REDUCERS } from '../names/reducers.js';
import { fieldOf } from '../names/values.js';

/** The last answer of a session. */
interface LastAnswer {
  /** The key of the session. */
  readonly session: string;
  readonly place: string;
  readonly at: number;
  readonly output: Ref;
}

/** How many answers of a session are kept: calls of tools often stand between two that have words. */
const KEPT = 8;

/** Follows answers. Memory is bounded by the number of sessions that answer in the frames that are read. */
export class LastAnswers {
  readonly #last = new Map<string, readonly LastAnswer[]>();

  /** The last answers of each session, the latest first: an answer that only calls tools has no words. */
  get all(): readonly (readonly LastAnswer[])[] {
    return [...this.#last.values()].reverse();
  }

  /** Takes the records of the next frame. */
  take(seq: number, at: number, records: readonly JournalRecord[]): void {
    for (const [i, record] of records.entries()) {
      if (record.kind !== 'event' || record.event.name !== 'aos.agent/LlmStepCompleted@1') continue;
      const output = fieldOf(record.event.value, 'output_ref');
      if (record.to[0] !== REDUCERS.session || !isRef(output)) continue;
      const [, session] = record.to;
      const before = this.#last.get(session) ?? [];
      this.#last.delete(session); // at the end: the latest
      this.#last.set(session, [{ session, place: `${seq}.${i}`, at, output }, ...before.slice(0, KEPT - 1)]);
    }
  }
}

/** The text of an answer; empty for one that only calls tools, and for one that is gone. */
export async function answerText(content: ContentReader, output: Ref): Promise<string> {
  try {
    const text = fieldOf(await getValue(content, output), 'text');
    return typeof text === 'string' ? text : '';
  } catch (error) {
    if (isRepriseError(error)) return '';
    throw error;
  }
}
