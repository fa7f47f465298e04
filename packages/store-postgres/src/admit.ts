/**
 * What an operator decides about a database that was restored or promoted: it is compared with the witness, gets a new
 * incarnation, and worlds that have lost acknowledged frames stay closed until the operator lets them go on.
 *
 * Invariants
 * A1  Comparison and decision are one transaction that no write of a world overlaps: what an owner of an incarnation before
 *     sends is written before it and compared, or refused after it.
 * A2  Epochs go on above all that services outside may have seen.
 * A3  A database that is admitted and has every head of the witness keeps its incarnation: its processes go on.
 */
import { aFlag, type KnownOptions, RepriseError } from '@reprise/contracts';
import type { Head, ReadableJournal } from '@reprise/kernel';
import { bytes, digest, one, text, uuid, whole } from './connection/columns.js';
import type { Connections, Row, Sql } from './connection/driver.js';
import type { WhyNotAdmitted } from './tenure/admission.js';
import { type ComparedWorld, compareWorlds, isBefore, readSlots, type Witnessed } from './witness/compared.js';
import { WITNESS_PLACE, type WitnessPlace } from './witness/place.js';
import { hasHead } from './witness/witness.js';

/** How an operator admits a database. */
export interface AdmitOptions {
  /** The witness of its processes; absent to admit it without knowing what was lost. */
  readonly witness?: WitnessPlace;
  /** Worlds that may go on although they have lost acknowledged frames: names, or `all`. */
  readonly open?: readonly string[] | 'all';
  /** Whether to compare only, and to decide nothing; false when absent. */
  readonly look?: boolean;
}

/** The options that {@link AdmitOptions} knows. */
export const ADMIT_OPTIONS: KnownOptions<AdmitOptions> = {
  witness: WITNESS_PLACE,
  open: {
    expected: 'names of worlds in a list, or "all"',
    fits: (thing) => thing === 'all' || (Array.isArray(thing) && thing.every((one) => typeof one === 'string')),
  },
  look: aFlag,
};

/** A world that lacks frames that were acknowledged. */
export interface LostWorld {
  readonly world: string;
  /** The newest frame that is known to have been acknowledged. */
  readonly had: Head;
  /** The last frame that is here. */
  readonly has: Head;
  /** Whether an operator has let it go on, now or before. */
  readonly opened: boolean;
}

/** What was found, and decided. */
export interface AdmitReport {
  /** Why no world could be opened; null when the database was admitted already and no world has gone back. */
  readonly reason: WhyNotAdmitted | null;
  /** What the reason is about, as it was at the last admission and as it is now; null for `heads`. */
  readonly changed: { readonly before: string; readonly now: string } | null;
  /** Whether it has a new incarnation now. */
  readonly admitted: boolean;
  readonly incarnation: string;
  /** The worlds that the witness names; null without a witness. */
  readonly compared: number | null;
  /** From when on the witness names every world that was written, in milliseconds since 1970; 0 for always. */
  readonly completeSince: number;
  /** The worlds that have lost frames and are closed, or were opened by this call; by name. */
  readonly lost: readonly LostWorld[];
}

/** What admitting needs of its database. */
interface AdmitParts {
  readonly connections: Connections;
  readonly database: string;
  /** Whether its tables know sealed content. */
  readonly hasSeals: boolean;
  /** Reads the journal of a world. */
  journal(world: number): ReadableJournal;
}

/** Compares a database with its witness, and admits it. @throws RepriseError `invalid_argument`, `store_failed` */
export async function admitDatabase(parts: AdmitParts, options: AdmitOptions): Promise<AdmitReport> {
  const { witness } = options;
  const witnessed = witness === undefined ? undefined : await readSlots(witness, parts.database);
  if (options.look === true) return new Admission(parts, parts.connections, witnessed).look();
  return parts.connections.transaction('admit the database', async (sql) => {
    await sql.rows('admit the database', 'LOCK TABLE reprise.world IN EXCLUSIVE MODE'); // A1
    return new Admission(parts, sql, witnessed).decide(options, witness?.label ?? null);
  });
}

/** Above all numbers that processes before may have given to services (A2). */
const EPOCHS_BETWEEN = 1_000_000;

const CELL = `
  SELECT c.incarnation::text, reprise.why_not_admitted(), c.system, c.database, c.timeline, h.system, h.database, h.timeline
  FROM reprise.cell c, reprise.here() h`;

const NEW_INCARNATION = `
  UPDATE reprise.cell c SET incarnation = gen_random_uuid(), system = h.system, database = h.database, timeline = h.timeline,
    behind = false,
    epochs_before = greatest(c.epochs_before, $1, (SELECT coalesce(max(w.epoch), 0) FROM reprise.world w)) + ${EPOCHS_BETWEEN}
  FROM reprise.here() h RETURNING c.incarnation::text`;

/**
 * What a process of an earlier release has open compares the epoch alone, so the epoch of each open row goes on. Columns that
 * name the epoch as that of a newer release go on with it: a constraint of the row compares them.
 */
function raiseOpen(hasSeals: boolean): string {
  const follow = ['packs_known_by', ...(hasSeals ? ['seals_known_by'] : [])].map(
    (column) => `, ${column} = CASE WHEN w.${column} = w.epoch THEN c.epochs_before + 1 ELSE w.${column} END`,
  );
  return `UPDATE reprise.world w SET epoch = c.epochs_before + 1${follow.join('')}
    FROM reprise.cell c WHERE w.owner IS NOT NULL
      AND NOT EXISTS (SELECT FROM reprise.lost_world l WHERE l.world = w.id AND l.opened_in IS NULL)`;
}

const CLOSED = `
  SELECT w.name, l.had_seq, l.had_head, w.seq, w.head FROM reprise.lost_world l JOIN reprise.world w ON w.id = l.world
  WHERE l.opened_in IS NULL AND l.had_seq = (
    SELECT max(m.had_seq) FROM reprise.lost_world m WHERE m.world = l.world AND m.opened_in IS NULL
  ) ORDER BY w.name`;

/** One comparison, and what is decided on it. */
class Admission {
  constructor(
    private readonly parts: AdmitParts,
    private readonly sql: Sql,
    private readonly witnessed: Witnessed | undefined,
  ) {}

  async look(): Promise<AdmitReport> {
    const { incarnation, why, changed } = await this.#cell();
    const found = (await this.#lost()).map(lostOf);
    const known = await this.#closed();
    const names = new Set(found.map(({ world }) => world));
    const lost = [...known.filter(({ world }) => !names.has(world)), ...found];
    return this.#report({
      incarnation,
      reason: why ?? (found.length > 0 ? 'heads' : null),
      changed,
      admitted: false,
      lost,
    });
  }

  async decide({ open = [] }: AdmitOptions, place: string | null): Promise<AdmitReport> {
    const { why, changed, ...before } = await this.#cell();
    if (why !== null && this.witnessed?.worlds.size === 0) throw namesNothing(place);
    const lost = await this.#lost();
    const reason = why ?? (lost.length > 0 ? 'heads' : null);
    const incarnation = reason === null ? before.incarnation : await this.#admit(reason, place, lost);
    const closed = await this.#closed();
    const opened = await this.#open(closed, open);
    const worlds = closed.map((one) => (opened.has(one.world) ? { ...one, opened: true } : one));
    return this.#report({ incarnation, reason, changed, admitted: reason !== null, lost: worlds });
  }

  #report(found: Omit<AdmitReport, 'compared' | 'completeSince'>): AdmitReport {
    const { witnessed } = this;
    return { ...found, compared: witnessed?.worlds.size ?? null, completeSince: witnessed?.completeSince ?? 0 };
  }

  async #cell(): Promise<Pick<AdmitReport, 'incarnation' | 'changed'> & { readonly why: WhyNotAdmitted | null }> {
    const { label } = this.parts.connections;
    const row = one(await this.sql.rows('look at the admission', CELL)) ?? [];
    const why = row[1] == null ? null : (text(row[1], label) as WhyNotAdmitted);
    const at = ['system', 'database', 'timeline'].indexOf(why ?? '');
    const changed = at < 0 ? null : { before: String(row[2 + at]), now: String(row[5 + at]) };
    return { incarnation: uuid(row[0], label), why, changed };
  }

  /** The worlds that lack a head, and of which no admission has said so. */
  async #lost(): Promise<readonly ComparedWorld[]> {
    if (this.witnessed === undefined) return [];
    const lost: ComparedWorld[] = [];
    for (const world of await compareWorlds(this.sql, this.witnessed, this.parts.connections.label))
      if (isBefore(world) || (await this.#isOther(world))) lost.push(world);
    return lost;
  }

  /** Whether a world has other frames in place of those that were acknowledged: it went back unnoticed, and went on. */
  async #isOther({ id, had, has, closedAt }: ComparedWorld): Promise<boolean> {
    if (id === undefined || has.seq <= had.seq || closedAt !== undefined) return false;
    return !(await hasHead(this.parts.journal(id), has, had));
  }

  /** Begins a new incarnation, and closes what went back. @returns the incarnation */
  async #admit(reason: WhyNotAdmitted, place: string | null, lost: readonly ComparedWorld[]): Promise<string> {
    const what = 'admit the database';
    const epochs = [...(this.witnessed?.worlds.values() ?? [])].flat().map(({ epoch }) => epoch);
    const highest = epochs.reduce((most, epoch) => Math.max(most, epoch), 0);
    const incarnation = uuid(one(await this.sql.rows(what, NEW_INCARNATION, [highest]))?.[0], what);
    await this.sql.rows(what, 'UPDATE reprise.host SET closed = true WHERE NOT closed');
    await this.sql.rows(what, raiseOpen(this.parts.hasSeals));
    const note = `INSERT INTO reprise.admission (incarnation, reason, witness, compared, lost)
      VALUES ($1, $2, $3, $4, $5) RETURNING n`;
    const compared = this.witnessed?.worlds.size ?? 0;
    const row = one(await this.sql.rows(what, note, [incarnation, reason, place, compared, lost.length]));
    for (const world of lost) await this.#close(world, whole(row?.[0], what));
    return incarnation;
  }

  async #close({ had, has, ...world }: ComparedWorld, admission: number): Promise<void> {
    const what = 'close a world that went back';
    const id = world.id ?? (await this.#make(had.world));
    const sql = `INSERT INTO reprise.lost_world (world, admission, had_seq, had_head, has_seq, has_head)
      VALUES ($1, $2, $3, $4, $5, $6)`;
    const heads = [had.seq, Buffer.from(had.head, 'hex'), has.seq, Buffer.from(has.digest, 'hex')];
    await this.sql.rows(what, sql, [id, admission, ...heads]);
  }

  async #make(world: string): Promise<number> {
    const sql = 'INSERT INTO reprise.world (name) VALUES ($1) RETURNING id';
    const row = one(await this.sql.rows('make the world', sql, [Buffer.from(world, 'utf8')]));
    return whole(row?.[0], world);
  }

  async #closed(): Promise<readonly LostWorld[]> {
    const { label } = this.parts.connections;
    return (await this.sql.rows('look for closed worlds', CLOSED)).map((row) => closedOf(row, label));
  }

  /** Lets worlds go on. @returns their names @throws RepriseError `invalid_argument` for one that is not closed */
  async #open(closed: readonly LostWorld[], open: readonly string[] | 'all'): Promise<ReadonlySet<string>> {
    const names = open === 'all' ? closed.map(({ world }) => world) : open;
    const unknown = names.filter((name) => !closed.some(({ world }) => world === name));
    if (unknown.length > 0) throw notClosed(unknown, closed);
    const sql = `UPDATE reprise.lost_world l SET opened_in = (SELECT max(a.n) FROM reprise.admission a)
      FROM reprise.world w WHERE w.id = l.world AND l.opened_in IS NULL AND w.name = $1`;
    for (const name of names) await this.sql.rows('let a world go on', sql, [Buffer.from(name, 'utf8')]);
    return new Set(names);
  }
}

function lostOf({ had, has }: ComparedWorld): LostWorld {
  return { world: had.world, had: { seq: had.seq, digest: had.head }, has, opened: false };
}

function closedOf([name, hadSeq, hadHead, seq, head]: Row, where: string): LostWorld {
  return {
    world: Buffer.from(bytes(name, where)).toString('utf8'),
    had: { seq: whole(hadSeq, where), digest: digest(hadHead, where) },
    has: { seq: whole(seq, where), digest: digest(head, where) },
    opened: false,
  };
}

/** An empty place is most likely a wrong one, and would say that no world has lost anything. */
function namesNothing(place: string | null): RepriseError {
  return new RepriseError('invalid_argument', 'the witness names no world of this database', {
    where: 'witness',
    expected: 'the place that the processes of this database have',
    actual: place ?? 'nothing',
    hint: 'Is its disk mounted, and is its prefix the right one? If nothing was ever witnessed, admit without it: --no-witness.',
  });
}

function notClosed(names: readonly string[], closed: readonly LostWorld[]): RepriseError {
  return new RepriseError('invalid_argument', 'a world to open is not closed for lost frames', {
    where: 'open',
    expected: closed.length === 0 ? 'no world: none has lost frames' : closed.map(({ world }) => world).join(', '),
    actual: names.join(', '),
    hint: 'Names are those of the database. Nothing was decided.',
  });
}
