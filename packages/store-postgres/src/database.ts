/** A PostgreSQL database in which worlds live: what they share in this process. */
import {
  aFlag,
  aFunction,
  fieldsOf,
  isFunction,
  type KnownOptions,
  present,
  RepriseError,
  requireArgument,
  requireKnownOptions,
  wellFormed,
  wholeFrom,
} from '@reprise/contracts';
import type { KeyService, ObjectStore, Store } from '@reprise/kernel';
import type { HostDirectory } from '@reprise/kernel/host';
import type { ViewStore } from '@reprise/kernel/views';
import { KeptPacks, PACK_BYTES_MAX } from '@reprise/packs';
import { ADMIT_OPTIONS, type AdmitOptions, type AdmitReport, admitDatabase } from './admit.js';
import { one, text } from './connection/columns.js';
import { type Connections, connect, labelOf, listen } from './connection/driver.js';
import { HINT_CHANNEL, Hints } from './connection/hints.js';
import { type DirectoryParts, postgresDirectory } from './directory.js';
import { askToLeave, type FleetRows, fleetRows } from './fleet-rows.js';
import { DatabasePosts, type PostedCalls } from './posts/posted-calls.js';
import {
  ADMISSION_SINCE,
  LEAVING_SINCE,
  OBJECTS_SINCE,
  OPERATIONS_SINCE,
  PACKS_SINCE,
  POSTS_SINCE,
  prepareTables,
  requireTables,
  SEALS_SINCE,
  VERSION,
  versionOf,
} from './schema/schema.js';
import { Hosts } from './tenure/hosts.js';
import { directoryRow, givingBack } from './tenure/take.js';
import { postgresViews } from './views.js';
import { WITNESS_PLACE, type WitnessPlace } from './witness/place.js';
import { Witness } from './witness/witness.js';
import { Committer } from './world/committer.js';
import { Followers, framesTopic } from './world/followers.js';
import { journalReader } from './world/journal.js';
import { Sweeper, type SweepReport, sweepObjects } from './world/objects.js';
import { Packer } from './world/packer.js';
import type { Tables } from './world/place.js';
import { type Sealing, sealingOf } from './world/seals.js';
import { type Reading, type Shared, worldStore } from './world/store.js';

/** Options of the connection to a database. */
export interface PostgresOptions {
  /**
   * How long this process owns its worlds without being heard of, in milliseconds; 10,000 when absent. After that another
   * process may take them over, so it is also the longest pause after a machine has failed.
   */
  readonly ttl?: number;
  /** The most connections of this process; 8 when absent. One of them is for its lease alone. */
  readonly connectionsMax?: number;
  /**
   * How other processes reach this one, such as `http://10.0.0.7:8080`: 1 to 256 bytes. A process that is refused a
   * world of this one finds it in the error: `details.by.address` of `world_locked`.
   */
  readonly address?: string;
  /** Whether a pooler in transaction mode, such as pgbouncer, stands before the server; false when absent. */
  readonly pooled?: boolean;
  /**
   * The address of the server itself, where `url` is that of a pooler: from there this process hears at once that a world
   * which it follows has more. `url` when absent; with `pooled` and without it, a reader looks again and again instead.
   */
  readonly direct?: string;
  /**
   * Where content of more than 64 KiB is stored, in place of the database: `s3` of `reprise/s3`. A process that opens the
   * database later needs it as well; content that is in the database already stays there.
   */
  readonly objects?: ObjectStore;
  /**
   * Keys that content is encrypted with, from then on, in rows and objects: `fileKeys` or a service of your own. An
   * erasure destroys the keys of what it names, and with them the content of all copies and backups of the database. A
   * world that was opened with keys once needs them ever after.
   */
  readonly keys?: KeyService;
  /**
   * Where the heads of what this process has acknowledged go, once a second: a bucket (`s3` of `reprise/s3`) of another
   * account, or `witnessFolder`. Worlds that a restore has taken back behind them do not open. Give it to every process.
   */
  readonly witness?: WitnessPlace;
  /** Called when heads do not reach the witness, once until they do again: what is acknowledged meanwhile is not witnessed. */
  readonly onWitnessError?: (error: unknown) => void;
  /** Called once when {@link PostgresDatabase.drain} has named this process: it should close its host and end. */
  readonly onDrain?: () => void;
}

/** When a sweep takes an upload for abandoned. */
export interface SweepOptions {
  /**
   * How long storing a piece of content may take, in milliseconds; a day when absent. What an upload that was begun before
   * has stored is given up.
   */
  readonly orphansAfter?: number;
}

const OPTIONS: KnownOptions<PostgresOptions> = {
  ttl: wholeFrom(100),
  connectionsMax: wholeFrom(3),
  address: {
    expected: 'well-formed text of 1 to 256 bytes',
    fits: isName,
  },
  pooled: aFlag,
  direct: true,
  onDrain: aFunction,
  onWitnessError: aFunction,
  witness: WITNESS_PLACE,
  objects: {
    expected: 'an object store, as s3() of reprise/s3 makes',
    fits: (thing) => ['put', 'get', 'remove'].every((name) => isFunction(fieldsOf(thing)[name])),
  },
  keys: {
    expected: 'a key service, as fileKeys() of reprise/postgres makes',
    fits: (thing) => ['keep', 'find', 'destroy'].every((name) => isFunction(fieldsOf(thing)[name])),
  },
};

const SWEEP_OPTIONS: KnownOptions<SweepOptions> = { orphansAfter: wholeFrom(0) };

/** The bytes of a name, which stands in an index. */
const NAME_BYTES_MAX = 256;

/** The id that all copies of a database have. */
const DATABASE_ID = 'SELECT id::text FROM reprise.meta';

/** How long a statement may take that makes tables, or waits for another process that does. */
const TABLES_MS = 60_000;

const TTL_MS = 10_000;
const SWEEP_EVERY_MS = 600_000;
const ORPHANS_AFTER_MS = 86_400_000;
const CONNECTIONS_MAX = 8;

/** The worlds of a database, and what hosts of many worlds keep beside them. */
export interface PostgresDatabase extends AsyncDisposable {
  /** The database as shown to people, without its password. */
  readonly label: string;
  /**
   * A world: its journal and its content.
   *
   * @param name any text of 1 to 256 bytes
   * @throws RepriseError `invalid_argument`
   */
  world(name: string): Store;
  /** The directory of hosts of many worlds, which may have it open at the same time. @param name `default` when absent @throws RepriseError `invalid_argument` */
  directory(name?: string): HostDirectory;
  /** The views of a world. @param world its name @throws RepriseError `invalid_argument` */
  views(world: string): ViewStore;
  /**
   * Removes objects that no content needs any more: of content that was erased or replaced, and of uploads that did not come
   * to their end. A process with `objects` does so every ten minutes by itself.
   *
   * @throws RepriseError `invalid_argument` without `objects`, `store_failed`
   */
  sweep(options?: SweepOptions): Promise<SweepReport>;
  /** The random id of the database, the same for all its processes and copies. @throws RepriseError `store_failed` */
  id(): Promise<string>;
  /** The processes that have worlds here, and what waits in each directory. Makes no tables. @throws RepriseError `world_absent`, `store_failed` */
  fleet(): Promise<FleetRows>;
  /**
   * Asks a process to give its worlds away. It sees the wish when it extends its lease the next time, within a quarter of
   * its `ttl`, and calls its `onDrain`.
   *
   * @param host its id, from {@link PostgresDatabase.fleet}
   * @returns whether a process with this id lives
   * @throws RepriseError `invalid_argument`, `store_failed`
   */
  drain(host: string): Promise<boolean>;
  /**
   * Admits a database that was restored or promoted: compares it with the witness, names the worlds that lack acknowledged
   * frames, and begins a new incarnation, in which all other worlds open. An admitted database that lacks nothing stays as it
   * is. Its statements may take half of `ttl`; many worlds need a longer one.
   *
   * @throws RepriseError `invalid_argument`, `world_absent`, `store_failed`
   */
  admit(options?: AdmitOptions): Promise<AdmitReport>;
  /** Gives up what this process owns here, and ends its connections. Close the worlds first. Idempotent. */
  close(): Promise<void>;
}

/**
 * A PostgreSQL database (15 is tested) that holds any number of worlds. Its tables are made on first use, in the schema
 * `reprise`. A world is owned by one process at a time, by a lease and a fence: when the process stops for longer than
 * the lease, another one takes the world over, and everything that the first one still writes is refused with `fenced`.
 * Needs the package `pg` beside this one.
 *
 * @param url the address of the database: `postgres://user:password@host:5432/name`
 * @throws RepriseError `invalid_argument`
 * @example
 * await using database = postgres('postgres://localhost/agents');
 * await using world = await openWorld({ store: database.world('home'), app });
 */
export function postgres(url: string, options: PostgresOptions = {}): PostgresDatabase {
  return postgresWithPacks(PACK_BYTES_MAX, url, options);
}

/** {@link postgres} with packs of another size. @param packBytes the plain bytes of a pack; 0 to pack nothing */
export function postgresWithPacks(packBytes: number, url: string, options: PostgresOptions = {}): PostgresDatabase {
  requireUrl(url, 'postgres(url)');
  requireKnownOptions(options, OPTIONS, 'postgres');
  if (options.direct !== undefined) requireUrl(options.direct, 'postgres, direct');
  return new Database(url, options, packBytes);
}

/**
 * The posted calls of a directory of a database.
 *
 * @param database as {@link postgres} makes it
 * @param directory the name of the directory
 * @param operations the names of those that this process knows
 * @throws RepriseError `store_failed`
 */
export async function postedCallsOf(
  database: PostgresDatabase,
  directory: string,
  operations: readonly string[],
): Promise<PostedCalls> {
  requireArgument(database instanceof Database, 'postedCallsOf(database)', 'a database that postgres() made', database);
  return database.posts(directory, operations);
}

function tablesOf(version: number, connections: Connections): Tables {
  return {
    objects: version >= OBJECTS_SINCE,
    packs: version >= PACKS_SINCE,
    seals: version >= SEALS_SINCE,
    requireSame: async (where) => {
      if ((await versionOf(connections)) === version) return;
      throw new RepriseError('store_failed', 'the tables were upgraded after this reader was opened', {
        where,
        hint: 'Open the world again: it may have what this reader knows nothing of.',
      });
    },
  };
}

/** What this process has in a database: its connections, of which one is for its lease alone. */
interface SharedInProcess extends Shared, DirectoryParts {
  readonly forLease: Connections;
  readonly sweeper: Sweeper | undefined;
  readonly witness?: Witness;
}

/** What this process hears of a database, and tells. */
interface Told {
  readonly hints: Hints;
  readonly followers: Followers;
}

class Database implements PostgresDatabase {
  readonly label: string;
  #connections: Promise<Connections> | undefined;
  #told: Told | undefined;
  #shared: Promise<SharedInProcess> | undefined;
  readonly #kept = new KeptPacks();
  #closed = false;

  /** It has the password, which no log of this object may show. */
  readonly #url: string;
  readonly #options: PostgresOptions;
  readonly #packBytes: number;

  constructor(url: string, options: PostgresOptions, packBytes: number) {
    this.label = labelOf(url);
    this.#url = url;
    this.#options = options;
    this.#packBytes = packBytes;
  }

  world(name: string): Store {
    requireName(name, 'name');
    const entrances = { shared: () => this.#open(), reading: () => this.#openForReading() };
    return worldStore(entrances, this.label, name);
  }

  directory(name = 'default'): HostDirectory {
    requireName(name, 'name');
    return postgresDirectory(() => this.#open(), this.label, name);
  }

  views(world: string): ViewStore {
    requireName(world, 'world');
    return postgresViews(async () => (await this.#open()).connections, this.label, world);
  }

  async sweep(options: SweepOptions = {}): Promise<SweepReport> {
    requireKnownOptions(options, SWEEP_OPTIONS, 'database.sweep');
    const { objects } = this.#options;
    if (objects === undefined)
      throw new RepriseError('invalid_argument', 'a database without objects has nothing to sweep', {
        where: 'database.sweep',
        hint: 'Open the database with the option `objects`.',
      });
    const { connections } = await this.#open();
    const { orphansAfter = ORPHANS_AFTER_MS } = options;
    return sweepObjects(connections, objects, { orphansAfter, isOver: () => this.#closed });
  }

  async id(): Promise<string> {
    const { connections } = await this.#open();
    return idOf(connections);
  }

  async fleet(): Promise<FleetRows> {
    // Its tables are those of a release that it works with, also after a newer one has added some.
    const connections = this.#shared === undefined ? await this.#tables() : (await this.#shared).connections;
    return fleetRows(connections, this.label, (await versionOf(connections)) >= OPERATIONS_SINCE);
  }

  async drain(host: string): Promise<boolean> {
    requireArgument(isUuid(host), 'database.drain(host)', 'the id of a host, as fleet() lists it', host);
    return askToLeave(await this.#tables(), host);
  }

  async admit(options: AdmitOptions = {}): Promise<AdmitReport> {
    requireKnownOptions(options, ADMIT_OPTIONS, 'database.admit');
    const connections = await this.#tables(ADMISSION_SINCE);
    const database = await idOf(connections);
    const tables = tablesOf(await versionOf(connections), connections);
    const { objects } = this.#options;
    const reading = { connections, tables, objects, sealing: undefined, kept: this.#kept, where: this.label };
    const journal = (id: number) => journalReader({ ...reading, id });
    return admitDatabase({ connections, database, hasSeals: tables.seals, journal }, options);
  }

  /** Opened by {@link postedCallsOf}, since no program has it. */
  async posts(name: string, operations: readonly string[]): Promise<PostedCalls> {
    const { connections } = await this.#open();
    const { id: directory } = await directoryRow(connections, name);
    const { hints } = this.#tell(connections);
    const { address = '' } = this.#options;
    return new DatabasePosts({ connections, hints, directory, address, operations: [...operations].sort() });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const shared = await this.#shared?.catch(() => undefined);
    await shared?.witness?.close();
    shared?.sweeper?.stop();
    await this.#told?.hints.close();
    await shared?.hosts.giveUp().catch(() => undefined); // the lease ends by itself
    await (await this.#connections?.catch(() => undefined))?.end();
    await shared?.forLease.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #open(): Promise<SharedInProcess> {
    const connections = await this.#connect();
    this.#shared ??= this.#prepare(connections).catch((error: unknown) => {
      this.#shared = undefined; // the next call tries again
      throw error;
    });
    return this.#shared;
  }

  async #openForReading(): Promise<Reading> {
    const connections = await this.#connect();
    const { objects } = this.#options;
    const { followers } = this.#tell(connections);
    const reading = { connections, objects, kept: this.#kept };
    if (this.#shared !== undefined) {
      const { tables, sealing } = await this.#shared;
      return { ...reading, tables, sealing, followers };
    }
    const version = await requireTables(connections);
    const tables = tablesOf(version, connections);
    const sealing = tables.seals ? await this.#sealing(connections, false) : undefined;
    return { ...reading, tables, sealing, ...(version < POSTS_SINCE ? {} : { followers }) };
  }

  async #sealing(connections: Connections, isOwner: boolean): Promise<Sealing | undefined> {
    const { keys } = this.#options;
    return keys && sealingOf(connections, { keys, database: await idOf(connections) }, isOwner);
  }

  #tell(connections: Connections): Told {
    const { pooled = false, direct = pooled ? undefined : this.#url } = this.#options;
    if (this.#told !== undefined) return this.#told;
    const how = { channel: HINT_CHANNEL, statementMs: statementMs(this.#options.ttl ?? TTL_MS) };
    const hints = new Hints(
      connections,
      direct === undefined ? undefined : (heard, lost) => listen({ ...how, url: direct, heard, lost }),
    );
    this.#told = { hints, followers: new Followers(connections, hints) };
    return this.#told;
  }

  /** For an operator, who has no lease. */
  async #tables(since = LEAVING_SINCE): Promise<Connections> {
    const connections = await this.#connect();
    await requireTables(connections, since);
    return connections;
  }

  /** Processes that start together wait for the one that makes the tables, and that has nothing to do with a lease. */
  async #makeTables(): Promise<void> {
    const patient = await connect({ ...this.#how(1), statementMs: TABLES_MS });
    try {
      await prepareTables(patient);
    } finally {
      await patient.end();
    }
  }

  async #prepare(connections: Connections): Promise<SharedInProcess> {
    // Also where this is not answered: another process may be changing the table that says it.
    if ((await versionOf(connections).catch(() => undefined)) !== VERSION) await this.#makeTables();
    // A lease that waits behind the statements of many worlds would be lost just when there is much to do.
    const forLease = await connect({ ...this.#how(1), statementMs: statementMs(this.#options.ttl ?? TTL_MS) / 2 });
    const hosts = new Hosts(forLease, this.#options.ttl ?? TTL_MS, this.#options.address, this.#options.onDrain);
    const { objects } = this.#options;
    const sweeper = objects && new Sweeper(connections, objects, SWEEP_EVERY_MS, ORPHANS_AFTER_MS);
    const { hints } = this.#tell(connections);
    const committer = new Committer(connections, (world) => hints.send(framesTopic(world)));
    const own = { open: new Set<string>(), claims: new Map<string, string>(), kept: this.#kept };
    const giving = givingBack(connections);
    const tables = tablesOf(VERSION, connections);
    const packer = new Packer(this.#packBytes);
    const sealing = await this.#sealing(connections, true);
    const witness = await this.#witness(connections, hosts);
    return {
      ...own,
      ...present({ witness }),
      ...{ sealing, hasKeys: sealing !== undefined },
      connections,
      hosts,
      forLease,
      sweeper,
      objects,
      giving,
      committer,
      tables,
      packer,
    };
  }

  async #witness(connections: Connections, hosts: Hosts): Promise<Witness | undefined> {
    const { witness: place, onWitnessError = () => undefined } = this.#options;
    if (place === undefined) return undefined;
    const database = await idOf(connections);
    const onError = (error: unknown): void => {
      try {
        onWitnessError(error);
      } catch {
        // what is told of errors must not end the process
      }
    };
    return new Witness({ place, connections, hosts, database, onError });
  }

  async #connect(): Promise<Connections> {
    if (this.#closed) throw new RepriseError('world_closed', 'the database was closed', { where: this.label });
    const { connectionsMax = CONNECTIONS_MAX } = this.#options;
    this.#connections ??= connect(this.#how(connectionsMax - 1)).catch((error: unknown) => {
      this.#connections = undefined; // the next call tries again
      throw error;
    });
    return this.#connections;
  }

  #how(connectionsMax: number): Parameters<typeof connect>[0] {
    const { ttl = TTL_MS, pooled = false } = this.#options;
    return { url: this.#url, connectionsMax, statementMs: statementMs(ttl), pooled };
  }
}

/** The id of a database, which its copies have as well. */
async function idOf(connections: Connections): Promise<string> {
  const row = one(await connections.rows('read the id', DATABASE_ID));
  return text(row?.[0], connections.label);
}

/** A statement that hangs must fail before the lease is over: then its world is still this process's own. */
function statementMs(ttl: number): number {
  return Math.max(50, Math.floor(ttl / 2));
}

/**
 * An address whose password, if it has one, can be told apart from what follows: a `/`, `?`, `#` or `@` in it is encoded.
 * Otherwise a part of it would stand in what is shown.
 */
const ADDRESS = /^postgres(?:ql)?:\/\/(?:[^/?#@]*@)?[^/?#@:]*(?::\d+)?(?:[/?#][^@]*)?$/;

function requireUrl(url: unknown, where: string): asserts url is string {
  if (typeof url === 'string' && ADDRESS.test(url) && URL.canParse(url)) return;
  throw new RepriseError('invalid_argument', 'a database needs its address', {
    where,
    expected: 'text such as postgres://localhost/agents, where / ? # @ of a password are encoded',
    actual: typeof url === 'string' && url !== '' ? 'another text' : typeof url, // it may hold a password
    hint: 'Is the environment variable set in this process?',
  });
}

function requireName(name: unknown, where: string): asserts name is string {
  if (isName(name)) return;
  throw new RepriseError('invalid_argument', 'invalid name in a database', {
    where,
    expected: 'well-formed text of 1 to 256 bytes',
    actual: name,
  });
}

function isUuid(thing: unknown): thing is string {
  return typeof thing === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(thing);
}

function isName(thing: unknown): thing is string {
  return (
    typeof thing === 'string' &&
    thing !== '' &&
    wellFormed(thing) === thing &&
    Buffer.byteLength(thing) <= NAME_BYTES_MAX
  );
}
