/**
 * Posted calls: rows that wait for the owner of their world, and then hold its answer.
 *
 * Invariants
 * Q1  A call is there once for its world, its principal and its request. The first answer that is written to it stays.
 * Q2  `take` begins a call durably before it is executed: one that ends its process again and again is noticed by its count.
 * Q3  Calls of a principal are taken in the order of their rows. One that was begun before is taken alone.
 */
import { createHash } from 'node:crypto';
import { RepriseError } from '@reprise/contracts';
import { encode } from '@reprise/kernel';
import { bytes, one, text, whole } from '../connection/columns.js';
import type { Connections, Row } from '../connection/driver.js';
import { Gathering } from '../connection/gathering.js';
import type { Hints } from '../connection/hints.js';
import { ANNOUNCE, ANSWER, AWAIT, FIND, GIVE_BACK, POST, SWEEP, TAKE, UNKNOWN, WORLDS } from './statements.js';

/** Who posts, to which world, under which id. */
export interface PostedKey {
  readonly world: string;
  readonly principal: string;
  readonly request: string;
}

/** A call that waits for the owner of its world. */
export interface PostedCall extends PostedKey {
  readonly operation: string;
  readonly input: Uint8Array;
  /** The encoded actor; absent when nobody was named. */
  readonly actor?: Uint8Array;
}

/** A call that was taken to be executed. */
export interface TakenCall extends PostedCall {
  /** The number of its row. */
  readonly row: number;
  /** How often it was begun, this time included. */
  readonly tries: number;
}

/** A call as it is found. */
export interface FoundCall {
  readonly row: number;
  readonly operation: string;
  /** The sha-256 of its input. */
  readonly digest: Uint8Array;
  /** The encoded outcome; absent while it waits. */
  readonly answer?: Uint8Array;
}

/** A world with calls that wait. */
export interface WaitingWorld {
  readonly world: string;
  /** Whether this process knows the operation of one of them. */
  readonly isKnown: boolean;
  /** Whether this process has the world open. */
  readonly isOwn: boolean;
}

/** A call whose operation no process of the fleet knows. */
export interface UnknownCall {
  /** The number of its row. */
  readonly row: number;
  readonly world: string;
  readonly request: string;
  readonly operation: string;
  /** How often it was begun. */
  readonly tries: number;
}

/** The posted calls of a directory. All reject with `store_failed` when the database does not answer. */
export interface PostedCalls {
  /**
   * Adds a call, durably. The same call may be there already, waiting or answered.
   *
   * @throws RepriseError `request_conflict` when another call has the same id, `bound_exceeded` when too many wait
   */
  put(call: PostedCall): Promise<void>;
  find(key: PostedKey): Promise<FoundCall | undefined>;
  /** Says that a caller waits for the answer, so that it is hinted at. @param call called at each hint @returns stops that */
  await(row: number, call: () => void): Promise<() => void>;
  /** Worlds with calls that wait, in their order, but for those that another living process has. @param after the last one of the page before */
  worlds(after: string, limit: number): Promise<readonly WaitingWorld[]>;
  /** Begins the next calls of each principal (Q2, Q3). @param except principals that are left out @param principals how many have calls taken at most */
  take(world: string, except: readonly string[], principals: number): Promise<readonly TakenCall[]>;
  /** Takes back the beginning of calls that were not executed. */
  giveBack(rows: readonly number[]): Promise<void>;
  /** Writes the answer of a call; an earlier one stays (Q1). */
  answer(row: number, answer: Uint8Array): Promise<void>;
  /** Says that this process lives and knows its operations. */
  announce(): Promise<void>;
  /** Calls that have waited for so long, and whose operation no process that was heard of for so long knows. @param ms in milliseconds */
  unknown(ms: number, limit: number): Promise<readonly UnknownCall[]>;
  /** Removes calls that were answered so long ago. @returns how many */
  sweep(keptMs: number): Promise<number>;
  /** Calls whenever calls may have been posted. @returns stops that */
  changed(call: () => void): () => void;
}

/** What the posted calls of a directory stand on. */
interface PostsParts {
  readonly connections: Connections;
  readonly hints: Hints;
  /** The number of the directory. */
  readonly directory: number;
  /** The names of the operations that this process knows. */
  readonly operations: readonly string[];
  /** The address of this process, whose worlds are its own. */
  readonly address: string;
}

/** Calls of one world that wait at most: each is a row. */
const POSTED_MAX = 10_000;

/** Larger answers have a statement of their own. */
const GATHERED_BYTES_MAX = 4_096;

/** Rows that one sweep removes in a statement. */
const SWEPT_AT_ONCE = 1_000;

interface Answered {
  readonly row: number;
  readonly answer: Uint8Array;
}

/** The posted calls of a directory, in a database. */
export class DatabasePosts implements PostedCalls {
  readonly #answers = new Gathering<Answered>((answers) => this.#write(answers));

  constructor(private readonly parts: PostsParts) {}

  async put(call: PostedCall): Promise<void> {
    const { connections, directory, hints } = this.parts;
    for (;;) {
      const { world, principal, request, operation, input, actor = null } = call;
      const given = [
        directory,
        keyOf(call),
        worldBytes(world),
        principal,
        request,
        actor,
        operation,
        input,
        POSTED_MAX,
      ];
      const [isRoom, isMade] = one(await connections.rows('post a call', POST, given)) ?? [];
      if (isMade === true) return hints.send(this.#topic);
      const found = await this.find(call);
      if (found === undefined && isRoom === true) continue; // the one that was there is removed meanwhile
      if (found === undefined) throw full(world);
      if (found.operation === operation && Buffer.compare(found.digest, sha256(input)) === 0) return;
      throw conflict(call);
    }
  }

  async find(key: PostedKey): Promise<FoundCall | undefined> {
    const { connections, directory } = this.parts;
    const row = one(await connections.rows('look for a posted call', FIND, [directory, keyOf(key)]));
    if (row === undefined) return undefined;
    const [id, operation, digest, answer] = row;
    const { label } = connections;
    return {
      ...{ row: whole(id, label), operation: text(operation, label), digest: bytes(digest, label) },
      ...(answer === null ? {} : { answer: bytes(answer, label) }),
    };
  }

  async await(row: number, call: () => void): Promise<() => void> {
    const { connections, hints } = this.parts;
    const stop = hints.hear(answerTopic(row), call);
    try {
      await connections.rows('wait for an answer', AWAIT, [row]);
      return stop;
    } catch (error) {
      stop();
      throw error;
    }
  }

  async worlds(after: string, limit: number): Promise<readonly WaitingWorld[]> {
    const { connections, directory, address, operations } = this.parts;
    const given = [directory, worldBytes(after), address, limit, operations];
    const rows = await connections.rows('look for posted calls', WORLDS, given);
    const { label } = connections;
    return rows.map(([world, isKnown, isOwn]) => ({
      world: Buffer.from(bytes(world, label)).toString('utf8'),
      isKnown: isKnown === true,
      isOwn: isOwn === true,
    }));
  }

  async take(world: string, except: readonly string[], principals: number): Promise<readonly TakenCall[]> {
    const { connections, directory } = this.parts;
    const given = [directory, worldBytes(world), except, principals];
    const rows = await connections.rows('take posted calls', TAKE, given);
    return rows.map((row) => takenCall(row, world, connections.label));
  }

  async giveBack(rows: readonly number[]): Promise<void> {
    if (rows.length > 0) await this.parts.connections.rows('give posted calls back', GIVE_BACK, [rows]);
  }

  answer(row: number, answer: Uint8Array): Promise<void> {
    const answered = { row, answer };
    return answer.length > GATHERED_BYTES_MAX ? this.#write([answered]) : this.#answers.add(answered);
  }

  async announce(): Promise<void> {
    const { connections, directory, operations } = this.parts;
    if (operations.length > 0) await connections.rows('say what is known', ANNOUNCE, [directory, operations]);
  }

  async unknown(ms: number, limit: number): Promise<readonly UnknownCall[]> {
    const { connections, directory } = this.parts;
    const { label } = connections;
    const rows = await connections.rows('look for unknown calls', UNKNOWN, [directory, ms, limit]);
    return rows.map(([row, world, request, operation, tries]) => ({
      ...{ row: whole(row, label), world: Buffer.from(bytes(world, label)).toString('utf8') },
      ...{ request: text(request, label), operation: text(operation, label), tries: whole(tries, label) },
    }));
  }

  async sweep(keptMs: number): Promise<number> {
    const { connections, directory } = this.parts;
    for (let removed = 0; ; ) {
      const given = [directory, keptMs, SWEPT_AT_ONCE];
      const rows = await connections.rows('remove answered calls', SWEEP, given);
      removed += rows.length;
      if (rows.length < SWEPT_AT_ONCE) return removed;
    }
  }

  changed(call: () => void): () => void {
    return this.parts.hints.hear(this.#topic, call);
  }

  get #topic(): string {
    return `p${this.parts.directory}`;
  }

  async #write(answers: readonly Answered[]): Promise<void> {
    const { connections, hints } = this.parts;
    const given = [answers.map(({ row }) => row), answers.map(({ answer }) => Buffer.from(answer).toString('hex'))];
    const rows = await connections.rows('answer posted calls', ANSWER, given);
    for (const [row, awaited] of rows) if (awaited === true) hints.send(answerTopic(Number(row)));
  }
}

function answerTopic(row: number): string {
  return `a${row}`;
}

function worldBytes(world: string): Buffer {
  return Buffer.from(world, 'utf8');
}

/** The digest of a key, which stands in the index in its place. */
function keyOf({ world, principal, request }: PostedKey): Uint8Array {
  return sha256(encode([world, principal, request]));
}

function sha256(bytesOf: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytesOf).digest();
}

function takenCall(
  [row, principal, request, actor, operation, input, tries]: Row,
  world: string,
  where: string,
): TakenCall {
  return {
    ...{ world, row: whole(row, where), principal: text(principal, where), request: text(request, where) },
    ...(actor == null ? {} : { actor: bytes(actor, where) }),
    ...{ operation: text(operation, where), input: bytes(input, where), tries: whole(tries, where) },
  };
}

function full(world: string): RepriseError {
  return new RepriseError('bound_exceeded', 'too many calls are posted to a world', {
    where: world,
    expected: `at most ${POSTED_MAX} that wait`,
    hint: 'Does a process of the fleet open this world? `reprise fleet status` shows what waits.',
  });
}

function conflict({ world, request }: PostedCall): RepriseError {
  return new RepriseError('request_conflict', 'another call was posted under this id', {
    where: world,
    actual: request,
    hint: 'Post a call again with the same operation and input, or give this one an id of its own.',
  });
}
