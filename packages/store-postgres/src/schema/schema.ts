/** The tables of a database, and how an older database gets them. */
import { RepriseError } from '@reprise/contracts';
import { one, whole } from '../connection/columns.js';
import type { Connections, Sql } from '../connection/driver.js';
import { STEPS_ADMISSION } from './admission-tables.js';

/** The number of the advisory lock that a migration holds, so that two processes do not migrate at once. */
const LOCK = 0x52505250; // "RPRP"

/**
 * The tables of version 1.
 *
 * - `host`: a row for each process that owns worlds. `closed` is final: a lease that was over never begins again.
 * - `world`: the head of each journal, and the lease of its owner, none after a clean close. Appends change only columns without an index, so that PostgreSQL
 *   rewrites the row in its page (`fillfactor`).
 * - `frame`: `key` is that of a request.
 * - `blob`: a small one holds its bytes; the bytes of a large one are in `part`, in pieces.
 */
const TABLES_1: readonly string[] = [
  'CREATE TABLE meta (one boolean PRIMARY KEY DEFAULT true CHECK (one), version int NOT NULL)',
  `CREATE TABLE host (
    id uuid PRIMARY KEY, process text NOT NULL, expires timestamptz NOT NULL,
    closed boolean NOT NULL DEFAULT false, died boolean NOT NULL DEFAULT false
  )`,
  `CREATE TABLE world (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name bytea NOT NULL UNIQUE,
    epoch bigint NOT NULL DEFAULT 0, owner uuid,
    seq bigint NOT NULL DEFAULT -1, head bytea NOT NULL DEFAULT '\\x${'00'.repeat(32)}',
    mark text, posted text, erased_through bigint NOT NULL DEFAULT -1
  ) WITH (fillfactor = 50)`,
  'CREATE INDEX world_owner ON world (owner) WHERE owner IS NOT NULL',
  `CREATE TABLE frame (
    world bigint NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, kind text NOT NULL, head bytea NOT NULL,
    key bytea, bytes bytea NOT NULL, PRIMARY KEY (world, seq)
  )`,
  'CREATE INDEX frame_kind ON frame (world, kind, seq)',
  'CREATE INDEX frame_key ON frame (world, key, seq) WHERE key IS NOT NULL',
  'CREATE TABLE blob (world bigint NOT NULL, digest bytea NOT NULL, bytes bytea, PRIMARY KEY (world, digest))',
  `CREATE TABLE part (
    world bigint NOT NULL, digest bytea NOT NULL, n int NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (world, digest, n)
  )`,
  'CREATE TABLE tombstone (world bigint NOT NULL, digest bytea NOT NULL, seq bigint NOT NULL, PRIMARY KEY (world, digest))',
  `CREATE TABLE directory (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name bytea NOT NULL UNIQUE, epoch bigint NOT NULL DEFAULT 0, owner uuid
  )`,
  `CREATE TABLE directory_row (
    directory bigint NOT NULL, world bytea NOT NULL, wake bigint, open boolean NOT NULL, PRIMARY KEY (directory, world)
  )`,
  'CREATE INDEX directory_due ON directory_row (directory, wake, world) WHERE NOT open AND wake IS NOT NULL',
  `CREATE TABLE view (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, place bytea NOT NULL, name text NOT NULL,
    seq bigint NOT NULL, head text NOT NULL, digest text NOT NULL, UNIQUE (place, name)
  )`,
  'CREATE TABLE view_entry (view bigint NOT NULL, key bytea NOT NULL, value bytea NOT NULL, PRIMARY KEY (view, key))',
];

/**
 * Version 2: a piece of a large blob is in the row, or it is an object that the row names.
 *
 * - `object_try`: an object that may be stored, and that no piece names yet.
 * - `object_gone`: an object that no piece names any more, and that is not removed yet.
 */
const STEPS_2: readonly string[] = [
  'ALTER TABLE reprise.part ALTER COLUMN bytes DROP NOT NULL, ADD COLUMN object text',
  `CREATE TABLE object_try (
    object text PRIMARY KEY, world bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp()
  )`,
  `CREATE TABLE object_gone (
    object text PRIMARY KEY, world bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp()
  )`,
];

/**
 * Version 3: a directory is shared by hosts. Each of its rows names the lease of the host that has claimed the world, and
 * the claim. The owner and the epoch of a directory are those of the versions before, which one host had at a time.
 */
const STEPS_3: readonly string[] = [
  'ALTER TABLE reprise.directory_row ADD COLUMN owner uuid, ADD COLUMN claim uuid',
  'CREATE INDEX directory_open ON directory_row (directory, owner) WHERE open',
];

/** Version 4: what an opening of a directory has reserved of a limit that hosts share; `until` once it was closed. */
const STEPS_4: readonly string[] = [
  `CREATE TABLE reservation (
    directory bigint NOT NULL, name text NOT NULL, opening uuid NOT NULL, host uuid NOT NULL,
    count bigint NOT NULL, counts_for bigint NOT NULL, until timestamptz, PRIMARY KEY (directory, name, opening)
  )`,
];

/** Version 5: how other processes reach the one that has a lease. */
const STEPS_5: readonly string[] = ['ALTER TABLE reprise.host ADD COLUMN address text'];

/** Version 6: an id of the database, which its processes sign with, and the wish that a process gives its worlds away. */
const STEPS_6: readonly string[] = [
  'ALTER TABLE reprise.meta ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid()',
  'ALTER TABLE reprise.host ADD COLUMN leaving boolean NOT NULL DEFAULT false',
];

/**
 * Version 7, with packs: older frames and small blobs lie together, deflated.
 *
 * - `world`: `packs` counts those that were ever made, and gives packs of blobs their numbers. `packed_through` is the last
 *   frame that no longer waits for packing. `packs_known_by` is the newest opening that knows packs: a process of a release
 *   before them, which still runs, takes a row without it, and the constraint then refuses to hand it a packed world.
 * - `pack`: frames one after another, as one row of `@reprise/packs`: the first `stored` bytes. Behind them are the keys of
 *   their requests (`packed-keys.ts`); `keys` are what the index has. The database stores a long value in chunks of
 *   1,996 bytes, four to a page: `bytes` are whole chunks, and `tail` is the rest, which stays in the row. Measured: 6 % less.
 * - `landmark`: the last frame of each kind in a pack.
 * - `blob`: one without bytes and with a `pack` begins at byte `at` of its plain bytes. One with both was put again.
 * - The constraints on numbers of frames and blobs refuse a pack that would not replace exactly the rows that it was made of.
 */
const STEPS_PACKS: readonly string[] = [
  `ALTER TABLE reprise.world ADD COLUMN packs bigint NOT NULL DEFAULT 0,
    ADD COLUMN packed_through bigint NOT NULL DEFAULT -1, ADD COLUMN packs_known_by bigint,
    ADD CONSTRAINT "a packed world needs a newer release of Reprise"
      CHECK (packs = 0 OR owner IS NULL OR packs_known_by IS NOT DISTINCT FROM epoch)`,
  `CREATE TABLE pack (
    world bigint NOT NULL, seq bigint NOT NULL, first bigint NOT NULL, at bigint NOT NULL, size int NOT NULL,
    stored int NOT NULL, frames int NOT NULL, kind text NOT NULL, head bytea NOT NULL, keys bigint[] NOT NULL,
    bytes bytea NOT NULL, tail bytea NOT NULL, PRIMARY KEY (world, seq), CHECK (frames = seq - first + 1)
  ) WITH (toast_tuple_target = 8160)`,
  'ALTER TABLE reprise.pack ALTER COLUMN keys SET STORAGE EXTERNAL, ALTER COLUMN bytes SET STORAGE EXTERNAL',
  'CREATE INDEX pack_keys ON reprise.pack USING gin (keys) WITH (fastupdate = off)',
  'CREATE TABLE landmark (world bigint NOT NULL, kind text NOT NULL, seq bigint NOT NULL, PRIMARY KEY (world, kind, seq))',
  'ALTER TABLE reprise.blob ADD COLUMN pack bigint, ADD COLUMN at int',
  `CREATE INDEX blob_plain ON blob (world) WHERE bytes IS NOT NULL AND length(bytes) <= ${64 * 1024}`,
  `CREATE TABLE blob_pack (
    world bigint NOT NULL, id bigint NOT NULL, size int NOT NULL, blobs int NOT NULL, moved int NOT NULL,
    bytes bytea NOT NULL, PRIMARY KEY (world, id), CHECK (moved = blobs)
  )`,
  'ALTER TABLE reprise.blob_pack ALTER COLUMN bytes SET STORAGE EXTERNAL',
];

/**
 * The version with readers elsewhere and posted calls.
 *
 * - `world`: `followed_until` is when its owner no longer hints at appends, unless a reader says again that it follows.
 * - `posted_call`: a call that waits for the owner of its world, and then its answer. `key` is the digest of the world, the
 *   principal and the request, `tries` counts what was begun and not taken back, `awaited` says that a caller waits for a hint.
 */
const STEPS_POSTS: readonly string[] = [
  'ALTER TABLE reprise.world ADD COLUMN followed_until timestamptz',
  `CREATE TABLE posted_call (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, directory bigint NOT NULL, key bytea NOT NULL, world bytea NOT NULL,
    principal text NOT NULL, request text NOT NULL, actor bytea, operation text NOT NULL, input bytea NOT NULL,
    made timestamptz NOT NULL DEFAULT clock_timestamp(), tries int NOT NULL DEFAULT 0,
    awaited boolean NOT NULL DEFAULT false, answer bytea, answered timestamptz, UNIQUE (directory, key)
  )`,
  'CREATE INDEX posted_call_waiting ON posted_call (directory, world, id) WHERE answered IS NULL',
  'CREATE INDEX posted_call_answered ON posted_call (directory, answered) WHERE answered IS NOT NULL',
];

/**
 * The version with sealed content: `seal` holds what is encrypted, so that no release before takes it for plain bytes.
 *
 * - `world`: `sealed` once an owner with keys has had it. `seals_known_by` is the newest opening that knows of seals, as
 *   `packs_known_by`: the constraint refuses the world to a release before, which would store plain content beside it and
 *   erase content without its key.
 * - `meta`: `keys_check` tells the keys of this database from others (`world/seals.ts`).
 * - `tombstone`: `times` counts the erasures of a digest, and names the key of what is stored under it after them.
 */
const STEPS_SEALS: readonly string[] = [
  'ALTER TABLE reprise.blob ADD COLUMN seal bytea',
  'ALTER TABLE reprise.blob ALTER COLUMN seal SET STORAGE EXTERNAL',
  'ALTER TABLE reprise.meta ADD COLUMN keys_check bytea',
  'ALTER TABLE reprise.tombstone ADD COLUMN times int NOT NULL DEFAULT 1',
  `ALTER TABLE reprise.world ADD COLUMN sealed boolean NOT NULL DEFAULT false, ADD COLUMN seals_known_by bigint,
    ADD CONSTRAINT "a sealed world needs a newer release of Reprise"
      CHECK (NOT sealed OR owner IS NULL OR seals_known_by IS NOT DISTINCT FROM epoch)`,
];

/** The version whose processes say which operations they know: when one that knows it was heard of for the last time. */
const STEPS_OPERATIONS: readonly string[] = [
  `CREATE TABLE posted_operation (
    directory bigint NOT NULL, operation text NOT NULL, known timestamptz NOT NULL, PRIMARY KEY (directory, operation)
  )`,
];

/** How the tables of each version are made of those before. */
const STEPS: readonly (readonly string[])[] = [
  ...[TABLES_1, STEPS_2, STEPS_3, STEPS_4, STEPS_5, STEPS_6, STEPS_PACKS],
  STEPS_ADMISSION,
  STEPS_POSTS,
  STEPS_SEALS,
  STEPS_OPERATIONS,
];

/** The first version whose pieces may be objects, and the first with packs. */
export const OBJECTS_SINCE = 2;
export const PACKS_SINCE = STEPS.indexOf(STEPS_PACKS) + 1;

/** The first version whose worlds say whether they are followed, and which has posted calls. */
export const POSTS_SINCE = STEPS.indexOf(STEPS_POSTS) + 1;

/** The first version whose content may be sealed. */
export const SEALS_SINCE = STEPS.indexOf(STEPS_SEALS) + 1;

/** The first version that says which operations processes know. */
export const OPERATIONS_SINCE = STEPS.indexOf(STEPS_OPERATIONS) + 1;

/** The first version in which a process can be asked to leave, and the first that knows its incarnation. */
export const LEAVING_SINCE = 6;
export const ADMISSION_SINCE = STEPS.indexOf(STEPS_ADMISSION) + 1;

/** Version of the tables that this release reads and writes. */
export const VERSION = STEPS.length;

/**
 * Makes the tables where they are missing, and adds what an older version lacks. A role without the right to make tables finds them ready.
 *
 * @throws RepriseError `store_failed` for tables of a newer release
 */
export async function prepareTables(connections: Connections): Promise<void> {
  if ((await versionOf(connections)) === VERSION) return;
  await connections.transaction('prepare the tables', async (sql) => {
    await sql.rows('prepare the tables', 'SELECT pg_advisory_xact_lock($1)', [LOCK]);
    const found = await versionOf(sql);
    if (found === VERSION) return;
    if (found > VERSION) throw newer(found, connections.label);
    await sql.rows('prepare the tables', 'CREATE SCHEMA IF NOT EXISTS reprise');
    for (const step of STEPS.slice(found).flat()) await sql.rows('prepare the tables', inSchema(step));
    const note =
      found === 0 ? 'INSERT INTO reprise.meta (version) VALUES ($1)' : 'UPDATE reprise.meta SET version = $1';
    await sql.rows('prepare the tables', note, [VERSION]);
  });
}

/**
 * Requires the tables, for a reader: it makes none.
 *
 * @param since the oldest version that will do; any when absent
 * @returns their version, which may be an older one
 * @throws RepriseError `world_absent` without tables, `store_failed` for tables of a newer release, or of one before `since`
 */
export async function requireTables(connections: Connections, since = 1): Promise<number> {
  const found = await versionOf(connections);
  if (found > VERSION || (found > 0 && found < since)) throw newer(found, connections.label);
  if (found > 0) return found;
  throw new RepriseError('world_absent', 'the database has no worlds', {
    where: connections.label,
    hint: 'Open a world for writing to create one. Is this the right database?',
  });
}

/**
 * Whether there are tables. It reads the catalog and not by `to_regclass`, which remembers in a connection that a schema was
 * missing: a process that has waited for another one to make it would make it again.
 */
const EXISTS = `SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'reprise' AND c.relname = 'meta')`;

/** The version of the tables; 0 without tables. */
export async function versionOf(sql: Sql): Promise<number> {
  const exists = one(await sql.rows('look for the tables', EXISTS));
  if (exists?.[0] !== true) return 0;
  return whole(one(await sql.rows('look for the tables', 'SELECT version FROM reprise.meta'))?.[0], 'reprise.meta');
}

function inSchema(statement: string): string {
  return statement.replace(/^CREATE TABLE /, 'CREATE TABLE reprise.').replace(/ ON (\w+) \(/, ' ON reprise.$1 (');
}

function newer(found: number, where: string): RepriseError {
  return new RepriseError('store_failed', 'the tables of this database are of another release of Reprise', {
    where,
    expected: `version ${VERSION}`,
    actual: `version ${found}`,
    hint: 'Use the release that made them, or a newer one.',
  });
}
