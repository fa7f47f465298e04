/**
 * Clients of a simulated world: what they asked for, and what they were told.
 *
 * Invariants
 * L1  What a client was acknowledged is durable in that moment, where it was told, and stays.
 * L2  What a client was refused is not in the journal, nor ever comes there unless it is asked again.
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

/** What clients are made of. */
export interface ClientsParts {
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
  /** How often something was asked and nobody knows what came of it. */
  readonly #inDoubt = new Map<string, number>();
  #refused = 0;

  constructor(private readonly parts: ClientsParts) {}

  /** Every acknowledgement that was given, by who asked and under which id. */
  get acks(): ReadonlyMap<string, Ack> {
    return this.#acks;
  }

  /** How many were refused. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Asks for something and holds the answer to what is durable. Never rejects; never resolves when the process dies
   * before it answers.
   *
   * @param asking does it, for instance `() => world.request(to, event, { id })`
   * @returns what it came to: an acknowledgement or a refusal
   */
  async ask({ as = 'host', id }: Ask, asking: () => Promise<Ack>): Promise<Ack | RepriseError> {
    const key = `${as} ${id}`;
    this.#doubt(key, 1);
    try {
      const ack = await asking();
      this.#doubt(key, -1);
      this.#acknowledged(key, ack, this.parts.journal.frameOf(as, id));
      return ack;
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

  /** L1, once more: every head that was given stands in the journal. */
  check(): void {
    for (const [key, { seq, head }] of this.#acks) {
      if (this.parts.headAt(seq) !== head)
        this.parts.broken(`${key} was acknowledged in frame ${seq} and is not there`);
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
    if (ack.duplicate) sometimes.happened('the same request was asked again and found');
    this.#acks.set(key, ack);
  }

  #refuse(key: string, { code, message }: RepriseError, frame: number | undefined): void {
    const { broken, sometimes } = this.parts;
    this.#refused++;
    sometimes.happened(`refused: ${code}`);
    if (NEVER_REFUSED_AS.includes(code)) broken(`${key} was refused as ${code}: ${message}`); // L3
    const conflicts = code === 'request_conflict';
    const doubtful = (this.#inDoubt.get(key) ?? 0) > 0 || this.#acks.has(key) || conflicts;
    if (frame !== undefined && !doubtful) broken(`${key} was refused as ${code} and stands in frame ${frame}`); // L2
  }
}

/** Whether a world may refuse to open for this reason while its disk has trouble. */
export function isTrouble(error: unknown): error is RepriseError {
  return isRepriseError(error) && (IN_DOUBT.includes(error.code) || error.code === 'commit_failed');
}
