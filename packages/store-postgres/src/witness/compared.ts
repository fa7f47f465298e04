/**
 * What the slots of a witness say together, compared with a database.
 *
 * Invariants
 * W6  A world is before its witness when its journal lacks a head that any slot names, unless an operator has let the world go
 *     on without it: then only heads of that admission and of later ones count. An admission that the database does not know is
 *     later when its epochs are above all that the database has given up: a restore has taken it back.
 * W9  What is kept of a witness after the comparison is what a later opening has to be compared with: nothing of worlds whose
 *     last frame is the one that the witness names, since what follows there continues it.
 * W7  A slot that cannot be read is an error: what it names is not taken for nothing.
 */
import type { Head } from '@reprise/kernel';
import { bytes, digest, one, uuid, whole } from '../connection/columns.js';
import type { Row, Sql } from '../connection/driver.js';
import type { WitnessPlace } from './place.js';
import { readSlot, SLOTS_MAX, slotName, type WitnessedHead } from './slot.js';

/** What all slots of a witness name. */
export interface Witnessed {
  /** By world: a head for each incarnation. */
  readonly worlds: ReadonlyMap<string, readonly WitnessedHead[]>;
  /** From when on they name every world that was written, in milliseconds since 1970; 0 for always. */
  readonly completeSince: number;
}

/** Slots that are read at a time. */
const READS = 16;

/** Reads all slots. @param database its id @throws RepriseError `store_failed` */
export async function readSlots(place: WitnessPlace, database: string): Promise<Witnessed> {
  const worlds = new Map<string, WitnessedHead[]>();
  const newest = new Map<string, WitnessedHead>();
  let completeSince = 0;
  const names = Array.from({ length: SLOTS_MAX }, (_, slot) => slotName(database, slot));
  const readOne = async (name: string): Promise<void> => {
    const stored = await place.get(name);
    if (stored === undefined) return;
    const { heads, droppedThrough } = readSlot(stored, `${place.label}, ${name}`);
    completeSince = Math.max(completeSince, droppedThrough);
    for (const head of heads) keepNewest(newest, head);
  };
  const reader = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) await readOne(name);
  };
  await Promise.all(Array.from({ length: READS }, reader));
  for (const head of newest.values()) worlds.set(head.world, [...(worlds.get(head.world) ?? []), head]);
  return { worlds, completeSince };
}

/** A world that has wandered stands in the slot of each process that had it. */
function keepNewest(newest: Map<string, WitnessedHead>, head: WitnessedHead): void {
  const key = `${head.incarnation} ${head.world}`;
  if ((newest.get(key)?.seq ?? -1) <= head.seq) newest.set(key, head);
}

/** What is left of a witness after a comparison that found nothing missing (W9). */
export function withoutEqual({ worlds, completeSince }: Witnessed, compared: readonly ComparedWorld[]): Witnessed {
  const left = new Map<string, readonly WitnessedHead[]>();
  for (const { had, has } of compared) {
    const heads = worlds.get(had.world);
    if (heads !== undefined && (has.seq !== had.seq || has.digest !== had.head)) left.set(had.world, heads);
  }
  return { worlds: left, completeSince };
}

/** The admissions that a database knows. */
export interface Admissions {
  /** Their order, by their incarnations. */
  readonly order: ReadonlyMap<string, number>;
  /** Epochs up to this one belong to incarnations before the present one, also to those that a restore has taken back. */
  readonly epochsBefore: number;
}

/** Reads the admissions of a database. */
export async function admissionsOf(sql: Sql, where: string): Promise<Admissions> {
  const order = 'SELECT a.incarnation::text, a.n, c.epochs_before FROM reprise.admission a, reprise.cell c';
  const rows = await sql.rows('look at the admissions', order);
  return {
    order: new Map(rows.map(([incarnation, n]) => [uuid(incarnation, where), whole(n, where)])),
    epochsBefore: whole(one(rows)?.[2], where),
  };
}

/** The head that a world must have; undefined for any (W6). @param openedIn the admission in which it went on, if it went back */
export function expectedOf(
  heads: readonly WitnessedHead[],
  { openedIn, admissions }: { readonly openedIn: number | undefined; readonly admissions: Admissions },
): WitnessedHead | undefined {
  const counts = ({ incarnation, epoch }: WitnessedHead): boolean => {
    if (openedIn === undefined) return true;
    const admitted = admissions.order.get(incarnation);
    return admitted === undefined ? epoch > admissions.epochsBefore : admitted >= openedIn;
  };
  let expected: WitnessedHead | undefined;
  for (const head of heads) if (counts(head) && head.seq > (expected?.seq ?? -1)) expected = head;
  return expected;
}

/** A world that the witness names, beside what the database has of it. */
export interface ComparedWorld {
  /** The number of its row; undefined where the database has no such world. */
  readonly id: number | undefined;
  readonly had: WitnessedHead;
  readonly has: Head;
  /** The frame up to which an admission before has named it as lost, and it is still closed. */
  readonly closedAt: number | undefined;
}

/** Worlds that one statement looks up. */
const LOOKED_UP = 5_000;

const LOOK_UP = `
  SELECT w.name, w.id, w.seq, w.head, l.opened_in, l.had
  FROM unnest($1::text[]) AS g (name) JOIN reprise.world w ON w.name = decode(g.name, 'hex')
  LEFT JOIN LATERAL (
    SELECT max(l.opened_in) AS opened_in, max(l.had_seq) FILTER (WHERE l.opened_in IS NULL) AS had
    FROM reprise.lost_world l WHERE l.world = w.id
  ) l ON true`;

/** The head of a journal without frames. */
const NOTHING: Head = { seq: -1, digest: '0'.repeat(64) };

/** Compares all worlds of a witness with the database. @returns those of which a head counts, in the order of their names */
export async function compareWorlds(sql: Sql, witnessed: Witnessed, where: string): Promise<readonly ComparedWorld[]> {
  const admissions = await admissionsOf(sql, where);
  const names = [...witnessed.worlds.keys()].sort();
  const compared: ComparedWorld[] = [];
  for (let at = 0; at < names.length; at += LOOKED_UP) {
    const page = names.slice(at, at + LOOKED_UP);
    const hexes = page.map((name) => Buffer.from(name, 'utf8').toString('hex'));
    const rows = await sql.rows('compare worlds', LOOK_UP, [hexes]);
    const found = new Map(rows.map((row) => [Buffer.from(bytes(row[0], where)).toString('utf8'), row]));
    for (const name of page) {
      const row = found.get(name);
      const openedIn = row?.[4] == null ? undefined : whole(row[4], where);
      const had = expectedOf(witnessed.worlds.get(name) ?? [], { openedIn, admissions });
      if (had !== undefined) compared.push(comparedOf(row, had, where));
    }
  }
  return compared;
}

function comparedOf(row: Row | undefined, had: WitnessedHead, where: string): ComparedWorld {
  if (row === undefined) return { id: undefined, had, has: NOTHING, closedAt: undefined };
  return {
    ...{ id: whole(row[1], where), had },
    has: { seq: whole(row[2], where), digest: digest(row[3], where) },
    closedAt: row[5] == null ? undefined : whole(row[5], where),
  };
}

/** Whether a world lacks the head, and no admission before has said so. One with more frames has to be read. */
export function isBefore({ had, has, closedAt }: ComparedWorld): boolean {
  if (closedAt !== undefined && closedAt >= had.seq) return false;
  return has.seq < had.seq || (has.seq === had.seq && has.digest !== had.head);
}

/** The name of a world in words, for a list in an error. */
export function wordsOf({ had, has }: ComparedWorld): string {
  return `${had.world}: frame ${had.seq} was acknowledged, ${has.seq < 0 ? 'no frame' : `frame ${has.seq}`} is here`;
}
