/**
 * Appends: one statement for all worlds of this process that append while another statement is under way.
 *
 * Invariants
 * M1  A statement changes a world only when the database still has the incarnation, and the world the epoch and the head, that
 *     its append was computed on;
 *     of the others it writes nothing (take/G1).
 * M2  A world that cannot be written does not keep its neighbours from being written: when the database refuses the
 *     statement of several worlds, each has one of its own.
 * M3  Rows are locked in the order of their numbers, so that an owner and a process that believes to be one do not wait
 *     for each other.
 */
import { isRepriseError, RepriseError } from '@reprise/contracts';
import type { Head } from '@reprise/kernel';
import { assertHead } from '@reprise/kernel/driver';
import type { Connections } from '../connection/driver.js';
import { isRefusal } from '../connection/errors.js';
import { ownedHead } from './journal.js';
import type { OwnedPlace } from './place.js';
import { APPEND, type Append, appendParameters, bytesOf } from './statement.js';

/** Statements under way at once: with a second one, the database works while this process makes the next. */
const LANES = 2;

/** The bytes of a statement; one append may have more. */
const STATEMENT_BYTES_MAX = 16 * 1024 * 1024;

interface Waiting {
  readonly append: Append;
  readonly place: OwnedPlace;
  settle(outcome: Promise<Head>): void;
}

/** Collects the appends of all worlds of a process. */
export class Committer {
  #waiting: Waiting[] = [];
  #lanes = 0;

  /** @param followed called after an append to a world that a reader follows */
  constructor(
    private readonly connections: Connections,
    private readonly followed: (world: number) => void = () => undefined,
  ) {}

  /**
   * Appends to a world, together with what other worlds append at the same time.
   *
   * @throws RepriseError `stale_head`, `fenced`, `store_full`, `store_failed`
   */
  append(place: OwnedPlace, append: Append): Promise<Head> {
    return new Promise((resolve) => {
      this.#waiting.push({ append, place, settle: resolve });
      this.#run();
    });
  }

  #run(): void {
    while (this.#lanes < LANES && this.#waiting.length > 0) {
      this.#lanes++;
      void this.#write(this.#next()).finally(() => {
        this.#lanes--;
        this.#run();
      });
    }
  }

  /** The next group, of one incarnation: each world once, as the rows that a statement writes are told apart by their world alone. */
  #next(): readonly Waiting[] {
    let bytes = 0;
    const worlds = new Set<number>();
    const [first] = this.#waiting;
    const end = this.#waiting.findIndex(({ append }, i) => {
      bytes += bytesOf(append);
      const again = worlds.size === worlds.add(append.world).size;
      const other = append.incarnation !== first?.append.incarnation; // of a world that was opened before an admission
      return i > 0 && (again || other || bytes > STATEMENT_BYTES_MAX);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  /** Never rejects: each append has its own outcome. */
  async #write(group: readonly Waiting[]): Promise<void> {
    const outcome = await this.#execute(group.map(({ append }) => append));
    if (!isRepriseError(outcome)) {
      for (const one of group)
        one.settle(outcome.has(one.append.world) ? Promise.resolve(headAfter(one.append)) : why(one));
    } else if (group.length > 1 && isRefusal(outcome.details.cause)) {
      for (const one of group) await this.#write([one]); // M2
    } else for (const one of group) one.settle(Promise.reject(outcome));
  }

  /** @returns the worlds that were written, or why the statement failed */
  async #execute(appends: readonly Append[]): Promise<ReadonlySet<number> | RepriseError> {
    try {
      const rows = await this.connections.rows('append', APPEND, appendParameters(appends));
      for (const [id, followed] of rows) if (followed === true) this.followed(Number(id));
      return new Set(rows.map(([id]) => Number(id)));
    } catch (error) {
      return isRepriseError(error) ? error : new RepriseError('store_failed', 'cannot append', { cause: error });
    }
  }
}

function headAfter({ frames, expected }: Append): Head {
  const last = frames.at(-1);
  return last === undefined ? expected : { seq: last.seq, digest: last.head };
}

/** Why a world was not written: another opening has it, or its head is another one. */
async function why({ place, append }: Waiting): Promise<Head> {
  const durable = await ownedHead(place);
  assertHead(durable, append.expected);
  throw new RepriseError('store_failed', 'the database wrote nothing of an append and does not say why', {
    where: place.where,
  });
}
