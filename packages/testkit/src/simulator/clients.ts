/**
 * Clients of a simulated world: what they asked for, and what they were told.
 *
 * Invariants
 * L1  What a client was acknowledged is durable in that moment, where it was told, and stays.
 * L2  What a client was refused is not in the journal, nor ever comes there unless it is asked again. What stands there
 *     is not refused when it is asked again, unless nobody can tell.
 * L3  Nobody is told of something of our own that went wrong.
 */
import { type ErrorCode, isRepriseError, type RepriseError } from '@reprise/contracts';
import type { Ack } from '@reprise/kernel';
import type { JournalAuditor } from './journal-auditor.js';
import type { Sometimes } from './sometimes.js';

/** After these nobody knows whether it was journaled: the world went down meanwhile. */
const IN_DOUBT: readonly ErrorCode[] = ['store_failed', 'fenced', 'world_closed', 'store_full'];

/** No disk, clock or client is an excuse for these. */
export const NEVER_REFUSED_AS: readonly ErrorCode[] = [
  'internal_error',
  'nondeterminism',
  'replay_divergence',
  'journal_damaged',
  'blob_missing',
  'blob_damaged',
  'semantics_unknown',
  'manifest_mismatch',
];

const FOUND = 'the same request was asked again and found';

/** What clients are made of. */
interface ClientsParts {
  readonly journal: JournalAuditor;
  readonly sometimes: Sometimes;
  /** The chain digest after a durable frame. */
  readonly headAt: (seq: number) => string | undefined;
  readonly broken: (why: string) => void;
}

/** What a client asks for. */
export interface Ask {
  /** Who asks; the host when absent. */
  readonly as?: string;
  /** Under which id. Asked again under the same one, it is the same. */
  readonly id: string;
}

/** The clients of a run. */
export class Clients {
  readonly #acks = new Map<string, Ack>();
  readonly #answers = new Map<string, string>();
  /** How often something was asked and nobody knows what came of it. */
  readonly #inDoubt = new Map<string, number>();
  #refused = 0;

  constructor(private readonly parts: ClientsParts) {}

  /** To how many requests it was said that they are durable. */
  get acknowledged(): number {
    return this.#acks.size + this.#answers.size;
  }

  /** How many were refused. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Asks for something that is answered with an acknowledgement, and holds that to what is durable. Never rejects; never
   * resolves when the process dies before it answers.
   *
   * @param asking does it, for instance `() => world.request(to, event, { id })`
   * @returns what it came to: an acknowledgement or a refusal
   */
  ask(ask: Ask, asking: () => Promise<Ack>): Promise<Ack | RepriseError> {
    return this.#hold(ask, asking, (key, ack, frame) => this.#acknowledged(key, ack, frame));
  }

  /**
   * Asks for something that is answered in words of its own, which can be said only when it is durable; asked again, it
   * has to be answered in the same words. As {@link ask} in everything else.
   *
   * @param asking does it, for instance `async () => (await session.send(text, { id })).id`
   */
  command(ask: Ask, asking: () => Promise<string>): Promise<string | RepriseError> {
    return this.#hold(ask, asking, (key, answer, frame) => this.#answered(key, answer, frame));
  }

  /** L1, once more: every head that was given stands in the journal. */
  check(): void {
    for (const [key, { seq, head }] of this.#acks) {
      if (this.parts.headAt(seq) !== head)
        this.parts.broken(`${key} was acknowledged in frame ${seq} and is not there`);
    }
  }

  async #hold<T>(
    { as = 'operator', id }: Ask,
    asking: () => Promise<T>,
    told: (key: string, answer: T, frame: number | undefined) => void,
  ): Promise<T | RepriseError> {
    const key = `${as} ${id}`;
    this.#doubt(key, 1);
    try {
      const answer = await asking();
      this.#doubt(key, -1);
      told(key, answer, this.parts.journal.frameOf(as, id));
      return answer;
    } catch (thrown) {
      if (!isRepriseError(thrown)) {
        this.parts.broken(`${key} was answered with something else than an error of ours: ${String(thrown)}`);
        throw thrown;
      }
      if (!IN_DOUBT.includes(thrown.code)) this.#doubt(key, -1);
      this.#refuse(key, thrown, this.parts.journal.frameOf(as, id));
      return thrown;
    }
  }

  #doubt(key: string, by: 1 | -1): void {
    this.#inDoubt.set(key, (this.#inDoubt.get(key) ?? 0) + by);
  }

  #acknowledged(key: string, ack: Ack, frame: number | undefined): void {
    const { headAt, broken, sometimes } = this.parts;
    if (headAt(ack.seq) !== ack.head)
      broken(`${key} was acknowledged before frame ${ack.seq} was durable`); // L1
    else if (frame !== ack.seq) broken(`${key} was acknowledged as frame ${ack.seq} and stands in ${frame}`);
    const before = this.#acks.get(key);
    if (before !== undefined && before.seq !== ack.seq) broken(`${key} was acknowledged in two frames`);
    if (ack.duplicate) sometimes.happened(FOUND);
    this.#acks.set(key, ack);
  }

  /** L1 */
  #answered(key: string, answer: string, frame: number | undefined): void {
    const { broken, sometimes } = this.parts;
    if (frame === undefined) broken(`${key} was answered before it was durable: ${answer}`);
    const before = this.#answers.get(key);
    if (before !== undefined && before !== answer) broken(`${key} was answered as ${before} and again as ${answer}`);
    if (before !== undefined) sometimes.happened(FOUND);
    this.#answers.set(key, answer);
  }

  #refuse(key: string, { code, message }: RepriseError, frame: number | undefined): void {
    const { broken, sometimes } = this.parts;
    this.#refused++;
    sometimes.happened(`refused: ${code}`);
    if (NEVER_REFUSED_AS.includes(code)) broken(`${key} was refused as ${code}: ${message}`); // L3
    // A command may be several requests: one of them may fail for who asks again, while its own stands.
    const stands = code === 'request_conflict' || this.#answers.has(key);
    const doubtful = stands || (this.#inDoubt.get(key) ?? 0) > 0;
    if (frame !== undefined && !doubtful) broken(`${key} was refused as ${code} and stands in frame ${frame}`); // L2
  }
}

/** Whether a world may refuse to open for this reason while its disk has trouble. */
export function isTrouble(error: unknown): error is RepriseError {
  return isRepriseError(error) && (IN_DOUBT.includes(error.code) || error.code === 'commit_failed');
}
