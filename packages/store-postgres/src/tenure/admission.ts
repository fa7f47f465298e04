/**
 * Whether worlds of a database may be opened: after a restore or a promotion, only when an operator has admitted it. The
 * database decides, by `why_not_admitted` and the trigger of `admission-tables.ts`; this file says why.
 */
import { isRepriseError, RepriseError } from '@reprise/contracts';
import { digest, one, text, whole } from '../connection/columns.js';
import type { Sql, SqlValue } from '../connection/driver.js';
import { stateOf } from '../connection/errors.js';

/** The SQLSTATEs with which the trigger refuses. */
const NOT_ADMITTED = 'RP001';
const LOST = 'RP002';

/** Why a database is not admitted: what differs from the last admission, or `heads` for what a witness has found. */
export type WhyNotAdmitted = 'system' | 'database' | 'timeline' | 'heads';

const WORDS: Readonly<Record<WhyNotAdmitted, string>> = {
  system: 'another server, such as one that a dump was restored into',
  database: 'another database of the server, such as a copy',
  timeline: 'another timeline, after a promotion or a recovery to a point in time',
  heads: 'frames are missing that the witness holds as acknowledged',
};

const PLACES = `
  SELECT c.system, c.database, c.timeline, h.system, h.database, h.timeline FROM reprise.cell c, reprise.here() h`;

/** Refuses a database that is not admitted. @param why from `reprise.why_not_admitted()` @throws RepriseError `not_admitted` */
export async function requireAdmitted(sql: Sql, why: SqlValue, where: string): Promise<void> {
  if (why === null) return;
  const reason = whyOf(why, where);
  const row = one(await sql.rows('look at the admission', PLACES)) ?? [];
  const at = ['system', 'database', 'timeline'].indexOf(reason);
  const [before, now] = at < 0 ? [null, null] : [row[at] ?? null, row[at + 3] ?? null];
  throw notAdmitted(where, reason, { before, now });
}

/** The refusal of a take. */
export function notAdmitted(
  where: string,
  reason: WhyNotAdmitted,
  found: { readonly before?: SqlValue; readonly now?: SqlValue; readonly worlds?: readonly string[] } = {},
): RepriseError {
  const { before = null, now = null, worlds = [] } = found;
  return new RepriseError('not_admitted', 'this database was restored or promoted, and no operator has admitted it', {
    ...{ where, reason },
    ...(before === null ? {} : { expected: `${reason} ${before}, as it was admitted` }),
    actual: now === null ? WORDS[reason] : `${reason} ${now}: ${WORDS[reason]}`,
    ...(worlds.length === 0 ? {} : { worlds }),
    hint: 'reprise fleet admit compares it with the witness, names the worlds that went back, and opens the others.',
  });
}

function whyOf(found: SqlValue, where: string): WhyNotAdmitted {
  const known = text(found, where);
  return known in WORDS ? (known as WhyNotAdmitted) : 'heads';
}

const LOST_HEADS = `
  SELECT l.had_seq, l.had_head, w.seq, w.head FROM reprise.lost_world l JOIN reprise.world w ON w.id = l.world
  WHERE l.world = $1 AND l.opened_in IS NULL ORDER BY l.had_seq DESC LIMIT 1`;

/** What came of a take that failed, in the words of an error of the list. */
export async function refusedTake(
  sql: Sql,
  error: unknown,
  { id, where }: { readonly id: number; readonly where: string },
): Promise<unknown> {
  const state = isRepriseError(error) ? stateOf(error.details.cause) : undefined;
  if (state === NOT_ADMITTED) {
    const why = one(await sql.rows('look at the admission', 'SELECT reprise.why_not_admitted()'));
    return requireAdmitted(sql, why?.[0] ?? 'heads', where).catch((refusal: unknown) => refusal);
  }
  if (state !== LOST) return error;
  const row = one(await sql.rows('look at a lost world', LOST_HEADS, [id]));
  if (row === undefined) return error;
  return wentBack(where, {
    had: { seq: whole(row[0], where), digest: digest(row[1], where) },
    has: { seq: whole(row[2], where), digest: digest(row[3], where) },
  });
}

/** A frame of a journal, and its head. */
interface Frame {
  readonly seq: number;
  readonly digest: string;
}

/** The refusal of a world that lacks a frame which was acknowledged. */
export function wentBack(where: string, { had, has }: { readonly had: Frame; readonly has: Frame }): RepriseError {
  return new RepriseError('head_mismatch', 'the world has lost acknowledged frames', {
    where,
    expected: `sha256:${had.digest} at frame ${had.seq}, which was acknowledged`,
    actual: has.seq < 0 ? 'a journal without frames' : `the last is sha256:${has.digest} at frame ${has.seq}`,
    hint: 'Restore the database to a later moment, or let the world go on from here: reprise fleet admit --open WORLD.',
  });
}
