/**
 * Clients of a simulated world: their requests, and the answers that they got.
 *
 * Invariants
 * L1  An acknowledged request is durable at the moment of its acknowledgement, in the acknowledged frame, and stays.
 * L2  A refused request is not in the journal and never appears there unless it is repeated. A request in the journal
 *     is not refused when it is repeated, unless its outcome cannot be known.
 * L3  No client sees an error of our own code.
 */
import { type ErrorCode, isRepriseError, type RepriseError } from '@reprise/contracts';
import type { Ack } from '@reprise/kernel';
import type { JournalAuditor } from './journal-auditor.js';
import type { Sometimes } from './sometimes.js';

/** After these codes it is unknown whether the request was journaled: the world closed meanwhile. */
const IN_DOUBT: readonly ErrorCode[] = ['store_failed', 'fenced', 'world_closed', 'store_full'];

/** Codes that no trouble of a disk, clock or client may cause. */
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

/** What happens when a request is sent again under its id. */
export const FOUND = 'the same request was asked again and found';

interface ClientsParts {
  readonly journal: JournalAuditor;
  readonly sometimes: Sometimes;
  /** The chain digest after a durable frame. */
  readonly headAt: (seq: number) => string | undefined;
  readonly broken: (why: string) => void;
}

/** A request of a client. */
export interface Ask {
  /** The principal of the request; the operator when absent. */
  readonly as?: string;
  /** The id of the request. A repetition under the same id is the same request. */
  readonly id: string;
}

/** The clients of a run. */
export class Clients {
  readonly #acks = new Map<string, Ack>();
  readonly #answers = new Map<string, string>();
  /** The number of requests with an unknown outcome. */
  readonly #inDoubt = new Map<string, number>();
  #refused = 0;

  constructor(private readonly parts: ClientsParts) {}

  /** The number of acknowledged requests. */
  get acknowledged(): number {
    return this.#acks.size + this.#answers.size;
  }

  /** The number of refused requests. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Sends a request that is answered with an acknowledgement, and checks that the acknowledged frame is durable. Never
   * rejects; never resolves when the process dies before the answer.
   *
   * @param asking sends it, for instance `() => world.request(to, event, { id })`
   * @returns the acknowledgement or the refusal
   */
  ask(ask: Ask, asking: () => Promise<Ack>): Promise<Ack | RepriseError> {
    return this.#hold(ask, asking, (key, ack, frame) => this.#acknowledged(key, ack, frame));
  }

  /**
   * Sends a request with any other answer, which may come only when the request is durable; a repeated request has to
   * get the same answer. Otherwise like {@link ask}.
   *
   * @param asking sends it, for instance `async () => (await session.send(text, { id })).id`
   */
  command(ask: Ask, asking: () => Promise<string>): Promise<string | RepriseError> {
    return this.#hold(ask, asking, (key, answer, frame) => this.#answered(key, answer, frame));
  }

  /** L1, at the end: every acknowledged head is in the journal. */
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
        this.parts.broken(`${key} was answered with a foreign error: ${String(thrown)}`);
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

  // L1
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
    // A command may be several requests: a repeated one may fail although the first one stands.
    const stands = code === 'request_conflict' || this.#answers.has(key);
    const doubtful = stands || (this.#inDoubt.get(key) ?? 0) > 0;
    if (frame !== undefined && !doubtful) broken(`${key} was refused as ${code} and stands in frame ${frame}`); // L2
  }
}

/** Whether a world may refuse to open for this reason while its disk has trouble. */
export function isTrouble(error: unknown): error is RepriseError {
  return isRepriseError(error) && (IN_DOUBT.includes(error.code) || error.code === 'commit_failed');
}
