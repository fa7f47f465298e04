/** Reads the journal of a world. A page is one statement, so no page sees half of an append. */
import { RepriseError } from '@reprise/contracts';
import type { Head, ReadableJournal, StoredFrame } from '@reprise/kernel';
import { type FrameRow, rowInflater, unpackRow } from '@reprise/packs';
import { bytes, digest, digestBytes, one, text, whole } from '../connection/columns.js';
import type { Row, SqlParameter } from '../connection/driver.js';
import { fenced } from '../tenure/take.js';
import { keyHash, seqsOf } from './packed-keys.js';
import type { OwnedPlace, WorldPlace } from './place.js';

/** The plain bytes of a page, about a mebibyte; a page has at least one row. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_FRAMES_MAX = 256;
const PAGE_PACKS_MAX = 8;

const COLUMNS = 'seq, first, at, kind, head, bytes, size';
const OF_PACK = 'seq, first, at, kind, head, substr(bytes || tail, 1, stored) AS bytes, size';
const OF_FRAME = 'seq, seq AS first, at, kind, head, bytes, length(bytes) AS size';

const FRAMES = `
  SELECT ${COLUMNS} FROM (
    SELECT *, sum(size) OVER (ORDER BY seq) - size AS before FROM (
      SELECT ${OF_FRAME} FROM reprise.frame WHERE world = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT ${PAGE_FRAMES_MAX}
    ) AS page
  ) AS sized WHERE before < ${PAGE_BYTES}`;

/** Packs from the one that has frame $2 on, or frames of rows of their own when none has it: what moves between is in one of the two. */
const PAGE = `
  WITH near AS MATERIALIZED (
    SELECT first <= $2 AS has FROM reprise.pack WHERE world = $1 AND seq >= $2 ORDER BY seq LIMIT 1
  )
  SELECT ${COLUMNS} FROM (${FRAMES}) AS frames WHERE NOT EXISTS (SELECT FROM near WHERE has)
  UNION ALL
  SELECT ${COLUMNS} FROM (
    SELECT ${OF_PACK} FROM reprise.pack WHERE world = $1 AND seq >= $2 ORDER BY seq LIMIT ${PAGE_PACKS_MAX}
  ) AS packs WHERE EXISTS (SELECT FROM near WHERE has)
  ORDER BY seq`;

const LAST_OF_KIND = `
  SELECT ${COLUMNS} FROM (
    SELECT ${OF_FRAME} FROM reprise.frame WHERE world = $1 AND kind = $2 AND seq <= $3 ORDER BY seq DESC LIMIT 1
  ) AS frame`;

/** The row of that kind, the pack around $3, which may have the kind before it and again after, and the last pack before with the kind. */
const LAST_OF_KIND_PACKED = `
  WITH near AS MATERIALIZED (
    SELECT ${OF_PACK} FROM reprise.pack WHERE world = $1 AND seq >= $3 ORDER BY seq LIMIT 1
  ), around AS MATERIALIZED (SELECT * FROM near WHERE first <= $3), before AS MATERIALIZED (
    SELECT seq FROM reprise.landmark
    WHERE world = $1 AND kind = $2 AND seq < COALESCE((SELECT first FROM around), $3::bigint + 1) ORDER BY seq DESC LIMIT 1
  )
  ${LAST_OF_KIND}
  UNION ALL SELECT ${COLUMNS} FROM around
  UNION ALL SELECT ${COLUMNS} FROM (
    SELECT ${OF_PACK} FROM reprise.pack WHERE world = $1 AND seq >= (SELECT seq FROM before) ORDER BY seq LIMIT 1
  ) AS earlier`;

const KEY = 'SELECT seq, NULL::bytea FROM reprise.frame WHERE world = $1 AND key = $2';

/** The index answers for $3 alone: few packs have it, and hardly ever one of another world. */
const KEY_PACKED = `
  WITH found AS MATERIALIZED (
    SELECT world, first, substr(bytes || tail, stored + 1) AS keyed FROM reprise.pack WHERE keys @> ARRAY[$3::bigint]
  )
  ${KEY} UNION ALL SELECT first, keyed FROM found WHERE world = $1`;

/** The reading half of the journal. */
export function journalReader(place: WorldPlace): ReadableJournal {
  const { id, where, tables } = place;
  const inflate = rowInflater();

  async function* read(from: number, to = Number.MAX_SAFE_INTEGER): AsyncGenerator<StoredFrame> {
    const last = Math.min(to, Number.MAX_SAFE_INTEGER);
    for (let next = Math.max(from, 0); next <= last; ) {
      const page = await pageFrom(next, last);
      if (page.length === 0) return;
      if (!isWithin(page[0], next)) throw holeAt(next, where);
      for (const row of page) {
        if (row.first > next) break; // frames between are in the other table
        if (row.seq < next) throw holeAt(next, where);
        yield* unpackRow(row, next, last, where, inflate);
        next = row.seq + 1;
        if (next > last) return;
      }
    }
  }

  /** An empty page is the end only when the head is before it; frames that came between the two are read again. */
  async function pageFrom(next: number, last: number): Promise<readonly FrameRow[]> {
    for (let again = false; ; again = true) {
      const page = await rows(place, 'read frames', tables.packs ? PAGE : FRAMES, [id, next, last]);
      if (page.length > 0) return page.map((row) => frameRow(row, where, next));
      if ((await headOf(place)).seq < next) return [];
      if (again) throw holeAt(next, where);
    }
  }

  return {
    head: () => headOf(place),
    read,
    findKey: async (key) => {
      const bytesOfKey = Buffer.from(key, 'hex');
      const found = tables.packs
        ? await rows(place, 'look for a request', KEY_PACKED, [id, bytesOfKey, keyHash(id, bytesOfKey)])
        : await rows(place, 'look for a request', KEY, [id, bytesOfKey]);
      const seqs = found.flatMap(([seq, keyed]) =>
        keyed == null ? [whole(seq, where)] : seqsOf(bytesOfKey, whole(seq, where), bytes(keyed, where)),
      );
      return seqs.length === 0 ? undefined : Math.min(...seqs);
    },
    findLast: async (kind, seq) => {
      const at = Math.min(seq, Number.MAX_SAFE_INTEGER - 1);
      const sql = tables.packs ? LAST_OF_KIND_PACKED : LAST_OF_KIND;
      const found = await rows(place, `look for a ${kind}`, sql, [id, kind, at]);
      const frames = found.flatMap((row) => unpackRow(frameRow(row, where, at), 0, at, where));
      return frames.filter((frame) => frame.kind === kind).sort((a, b) => b.seq - a.seq)[0];
    },
  };
}

function isWithin(row: FrameRow | undefined, seq: number): boolean {
  return row !== undefined && row.first <= seq && seq <= row.seq;
}

/** Rows as the tables have them; those of an older release may have been upgraded meanwhile, which must not look like damage. */
async function rows(
  { connections, tables, where }: WorldPlace,
  what: string,
  sql: string,
  parameters: readonly SqlParameter[],
): Promise<readonly Row[]> {
  const found = await connections.rows(what, sql, parameters);
  if (!tables.packs) await tables.requireSame(where);
  return found;
}

const OWNED_HEAD =
  'SELECT seq, head, epoch, (SELECT incarnation::text FROM reprise.cell) FROM reprise.world WHERE id = $1';

/** The head as the owner of a world reads it. @throws RepriseError `fenced` when another opening has taken the world over */
export async function ownedHead(place: OwnedPlace): Promise<Head> {
  const { connections, id, epoch, incarnation, where } = place;
  const row = one(await connections.rows('read the head', OWNED_HEAD, [id]));
  if (row === undefined || row[2] !== epoch || row[3] !== incarnation) throw fenced(where);
  return headOfRow(row, where);
}

async function headOf({ connections, id, where }: WorldPlace): Promise<Head> {
  const row = one(await connections.rows('read the head', 'SELECT seq, head FROM reprise.world WHERE id = $1', [id]));
  if (row === undefined) throw holeAt(0, where);
  return headOfRow(row, where);
}

function headOfRow([seq, head]: Row, where: string): Head {
  return { seq: whole(seq, where), digest: digest(head, where) };
}

function frameRow([seq, first, at, kind, head, stored, size]: Row, place: string, about: number): FrameRow {
  const where = `${place}, frame ${about}`;
  return {
    seq: whole(seq, where),
    first: whole(first, where),
    at: whole(at, where),
    kind: text(kind, where),
    head: digestBytes(head, where),
    bytes: bytes(stored, where),
    size: whole(size, where),
  };
}

function holeAt(seq: number, where: string): RepriseError {
  return new RepriseError('journal_damaged', 'a frame is missing', { where: `${where}, frame ${seq}` });
}
