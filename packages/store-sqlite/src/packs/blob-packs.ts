/**
 * Packs of blobs: together they deflate several times better than each alone. A pack is a row of `pack`; its plain bytes
 * are, for each blob, its length (u32, big-endian) and its bytes. `packed` says in which pack and where a blob begins.
 *
 * Invariants
 * B1  A blob has a row of its own, or a place in a pack. It is moved in one transaction, and looked for in one query.
 * B2  A pack is never deleted, and changed only once: an erasure moves its other blobs out and fills it with zeros.
 * B3  The rows of their own are deleted all at once: SQLite then frees whole pages, and `secure_delete` fills those with
 *     zeros. Deleting single rows would leave copies of others (erasure/E1).
 */
import {
  blobAt,
  blobStarts,
  deflated,
  inflated,
  joinBlobs,
  KeptPacks,
  LENGTH_BYTES,
  PACK_BYTES_MAX,
} from '@reprise/packs';
import type { Connection, Row } from '../database/driver.js';
import { nodeSha256 } from '../database/hash.js';
import { standingSql } from '../database/schema.js';
import { bytes, bytesSql, digestSql, illegal, whole, wholeSql } from '../database/values.js';

/** The packs that all stores of the process keep. */
const kept = new KeptPacks();

let readers = 0;

/** The largest blob that has a row of its own, and with others one in a pack. */
export const INLINE_BYTES_MAX = 64 * 1024;

const PAGE_ROWS = 1024;

type Statement = ReturnType<Connection['prepare']>;

/** The pack of a blob, and the offset of its first byte. */
export interface Place {
  readonly pack: number;
  readonly at: number;
}

/** The packs, for reading. Each method throws an error of any kind when a pack is damaged. */
export class BlobPacks {
  readonly #pack: Statement;
  readonly #next: Statement;
  /** The beginning of the names of its packs among those that are kept. */
  readonly #name = `${readers++} `;

  constructor(
    db: Connection,
    private readonly path: string,
  ) {
    const columns = `${wholeSql('id')}, ${bytesSql('bytes', PACK_BYTES_MAX)}, ${wholeSql('size')}`;
    this.#pack = db.prepare(`SELECT ${columns} FROM pack WHERE id = ?`);
    this.#next = db.prepare(`SELECT ${wholeSql('id')} FROM pack WHERE id > ? ORDER BY id LIMIT 1`);
  }

  /** A copy of the blob at a place. */
  get({ pack, at }: Place): Uint8Array {
    return new Uint8Array(blobAt(this.#plain(pack), at));
  }

  /** Where each blob of a pack begins. */
  starts(pack: number): readonly number[] {
    return blobStarts(this.#plain(pack));
  }

  /** The number of the first pack after another; undefined after the last. */
  after(pack: number): number | undefined {
    const row = this.#next.get(pack);
    return row && whole(row[0], `${this.path}, the pack after ${pack}`);
  }

  /** Forgets the packs that it keeps, after an erasure. */
  forget(): void {
    kept.forget(this.#name);
  }

  #plain(pack: number): Uint8Array {
    const name = `${this.#name}${pack}`;
    const found = kept.get(name);
    if (found !== undefined) return found;
    const plain = this.#read(this.#pack.get(pack), pack);
    kept.keep(name, plain);
    return plain;
  }

  #read(row: Row | undefined, pack: number): Uint8Array {
    const where = `${this.path}, pack ${pack}`;
    if (row !== undefined && row[0] !== pack) throw illegal(where, 'the pack that was asked for');
    return inflated({ bytes: bytes(row?.[1], where), size: whole(row?.[2], where) });
  }
}

/** Moves blobs into packs and out of them; everything within the caller's transaction. */
export class BlobPacker {
  readonly #packs: BlobPacks;
  readonly #sql: Readonly<Record<keyof ReturnType<typeof statements>, Statement>>;

  constructor(db: Connection, packs: BlobPacks) {
    this.#packs = packs;
    this.#sql = statements(db);
  }

  /** The bytes that wait in rows of their own. */
  waiting(): number {
    const total = this.#sql.total.get()?.[0];
    return typeof total === 'number' ? total : 0;
  }

  /** Moves all blobs with rows of their own into packs, unless a row is not what Reprise writes. */
  pack(): void {
    if (this.#sql.foreign.get() !== undefined) return;
    for (const [first, last] of this.#runs()) this.#add(this.#sql.blobs.all(first, last));
    this.#sql.emptied.run();
    this.#sql.clear.run(); // B3
  }

  /** The rows of each pack, as the first and the last row number; the packs are about equally large. */
  #runs(): (readonly [first: number, last: number])[] {
    const packs = Math.ceil(this.waiting() / PACK_BYTES_MAX);
    const wanted = this.waiting() / packs;
    const runs: [number, number][] = [];
    let size = 0;
    for (let after = 0, count = PAGE_ROWS; count === PAGE_ROWS; ) {
      const page = this.#sql.outlines.all(after);
      for (const [row, length] of page as readonly (readonly [number, number])[]) {
        const run = runs.at(-1);
        const cost = length + LENGTH_BYTES;
        if (run === undefined || size >= wanted || size + cost > PACK_BYTES_MAX) {
          runs.push([row, row]);
          size = 0;
        } else run[1] = row;
        size += cost;
        after = row;
      }
      count = page.length;
    }
    return runs;
  }

  #add(rows: readonly Row[]): void {
    const pack = 1 + whole(this.#sql.newest.get()?.[0] ?? 0, 'the last pack');
    const found = rows.map((row) => row.map((value) => bytes(value, 'a blob')) as [Uint8Array, Uint8Array]);
    const { plain, starts } = joinBlobs(found.map(([, blob]) => blob));
    for (const [i, [digest]] of found.entries()) this.#sql.addPlace.run(digest, pack, starts[i] as number);
    const stored = deflated(plain);
    this.#sql.addPack.run(pack, stored.size, stored.bytes);
  }

  /** Whether a pack holds a blob, and its bytes are these. */
  holds(digest: Uint8Array, blob: Uint8Array): boolean {
    const place = this.#placeOf(digest);
    if (place === undefined) return false;
    try {
      return Buffer.compare(this.#packs.get(place), blob) === 0;
    } catch {
      return false; // damaged
    }
  }

  /** Takes blobs out of their packs, so that nothing of these packs remains; their other blobs get rows of their own. */
  erase(digests: readonly Uint8Array[]): void {
    const packs = new Set<number>();
    for (const digest of digests) {
      const place = this.#placeOf(digest);
      if (place === undefined) continue;
      packs.add(place.pack);
      this.#sql.dropPlace.run(digest);
    }
    for (const pack of packs) {
      for (const at of this.#startsOf(pack)) {
        const blob = this.#packs.get({ pack, at });
        const digest = nodeSha256(blob);
        const place = this.#placeOf(digest);
        if (place?.pack !== pack || place.at !== at) continue;
        this.#sql.addBlob.run(digest, blob);
        this.#sql.dropPlace.run(digest);
      }
      this.#sql.hollow.run(pack);
    }
    this.#packs.forget();
  }

  /** Nothing of a damaged pack, which is then lost as it was before. */
  #startsOf(pack: number): readonly number[] {
    try {
      return this.#packs.starts(pack);
    } catch {
      return [];
    }
  }

  #placeOf(digest: Uint8Array): Place | undefined {
    const [pack, at] = this.#sql.place.get(digest) ?? [];
    return typeof pack === 'number' && typeof at === 'number' ? { pack, at } : undefined;
  }
}

function statements(db: Connection) {
  const stands = standingSql(db);
  return {
    total: db.prepare(`SELECT sum(length(bytes) + ${LENGTH_BYTES}) FROM blob WHERE ${stands}`),
    outlines: db.prepare(
      `SELECT rowid, length(bytes) FROM blob WHERE rowid > ? AND ${stands} ORDER BY rowid LIMIT ${PAGE_ROWS}`,
    ),
    blobs: db.prepare(
      `SELECT ${digestSql('digest')}, ${bytesSql('bytes', INLINE_BYTES_MAX)} FROM blob
       WHERE rowid >= ? AND rowid <= ? AND ${stands} ORDER BY rowid`,
    ),
    foreign: db.prepare(
      `SELECT 1 FROM blob WHERE rowid < 1 OR ${digestSql('digest')} IS NULL OR ${bytesSql('bytes', INLINE_BYTES_MAX)} IS NULL LIMIT 1`,
    ),
    newest: db.prepare(`SELECT ${wholeSql('id')} FROM pack ORDER BY id DESC LIMIT 1`),
    addPack: db.prepare('INSERT INTO pack (id, size, bytes) VALUES (?, ?, ?)'),
    addPlace: db.prepare('INSERT OR REPLACE INTO packed (digest, pack, at) VALUES (?, ?, ?)'),
    emptied: db.prepare('UPDATE erased SET hollow = 0 WHERE hollow = 1 AND digest IN (SELECT digest FROM blob)'),
    clear: db.prepare('DELETE FROM blob'),
    place: db.prepare(`SELECT ${wholeSql('pack')}, ${wholeSql('at')} FROM packed WHERE digest = ?`),
    dropPlace: db.prepare('DELETE FROM packed WHERE digest = ?'),
    addBlob: db.prepare('INSERT INTO blob (digest, bytes) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING'),
    hollow: db.prepare('UPDATE pack SET bytes = zeroblob(length(bytes)) WHERE id = ?'),
  };
}
