/**
 * The witness of a process: what it has acknowledged goes to a slot, and no world opens before a head that any slot names.
 *
 * Invariants
 * W8  The database is compared with all slots before this process takes its first world, and again when another server answers,
 *     an operator has admitted it anew, or the lease of this process was lost: a dump that is restored under a running server
 *     takes its row. When any world is before its witness, no world is taken, here or by another process.
 */
import { RepriseError } from '@reprise/contracts';
import type { Head, ReadableJournal } from '@reprise/kernel';
import { one, whole } from '../connection/columns.js';
import type { Connections } from '../connection/driver.js';
import { notAdmitted, wentBack } from '../tenure/admission.js';
import type { Hosts } from '../tenure/hosts.js';
import type { Ground } from '../tenure/take.js';
import {
  type Admissions,
  admissionsOf,
  compareWorlds,
  expectedOf,
  isBefore,
  readSlots,
  type Witnessed,
  withoutEqual,
  wordsOf,
} from './compared.js';
import type { WitnessPlace } from './place.js';
import { type LeasedSlot, Recorder } from './recorder.js';
import { readSlot, SLOTS_MAX, slotName, type WitnessedHead } from './slot.js';

/** What a witness needs of its process. */
interface WitnessParts {
  readonly place: WitnessPlace;
  readonly connections: Connections;
  readonly hosts: Hosts;
  /** The id of the database. */
  readonly database: string;
  onError(error: unknown): void;
}

/** What the slots and the database say. */
interface Compared {
  readonly witnessed: Witnessed;
  readonly admissions: Admissions;
}

/** A comparison, and of what. */
interface Comparison {
  readonly of: string;
  readonly done: Promise<Compared>;
}

/** A world that was taken, and has to be compared. */
interface OpenedWorld {
  readonly name: string;
  readonly id: number;
  readonly incarnation: string;
  readonly where: string;
  readonly head: Head;
  readonly journal: ReadableJournal;
}

/** The worlds that an error names at most. */
const NAMED_MAX = 10;

/** The witness of a process. */
export class Witness {
  readonly #recorder: Recorder;
  #comparison: Comparison | undefined;
  /** The last comparison that found nothing missing: one that fails later, for another world, takes nothing of it back. */
  #compared: Compared | undefined;

  constructor(private readonly parts: WitnessParts) {
    this.#recorder = new Recorder({
      place: parts.place,
      lease: () => this.#lease(),
      onError: (error) => parts.onError(error),
    });
  }

  /** Compares the database, where that was not done on this ground (W8). @throws RepriseError `not_admitted`, `store_failed` */
  async compare({ server, incarnation, lease }: Ground): Promise<void> {
    const of = `${server} ${incarnation} ${lease}`;
    if (this.#comparison?.of !== of) this.#comparison = { of, done: this.#compare(incarnation) };
    const mine = this.#comparison;
    try {
      this.#compared = await mine.done;
    } catch (error) {
      if (this.#comparison === mine) this.#comparison = undefined; // the next take tries again
      throw error;
    }
  }

  async #compare(incarnation: string): Promise<Compared> {
    const { place, connections, database } = this.parts;
    await this.#recorder.start();
    const witnessed = await readSlots(place, database);
    const compared = await compareWorlds(connections, witnessed, connections.label);
    const before = compared.filter(isBefore);
    if (before.length > 0) {
      const stop = 'UPDATE reprise.cell SET behind = true WHERE incarnation = $1';
      await connections.rows('refuse a restored database', stop, [incarnation]);
      throw notAdmitted(connections.label, 'heads', { worlds: before.slice(0, NAMED_MAX).map(wordsOf) });
    }
    return {
      witnessed: withoutEqual(witnessed, compared),
      admissions: await admissionsOf(connections, connections.label),
    };
  }

  /** Requires that a world has the newest head that is known of it. @throws RepriseError `head_mismatch` */
  async requireHead({ name, id, incarnation, where, head, journal }: OpenedWorld): Promise<void> {
    if (this.#compared === undefined) return;
    const { witnessed, admissions } = this.#compared;
    const own = this.#recorder.of(incarnation, name);
    const heads = [...(witnessed.worlds.get(name) ?? []), ...(own === undefined ? [] : [own])];
    if (heads.length === 0) return;
    const openedIn = await this.#openedIn(id, where);
    const expected = expectedOf(heads, { openedIn, admissions });
    if (expected === undefined || (await hasHead(journal, head, expected))) return;
    throw wentBack(where, { had: { seq: expected.seq, digest: expected.head }, has: head });
  }

  /** Puts a head that was acknowledged with the next put. */
  saw(head: WitnessedHead): void {
    this.#recorder.saw(head);
  }

  close(): Promise<void> {
    return this.#recorder.close();
  }

  async #openedIn(id: number, where: string): Promise<number | undefined> {
    const sql = 'SELECT max(opened_in) FROM reprise.lost_world WHERE world = $1';
    const row = one(await this.parts.connections.rows('look at a lost world', sql, [id]));
    return row?.[0] == null ? undefined : whole(row[0], where);
  }

  async #lease(): Promise<LeasedSlot> {
    const { place, connections, hosts, database } = this.parts;
    const lease = await hosts.current();
    const slot = await leaseSlot(connections, lease.id);
    const name = slotName(database, slot);
    const stored = await place.get(name);
    const before =
      stored === undefined ? { heads: [], droppedThrough: 0 } : readSlot(stored, `${place.label}, ${name}`);
    return { name, before, holds: () => lease.holds() };
  }
}

/** Whether a journal has a head: its last one, or that of an earlier frame. */
export async function hasHead(journal: ReadableJournal, last: Head, { seq, head }: WitnessedHead): Promise<boolean> {
  if (last.seq <= seq) return last.seq === seq && last.digest === head;
  for await (const frame of journal.read(seq, seq)) return frame.head === head;
  return false;
}

/** The number of the advisory lock under which slots are leased, one after the other. */
const LOCK = 0x52505257; // "RPRW"

/**
 * A put of a process that has ended may still be under way, and would replace what the next one puts (recorder/W5). So a slot
 * rests for a minute after its lease, as long as there are others.
 */
const RESTS = `EXISTS (SELECT FROM reprise.host h WHERE h.id = s.host AND h.expires > clock_timestamp() - interval '1 minute')`;

const LEASE_SLOT = `
  INSERT INTO reprise.witness_slot (slot, host)
  SELECT g.slot, $1::uuid FROM generate_series(0, ${SLOTS_MAX - 1}) AS g (slot) LEFT JOIN reprise.witness_slot s ON s.slot = g.slot
  WHERE s.host IS NULL OR s.host = $1::uuid
    OR NOT EXISTS (SELECT FROM reprise.host h WHERE h.id = s.host AND NOT h.closed AND h.expires > clock_timestamp())
  ORDER BY s.host IS NOT DISTINCT FROM $1::uuid DESC, ${RESTS}, g.slot LIMIT 1
  ON CONFLICT (slot) DO UPDATE SET host = excluded.host RETURNING slot`;

async function leaseSlot(connections: Connections, lease: string): Promise<number> {
  const what = 'lease a slot of the witness';
  const row = await connections.transaction(what, async (sql) => {
    await sql.rows(what, 'SELECT pg_advisory_xact_lock($1)', [LOCK]);
    return one(await sql.rows(what, LEASE_SLOT, [lease]));
  });
  if (row !== undefined) return whole(row[0], 'reprise.witness_slot');
  throw new RepriseError('bound_exceeded', 'every slot of the witness is leased by a process that lives', {
    where: connections.label,
    expected: `at most ${SLOTS_MAX} processes with a witness at a time`,
    hint: 'Close a process, or wait until the lease of a dead one is over.',
  });
}
