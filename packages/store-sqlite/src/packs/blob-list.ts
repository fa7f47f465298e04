/**
 * Lists the blobs of a file, those of a pack one after another, so that who reads them all inflates each pack once. A
 * share is a range of digests: a blob stays in its share when a writer packs it meanwhile.
 */
import type { BlobShare } from '@reprise/kernel';
import type { Connection, Row } from '../database/driver.js';
import { nodeSha256 } from '../database/hash.js';
import { standingSql } from '../database/schema.js';
import { guarded } from '../database/sqlite-errors.js';
import { bytes, digestSql, illegal, wholeSql } from '../database/values.js';
import type { BlobPacks, Place } from './blob-packs.js';

const PAGE_ROWS = 1024;

/** The file whose blobs are listed, and which of them. */
interface Listed {
  readonly db: Connection;
  readonly packs: BlobPacks;
  /** The path of the world, for the words of errors. */
  readonly path: string;
  readonly share: BlobShare;
}

/** The digests of all blobs in rows and packs, each once, as hex digits. */
export function* listRows(listed: Listed): Generator<string> {
  const seen = new Set<string>();
  for (const hex of ownRows(listed)) {
    if (!isInShare(hex, listed.share)) continue;
    seen.add(hex);
    yield hex;
  }
  let found = 0;
  for (const hex of packedBlobs(listed)) {
    found++;
    if (!seen.has(hex)) yield hex; // a blob may have been packed meanwhile
  }
  if (found !== countPlaces(listed)) yield* lostPlaces(listed, seen);
}

/** The first two bytes of a digest are below this. */
const PREFIXES = 2 ** 16;

/** Whether a blob is in a share. */
export function isInShare(hex: string, { part, of }: BlobShare): boolean {
  return Math.floor((Number.parseInt(hex.slice(0, 4), 16) * of) / PREFIXES) === part;
}

/** The number of places in packs of a share. */
function countPlaces({ db, path, share: { part, of } }: Listed): unknown {
  const first = (share: number): string =>
    Math.ceil((share * PREFIXES) / of)
      .toString(16)
      .padStart(4, '0');
  const from = part === 0 ? 'TRUE' : `digest >= x'${first(part)}'`;
  const to = part === of - 1 ? 'TRUE' : `digest < x'${first(part + 1)}'`;
  const sql = `SELECT count(*) FROM packed WHERE ${from} AND ${to}`;
  return guarded('cannot list the packs', path, () => db.prepare(sql).get()?.[0]);
}

function* ownRows({ db, path }: Listed): Generator<string> {
  // Filtered here and not in SQL: in a file whose pages lead back to earlier ones, such a query might never end.
  const page = db.prepare(
    `SELECT ${digestSql('digest')}, ${standingSql(db)} FROM blob WHERE digest > ? ORDER BY digest LIMIT ${PAGE_ROWS}`,
  );
  for (const [hex, [, stands]] of inOrder(page, path)) if (stands === 1) yield hex;
}

/** Blobs whose place in a pack is sound. */
function* packedBlobs({ db, packs, path, share }: Listed): Generator<string> {
  const placeOf = db.prepare(`SELECT ${wholeSql('pack')}, ${wholeSql('at')} FROM packed WHERE digest = ?`);
  const query = <T>(body: () => T): T => guarded('cannot list the packs', path, body);
  let last = 0;
  for (;;) {
    const pack = query(() => packs.after(last));
    if (pack === undefined) return;
    if (pack <= last) throw illegal(`${path}, the pack after ${last}`, 'packs in order');
    for (const at of startsOf(packs, pack)) {
      const digest = digestAt(packs, { pack, at });
      const hex = digest && hexOf(digest);
      if (digest === undefined || hex === undefined || !isInShare(hex, share)) continue;
      const place = query(() => placeOf.get(digest));
      if (place?.[0] === pack && place[1] === at) yield hex;
    }
    last = pack;
  }
}

/** Nothing of a damaged pack; {@link lostPlaces} finds its blobs. */
function startsOf(packs: BlobPacks, pack: number): readonly number[] {
  try {
    return packs.starts(pack);
  } catch {
    return [];
  }
}

/** Blobs whose place in a pack is damaged: who reads one learns that. */
function* lostPlaces({ db, packs, path, share }: Listed, seen: ReadonlySet<string>): Generator<string> {
  const columns = `${digestSql('digest')}, ${wholeSql('pack')}, ${wholeSql('at')}`;
  const page = db.prepare(`SELECT ${columns} FROM packed WHERE digest > ? ORDER BY digest LIMIT ${PAGE_ROWS}`);
  for (const [hex, [, pack, at]] of inOrder(page, path)) {
    if (isInShare(hex, share) && !seen.has(hex) && !isSound(packs, hex, pack, at)) yield hex;
  }
}

function isSound(packs: BlobPacks, hex: string, pack: unknown, at: unknown): boolean {
  if (typeof pack !== 'number' || typeof at !== 'number') return false;
  const digest = digestAt(packs, { pack, at });
  return digest !== undefined && hexOf(digest) === hex;
}

/** Undefined when the pack is damaged, or was emptied by an erasure. */
function digestAt(packs: BlobPacks, place: Place): Uint8Array | undefined {
  try {
    return nodeSha256(packs.get(place));
  } catch {
    return undefined;
  }
}

/** The rows of a query that begins after a digest, page by page. */
function* inOrder(page: ReturnType<Connection['prepare']>, path: string): Generator<readonly [hex: string, row: Row]> {
  for (let last = '', size = PAGE_ROWS; size === PAGE_ROWS; ) {
    const where = `${path}, the blob after ${last}`;
    const rows = guarded('cannot list the blobs', where, () => page.all(Buffer.from(last, 'hex')));
    for (const row of rows) {
      const hex = hexOf(bytes(row[0], where));
      if (hex <= last) throw illegal(where, 'blobs in order');
      yield [hex, row];
      last = hex;
    }
    size = rows.length;
  }
}

function hexOf(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('hex');
}
