/**
 * Content that is sealed: encrypted with keys that lie outside of the database, so that destroying a key takes the content
 * of all copies of the tables, the log, the objects and the backups with it.
 *
 * The key of a content is named `DATABASE/INCARNATION/WORLD/DIGEST/TIMES`: the incarnation is that of the opening which has
 * stored it, and the last is the number of erasures of the digest before. A seal is a byte for its form, the number of
 * erasures, the incarnation, and then:
 * - form 1: the content, encrypted with its key;
 * - form 2: a data key, encrypted with the key; the data key encrypts the pieces, whose digest was not known before the last.
 *
 * Invariants
 * E1  A key encrypts one content, which its name has the digest of; so the nonce is made of the digest, and what is stored
 *     again has the same seal. A data key is random, and its pieces are numbered.
 * E2  The erasures of a world count each digest up in the transaction that removes its rows. The key that was current before
 *     is destroyed first, and never named again, by whatever is stored later. So an owner that destroys it late, after
 *     another one has finished the erasure, destroys nothing that is used. Nor does one of before a restore, where numbers
 *     come again: an erasure destroys the keys of its own incarnation and of those before, which are all that it knows.
 * E3  What is to be destroyed is looked up under a lock of the world's row, by its owner: an owner before learns no name of
 *     what was stored after it.
 * E4  Nothing is sealed while an erasure of the same opening runs: what is written has the key that is current then.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isRepriseError, lineOfError, RepriseError } from '@reprise/contracts';
import { KEY_BYTES, type KeyService } from '@reprise/kernel';
import { bytes, DIGEST_BYTES, digest, one, uuid, whole } from '../connection/columns.js';
import type { Connections, SqlValue } from '../connection/driver.js';
import { fenced } from '../tenure/take.js';
import { held } from './objects.js';
import type { OwnedPlace, WorldPlace } from './place.js';

/** Keys, and the database whose content they seal. */
export interface Sealing {
  readonly keys: KeyService;
  /** The id of the database. */
  readonly database: string;
}

/** Content as it becomes a row. */
export interface RowContent {
  readonly hex: string;
  /** The content itself, or its seal. */
  readonly bytes: Uint8Array;
  readonly isSealed: boolean;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const WHOLE = 1;
const IN_PIECES = 2;

/** The bytes of an incarnation, and of all that stands before the encrypted bytes. */
const INCARNATION_BYTES = 16;
const HEAD_BYTES = 5 + INCARNATION_BYTES;

/** Encrypted bytes, and behind them the tag that tells whether they were changed. */
function encrypted(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array): Uint8Array {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** The plain bytes; none when they were changed, or encrypted with another key. */
function decrypted(key: Uint8Array, nonce: Uint8Array, stored: Uint8Array): Uint8Array {
  if (stored.length < TAG_BYTES) return new Uint8Array();
  const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAuthTag(stored.subarray(stored.length - TAG_BYTES));
  const plain = cipher.update(stored.subarray(0, stored.length - TAG_BYTES));
  try {
    cipher.final();
  } catch {
    return new Uint8Array();
  }
  return new Uint8Array(plain);
}

function headOf(form: number, { times, incarnation }: Pick<KeyOf, 'times' | 'incarnation'>): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES, form);
  head.writeUInt32BE(times, 1);
  head.set(Buffer.from(incarnation.replaceAll('-', ''), 'hex'), 5);
  return head;
}

/** The incarnation of a seal, as the database writes it. */
function incarnationIn(stored: Buffer): string {
  const hex = stored.subarray(5, HEAD_BYTES).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

// E1
function nonceOf(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex').subarray(0, NONCE_BYTES);
}

function numbered(piece: number): Uint8Array {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(piece, NONCE_BYTES - 4);
  return nonce;
}

/** What the key of a content is named by, beside its database. */
interface KeyOf {
  readonly incarnation: string;
  readonly world: number;
  readonly hex: string;
  readonly times: number;
}

function nameOf({ database }: Sealing, { incarnation, world, hex, times }: KeyOf): string {
  return `${database}/${incarnation}/${world}/${hex}/${times}`;
}

/**
 * The keys of a database, after a look whether they are its own: with others, an erasure would destroy nothing. The first
 * process that has keys leaves a tag which only these keys make. A reader that comes before it has nothing to compare with.
 *
 * @param isOwner whether this process stores content, and so may be the first
 * @throws RepriseError `store_failed` for other keys
 */
export async function sealingOf(
  connections: Connections,
  { keys, database }: Sealing,
  isOwner: boolean,
): Promise<Sealing> {
  const what = 'compare the keys';
  const noted = async (): Promise<Uint8Array | undefined> => {
    const row = one(await connections.rows(what, 'SELECT keys_check FROM reprise.meta'));
    return row?.[0] == null ? undefined : bytes(row[0], 'reprise.meta');
  };
  let expected = await noted();
  if (expected === undefined && !isOwner) return { keys, database };
  const name = `${database}/check`;
  const isFirst = expected === undefined;
  const [key] = await asked(
    keys,
    what,
    (service): Promise<readonly unknown[]> => (isFirst ? service.keep([name]) : service.find([name])),
  );
  const tag =
    key === undefined ? undefined : encrypted(requireKey(key, keys), Buffer.alloc(NONCE_BYTES), new Uint8Array());
  if (isFirst && tag !== undefined) {
    await connections.rows(what, 'UPDATE reprise.meta SET keys_check = $1 WHERE keys_check IS NULL', [tag]);
    expected = await noted(); // another process may have been the first
  }
  if (tag !== undefined && expected !== undefined && Buffer.from(tag).equals(expected)) return { keys, database };
  throw new RepriseError('store_failed', 'content of this database is sealed with other keys', {
    where: connections.label,
    actual: `the keys of ${keys.label}`,
    hint: 'Name the keys that its first process had. If they are lost, so is the content that was sealed with them.',
  });
}

/** A random key for the pieces of one upload. */
export class PieceSeal {
  readonly key: Uint8Array = randomBytes(KEY_BYTES);

  sealed(piece: number, plain: Uint8Array): Uint8Array {
    return encrypted(this.key, numbered(piece), plain);
  }
}

interface Keyed {
  readonly hex: string;
  /** What is sealed: the content, or its data key. */
  readonly own: Uint8Array;
  readonly key: Uint8Array;
  readonly times: number;
}

/** Seals what one opening of a world stores, and destroys the keys of what it erases. */
export class Sealer {
  readonly #turns = new Turns();

  /** @param mayHaveErased whether there are tombstones: without any, nothing was erased and nobody has to look */
  constructor(
    private readonly sealing: Sealing,
    private mayHaveErased: boolean,
  ) {}

  /** Runs a write of sealed content. @param write gets content as it becomes rows */
  write<T>(
    place: OwnedPlace,
    plain: readonly (readonly [hex: string, bytes: Uint8Array])[],
    write: (rows: readonly RowContent[]) => Promise<T>,
  ): Promise<T> {
    return this.#turns.together(async () => {
      const keyed = await this.#keyed(place, plain);
      const { incarnation } = place;
      const rows = keyed.map(({ hex, own, key, times }) => {
        const seal = Buffer.concat([headOf(WHOLE, { times, incarnation }), encrypted(key, nonceOf(hex), own)]);
        return { hex, bytes: seal, isSealed: true };
      });
      return write(rows);
    });
  }

  /** Runs the write of the row of content in pieces. @param write gets the seal of the row */
  writePieces(
    place: OwnedPlace,
    hex: string,
    pieces: PieceSeal,
    write: (seal: Uint8Array) => Promise<void>,
  ): Promise<void> {
    return this.#turns.together(async () => {
      for (const { own, key, times } of await this.#keyed(place, [[hex, pieces.key]])) {
        const nonce = randomBytes(NONCE_BYTES); // other data keys are encrypted with the same key
        const head = headOf(IN_PIECES, { times, incarnation: place.incarnation });
        await write(Buffer.concat([head, nonce, encrypted(key, nonce, own)]));
      }
    });
  }

  /** What is to be sealed, with the keys of contents that are stored now. */
  async #keyed(
    place: OwnedPlace,
    all: readonly (readonly [hex: string, own: Uint8Array])[],
  ): Promise<readonly Keyed[]> {
    if (all.length === 0) return [];
    const hexes = all.map(([hex]) => hex);
    const times = this.mayHaveErased ? await timesErased(place, hexes) : new Map<string, number>();
    const names = this.#names(place, place.incarnation, hexes, times);
    const keys = await asked(this.sealing.keys, 'keep keys', (service) => service.keep(names));
    return all.map(([hex, own], i) => ({
      ...{ hex, own, times: times.get(hex) ?? 0 },
      key: requireKey(keys[i], this.sealing.keys),
    }));
  }

  #names(
    { id: world }: OwnedPlace,
    incarnation: string,
    hexes: readonly string[],
    times: ReadonlyMap<string, number>,
  ): readonly string[] {
    return hexes.map((hex) => nameOf(this.sealing, { incarnation, world, hex, times: times.get(hex) ?? 0 }));
  }

  /** Destroys the keys of contents, and runs what removes their rows and counts their erasure (E2). */
  erase<T>(place: OwnedPlace, hexes: readonly string[], remove: () => Promise<T>): Promise<T> {
    return this.#turns.alone(async () => {
      this.mayHaveErased = true;
      const times = await timesErased(place, hexes);
      // One after the other: a database that was admitted often has many.
      for (const incarnation of await incarnationsOf(place)) {
        const names = this.#names(place, incarnation, hexes, times);
        await asked(this.sealing.keys, 'destroy keys', (service) => service.destroy(names));
      }
      return remove();
    });
  }
}

/** The erasures of those digests that were erased (E3). @throws RepriseError `fenced` */
async function timesErased(place: OwnedPlace, hexes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { connections, id, epoch, where } = place;
  const rows = await connections.rows(
    'look for erasures',
    `WITH held AS MATERIALIZED (${held(place)})
     SELECT t.digest, t.times FROM held LEFT JOIN reprise.tombstone t ON t.world = held.id AND t.digest IN (
       SELECT substr($3::bytea, (i - 1) * ${DIGEST_BYTES} + 1, ${DIGEST_BYTES}) FROM generate_series(1, $4::int) AS i
     )`,
    [id, epoch, Buffer.from(hexes.join(''), 'hex'), hexes.length],
  );
  if (rows.length === 0) throw fenced(where);
  return new Map(
    rows.flatMap(([name, times]) => (name == null ? [] : [[digest(name, where), whole(times, where)] as const])),
  );
}

/** The incarnations of the database up to that of an opening: a row may be of any of them. */
async function incarnationsOf({ connections, incarnation, where }: OwnedPlace): Promise<readonly string[]> {
  const sql = `SELECT a.incarnation::text FROM reprise.admission a
    WHERE a.n <= (SELECT max(own.n) FROM reprise.admission own WHERE own.incarnation = $1)`;
  const rows = await connections.rows('look at the admissions', sql, [incarnation]);
  return [...new Set([incarnation, ...rows.map(([found]) => uuid(found, where))])];
}

/** What opens the pieces of a content, or the content itself. */
type Opened =
  | { readonly plain: Uint8Array }
  | { readonly piece: (n: number, stored: Uint8Array) => Uint8Array }
  | 'its key is destroyed';

/**
 * Opens a seal.
 *
 * @param seal of a row
 * @throws RepriseError `store_failed` where the keys are not named
 */
export async function openSeal(place: WorldPlace, hex: string, seal: SqlValue): Promise<Opened> {
  const { where, id } = place;
  const own = bytes(seal, where);
  const stored = Buffer.from(own.buffer, own.byteOffset, own.byteLength);
  const sealing = requireSealing(place);
  const times = stored.length < HEAD_BYTES ? 0 : stored.readUInt32BE(1);
  const name = nameOf(sealing, { incarnation: incarnationIn(stored), world: id, hex, times });
  const [key] = await asked(sealing.keys, 'read keys', (service) => service.find([name]));
  if (key === undefined) return 'its key is destroyed';
  const held = requireKey(key, sealing.keys);
  const body = stored.subarray(HEAD_BYTES);
  if (stored[0] !== IN_PIECES) return { plain: decrypted(held, nonceOf(hex), body) };
  const data = decrypted(held, body.subarray(0, NONCE_BYTES), body.subarray(NONCE_BYTES));
  return { piece: (n, piece) => (data.length === KEY_BYTES ? decrypted(data, numbered(n), piece) : data) };
}

/** The keys of a place whose content is sealed. @throws RepriseError `store_failed` without them */
export function requireSealing({ sealing, where }: Pick<WorldPlace, 'sealing' | 'where'>): Sealing {
  if (sealing !== undefined) return sealing;
  throw new RepriseError('store_failed', 'content is sealed with keys, which are not named here', {
    where,
    hint: 'Open the database with the option `keys`; for the command set REPRISE_KEYS.',
  });
}

/** An app's own service may fail in its own way. */
async function asked<T>(keys: KeyService, what: string, ask: (keys: KeyService) => Promise<T>): Promise<T> {
  try {
    return await ask(keys);
  } catch (error) {
    if (isRepriseError(error)) throw error;
    throw new RepriseError('store_failed', `cannot ${what}: ${lineOfError(error)}`, {
      ...{ where: keys.label, cause: error },
      hint: 'Content that is sealed needs its key service for every write and every read.',
    });
  }
}

function requireKey(key: unknown, keys: KeyService): Uint8Array {
  if (key instanceof Uint8Array && key.length === KEY_BYTES) return key;
  throw new RepriseError('store_failed', 'the key service gave something that is no key', {
    where: keys.label,
    expected: `${KEY_BYTES} bytes`,
    actual: key instanceof Uint8Array ? `${key.length} bytes` : typeof key,
  });
}

/** Many may do one thing together while nobody does the other, alone (E4). */
class Turns {
  #together = new Set<Promise<unknown>>();
  #alone: Promise<unknown> = Promise.resolve();

  async together<T>(work: () => Promise<T>): Promise<T> {
    for (let before: unknown; before !== this.#alone; ) {
      before = this.#alone;
      await this.#alone;
    }
    const running = work();
    const ended: Promise<unknown> = running.catch(() => undefined);
    this.#together.add(ended);
    return running.finally(() => this.#together.delete(ended));
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    const running = Promise.all([this.#alone, ...this.#together]).then(work);
    this.#alone = running.catch(() => undefined);
    return running;
  }
}
