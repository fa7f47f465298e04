/** Why sessions failed, in the words of the provider: the newest error of each, from the records of a journal. */
import { SESSION_REDUCER } from '@reprise/agent';
import { errorDetail, failureWords, type JournalRecord, type Ref } from '@reprise/contracts';
import type { ContentReader, ReadonlyStore } from '@reprise/kernel';
import { getValue, readFrame } from '@reprise/kernel/store';

/** A failed effect of a session. */
interface Failed {
  readonly code: string;
  readonly error: Ref | undefined;
}

/** The newest failed effect of each session, with its words. */
export class Failures {
  /** The sessions of the open effects, by effect. */
  readonly #open = new Map<string, string>();
  readonly #failed = new Map<string, Failed>();

  constructor(private readonly content: ContentReader) {}

  /** Adds the records of the next frame. */
  add(records: readonly JournalRecord[]): void {
    for (const record of records) {
      if (record.kind === 'effect' && record.plan[0] === SESSION_REDUCER) this.#open.set(record.effect, record.plan[1]);
      if (record.kind === 'receipt') this.#settled(record);
    }
  }

  #settled({
    effect,
    receipt: { status, code = status, error_ref: error },
  }: JournalRecord & { kind: 'receipt' }): void {
    const session = this.#open.get(effect);
    this.#open.delete(effect);
    if (session !== undefined && status !== 'ok') this.#failed.set(session, { code, error });
  }

  /**
   * What failed in a session, with what to do. The words are those of others: a terminal shows them escaped.
   *
   * @param code the code with which the session, or the work of it, ended
   */
  async wordsOf(session: string | null, code: string): Promise<string> {
    const failed = session === null ? undefined : this.#failed.get(session);
    if (failed?.code !== code || failed.error === undefined) return failureWords(code);
    const value = await getValue(this.content, failed.error).catch(() => undefined); // it may have been erased
    return failureWords(code, errorDetail.safeParse(value).data);
  }
}

/** The failures of a world up to a frame. */
export async function readFailures(store: ReadonlyStore): Promise<Failures> {
  const failures = new Failures(store.content);
  const { seq: last } = await store.journal.head();
  for await (const { seq, bytes } of store.journal.read(0, last)) failures.add(readFrame(bytes, seq).all);
  return failures;
}
