/** The options of opening a fleet, and the checks that run before anything is touched. */
import {
  aFunction,
  aList,
  anObject,
  isFields,
  isObject,
  type KnownOptions,
  RepriseError,
  requireArgument,
  requireKnownOptions,
  textOf,
  wholeFrom,
} from '@reprise/contracts';
import type { KeyService, ObjectStore } from '@reprise/kernel';
import type { HostedWorld, HostOptions } from '@reprise/kernel/host';
import type { WitnessPlace } from '@reprise/store-postgres';
import type { Operation } from './operation.js';
import { SECRET_BYTES_MIN } from './wire/seal.js';

/** Where a process takes calls from the others. */
export interface ListenAt {
  /** The address of this machine, such as `0.0.0.0`; `127.0.0.1` when absent. */
  readonly host?: string;
  /** The port; any free one when absent or 0. */
  readonly port?: number;
}

/** How a process executes calls that were posted to worlds. */
export interface PostsOptions {
  /** The longest time between two looks for posted calls, in milliseconds; 1,000 when absent. */
  readonly lookMs?: number;
  /** How long one attempt may take, in milliseconds; 30,000 when absent. It is made again, later and later. */
  readonly runMs?: number;
  /** How long an answer is kept, in milliseconds; a day when absent. All processes should say the same. */
  readonly keepMs?: number;
}

/** What a fleet has in common with a host. */
type FromHost = 'open' | 'maxOpen' | 'idleMs' | 'waitMs' | 'limits' | 'onError';

/** The options of a process that joins a fleet. */
export interface FleetOptions<W extends HostedWorld> extends Pick<HostOptions<W>, FromHost> {
  /** The address of the database in PostgreSQL, the same for all processes: `postgres://user:password@host:5432/name`. */
  readonly database: string;
  /**
   * What the processes of the fleet sign their requests with: 32 bytes or more, the same for all, such as the output of
   * `openssl rand -hex 32`. Of a list the first signs and all are accepted, so that it can be replaced in two deployments.
   */
  readonly secret: string | readonly string[];
  /** The name of the fleet in its database, where several fleets may live; `default` when absent. */
  readonly name?: string;
  /**
   * How the other processes reach this one: `http://10.0.0.7:7070`. When absent, the address is that of `listen` on this
   * machine, which only processes on the same machine reach.
   */
  readonly address?: string;
  /** Where this process takes calls from the others; on `127.0.0.1` and a free port when absent. */
  readonly listen?: ListenAt;
  /** What processes can have done in worlds: all processes have the same. */
  readonly operations?: readonly Operation<W>[];
  /** The name of a world in the database, by its id; the id itself when absent. Throw to refuse an id. */
  readonly world?: (id: string) => string;
  /** How long this process owns its worlds without being heard of, in milliseconds; 10,000 when absent. */
  readonly ttl?: number;
  /** The most connections of this process to the database; 8 when absent. */
  readonly connectionsMax?: number;
  /** Whether a pooler in transaction mode stands before the database; false when absent. */
  readonly pooled?: boolean;
  /**
   * The address of the database itself, where `database` is that of a pooler: from there this process hears at once that a
   * world has more frames, that a call is posted or answered. Without it, behind a pooler, it looks again and again instead.
   */
  readonly direct?: string;
  /** How this process executes posted calls. */
  readonly posts?: PostsOptions;
  /** Where content of more than 64 KiB is stored, in place of the database: `s3` of `reprise/s3`. */
  readonly objects?: ObjectStore;
  /** Keys that content is encrypted with, so that an erasure reaches all copies: as `keys` of `postgres`. */
  readonly keys?: KeyService;
  /**
   * Where the heads of what this process has acknowledged go, once a second, so that a world that a restore of the database has
   * taken back does not open: a bucket of another account (`s3` of `reprise/s3`), or `witnessFolder` of `reprise/postgres`.
   */
  readonly witness?: WitnessPlace;
  /** Called when `reprise fleet drain` has named this process: stop taking requests. The fleet closes by itself. */
  readonly onDrain?: () => void;
}

const KNOWN: KnownOptions<FleetOptions<HostedWorld>> = {
  database: true,
  secret: true,
  open: aFunction,
  name: textOf(256),
  address: true,
  listen: anObject,
  operations: aList,
  world: aFunction,
  ttl: wholeFrom(100),
  connectionsMax: true,
  pooled: true,
  direct: true,
  posts: anObject,
  objects: true,
  keys: true,
  witness: true, // the database checks it
  onDrain: aFunction,
  // the host checks these
  ...{ maxOpen: true, idleMs: true, waitMs: true, limits: true, onError: true },
};

/** The longest time of a timer of Node. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

const LISTEN: KnownOptions<ListenAt> = { host: textOf(255), port: wholeFrom(0, 65_535) };

const POSTS: KnownOptions<PostsOptions> = {
  lookMs: wholeFrom(1, TIMER_MS_MAX),
  runMs: wholeFrom(1, TIMER_MS_MAX),
  keepMs: wholeFrom(0),
};

/** Refuses options that could not work. @throws RepriseError `invalid_argument` */
export function requireFleetOptions(options: unknown): void {
  requireKnownOptions(options, KNOWN, 'openFleet');
  const { database, open, secret, address, listen, operations, posts } = options as Readonly<Record<string, unknown>>;
  requireArgument(typeof database === 'string', 'openFleet(database)', 'the address of a database', database);
  requireArgument(open !== undefined, 'openFleet(open)', 'a function that opens a world', open);
  secretsOf(secret);
  if (posts !== undefined) requireKnownOptions(posts, POSTS, 'openFleet, posts');
  if (listen !== undefined) requireKnownOptions(listen, LISTEN, 'openFleet, listen');
  if (address !== undefined)
    requireArgument(
      isAddress(address),
      'openFleet(address)',
      'an address such as http://10.0.0.7:7070',
      shown(address),
    );
  requireOperations(operations ?? []);
}

/** The secrets, the first of which signs. A secret never stands in an error. @throws RepriseError `invalid_argument` */
export function secretsOf(secret: unknown): readonly string[] {
  const all: unknown = typeof secret === 'string' ? [secret] : secret;
  const fits = (one: unknown): one is string => typeof one === 'string' && Buffer.byteLength(one) >= SECRET_BYTES_MIN;
  if (Array.isArray(all) && all.length > 0 && all.every(fits)) return all;
  throw new RepriseError('invalid_argument', 'a fleet needs a secret that all its processes have', {
    where: 'openFleet, secret',
    expected: `text of ${SECRET_BYTES_MIN} bytes or more, or a list of such texts`,
    actual: secret === undefined || secret === '' ? 'nothing' : 'something else, or a shorter text',
    hint: 'Make one with `openssl rand -hex 32`, and give it to each process.',
  });
}

/** The bytes of an address: the database keeps it beside the lease, with the name of this start behind it. */
const ADDRESS_BYTES_MAX = 200;

function isAddress(thing: unknown): thing is string {
  if (typeof thing !== 'string' || Buffer.byteLength(thing) > ADDRESS_BYTES_MAX || !URL.canParse(thing)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(thing);
  const isPlain = pathname === '/' && search === '' && hash === '' && username === '' && password === '';
  return protocol === 'http:' && isPlain;
}

/** An address as an error shows it: what stands before an `@` may be a password. */
function shown(address: unknown): unknown {
  return typeof address === 'string' ? address.replace(/.*@/s, '…@') : address;
}

function requireOperations(operations: unknown): void {
  const names = new Set<unknown>();
  for (const one of operations as readonly unknown[]) {
    const isOne = isObject(one) && isFields(one) && typeof one.run === 'function' && typeof one.name === 'string';
    requireArgument(isOne, 'openFleet(operations)', 'a list of what defineOperation makes', one);
    requireArgument(!names.has(one.name), 'openFleet(operations)', 'operations with different names', one.name);
    names.add(one.name);
  }
}
