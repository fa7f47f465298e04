/**
 * Lists the blobs of a file, those of a pack one after another, so that who reads them all inflates each pack once. A
 * share has whole packs, for the same reason, and rows of their own by digest.
 */
import type { BlobShare } from '@reprise/kernel';
import type { BlobPacks, Place } from './blob-packs.js';
import type { Connection, Row } from './driver.js';
import { nodeSha256 } from './hash.js';
import { standingSql } from './schema.js';
import { guarded } from './sqlite-errors.js';
import { bytes, digestSql, illegal, wholeSql } from './values.js';

const PAGE_ROWS = 1024;

/** The file whose blobs are listed, and which of them. */
interface Listed {
  readonly db: Connection;
  readonly packs: BlobPacks;
  /** For messages. */
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
  const places = listed.db.prepare(`SELECT count(*) FROM packed WHERE ${sharedSql(listed.share)}`);
  if (places.get()?.[0] !== found) yield* lostPlaces(listed, seen);
}

/** Whether a blob that is in no pack is in a share: by its digest. */
export function isInShare(hex: string, { part, of }: BlobShare): boolean {
  return of === 1 || Number.parseInt(hex.slice(0, 8), 16) % of === part;
}

/** For a query on `packed`: the condition that a place is in a share, also when its pack is not a number of ours. */
function sharedSql({ part, of }: BlobShare): string {
  return of === 1 ? 'TRUE' : `CASE WHEN typeof(pack) = 'integer' THEN abs(pack % ${of}) ELSE 0 END = ${part}`;
}

function* ownRows({ db, path }: Listed): Generator<string> {
  // Filtered here and not in SQL: in a file whose pages lead back to earlier ones, such a query might never end.
  const page = db.prepare(
    `SELECT ${digestSql('digest')}, ${standingSql(db)} FROM blob WHERE digest > ? ORDER BY digest LIMIT ${PAGE_ROWS}`,
  );
  for (const [hex, [, stands]] of inOrder(page, path)) if (stands === 1) yield hex;
}

/** For a query on `packed`: the condition that the blob has no row of its own, where it would be listed already. */
function packedOnlySql(db: Connection): string {
  return `NOT EXISTS (SELECT 1 FROM blob WHERE blob.digest = packed.digest AND ${standingSql(db)})`;
}

/** Blobs whose place in a pack is sound. */
function* packedBlobs({ db, packs, path, share }: Listed): Generator<string> {
  const placeOf = db.prepare(
    `SELECT ${wholeSql('pack')}, ${wholeSql('at')} FROM packed WHERE digest = ? AND ${packedOnlySql(db)}`,
  );
  const query = <T>(body: () => T): T => guarded('cannot list the packs', path, body);
  let last = 0;
  for (;;) {
    const pack = query(() => packs.after(last));
    if (pack === undefined) return;
    if (pack <= last) throw illegal(`${path}, the pack after ${last}`, 'packs in order');
    for (const at of pack % share.of === share.part ? startsOf(packs, pack) : []) {
      const digest = digestAt(packs, { pack, at });
      const place = digest && query(() => placeOf.get(digest));
      if (digest !== undefined && place?.[0] === pack && place[1] === at) yield hexOf(digest);
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
  const columns = `${digestSql('digest')}, ${wholeSql('pack')}, ${wholeSql('at')}, ${sharedSql(share)} AND ${packedOnlySql(db)}`;
  const page = db.prepare(`SELECT ${columns} FROM packed WHERE digest > ? ORDER BY digest LIMIT ${PAGE_ROWS}`);
  for (const [hex, [, pack, at, isOurs]] of inOrder(page, path)) {
    if (isOurs === 1 && !seen.has(hex) && !isSound(packs, hex, pack, at)) yield hex;
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
