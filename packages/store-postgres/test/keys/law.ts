/**
 * Random histories of a world whose content is sealed, against two adversaries. One keeps a copy of all rows and objects
 * after every step, and in the end has all keys that are left. The other freezes owners in the middle of a call of the key
 * service, lets another owner take over, and lets the first one go on later; and restores older copies of the tables.
 */
import assert from 'node:assert/strict';
import { createDecipheriv, createHash } from 'node:crypto';
import { isRepriseError, Ref } from '@reprise/contracts';
import { EMPTY_HEAD, type Head, type OpenStore } from '@reprise/kernel';
import fc from 'fast-check';
import pg from 'pg';
import { type PostgresDatabase, postgresWithPacks } from '../../src/database.js';
import { frameOf } from '../packing/frames.js';
import { type MemoryBucket, memoryBucket } from './bucket.js';
import type { StopAt, Stopped, WatchedKeys } from './watched-keys.js';

/** In every content, many times: nothing that is stored may have it. */
export const CANARY = 'canary-of-a-person';

/** One step of a history. A content is named by its number. */
export type Step =
  | { readonly do: 'put' | 'stream'; readonly what: number }
  | { readonly do: 'append' | 'reopen' | 'let go' | 'copy' | 'restore' }
  | { readonly do: 'erase'; readonly what: readonly number[] }
  | {
      readonly do: 'freeze';
      readonly at: StopAt;
      readonly what: readonly number[];
    };

/** Numbers of contents, so few that histories come back to them. */
const WHAT = fc.nat(6);
const SOME = fc.uniqueArray(WHAT, { minLength: 1, maxLength: 3 });

/** Histories that erase, restore and freeze. */
export const histories: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ do: fc.constant('put' as const), what: WHAT }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('stream' as const), what: WHAT }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('append' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('erase' as const), what: SOME }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('freeze' as const),
        at: fc.record({
          call: fc.constantFrom('keep' as const, 'destroy' as const, 'destroy' as const),
          when: fc.constantFrom('before' as const, 'after' as const),
        }),
        what: SOME,
      }),
    },
    {
      weight: 9,
      arbitrary: fc.record({
        do: fc.constantFrom(
          'let go' as const,
          'copy' as const,
          'copy' as const,
          'restore' as const,
          'restore' as const,
        ),
      }),
    },
  ),
  { minLength: 12, maxLength: 24, size: 'max' },
);

/** What a history has met. */
export interface Met {
  erasures: number;
  frozen: number;
  late: number;
  restores: number;
  keyless: number;
}

/** Where large content lies. */
export type Place = 'rows' | 'objects';

/** The lengths of contents: of a row, of a row alone, of pieces in rows, and of a piece that is an object. */
const LENGTHS = [40, 700, 3_000, 65_536, 70_000, 90_000, 1_100_000];

/** Contents that are read after every step; a larger one is read in the end. */
const READ_OFTEN_BYTES = 100_000;

/** The content of a number. */
function contentOf(what: number, world: string): Uint8Array {
  const line = `${CANARY} ${world} ${what} `;
  return new Uint8Array(
    Buffer.from(line.repeat(Math.ceil((LENGTHS[what] ?? 9) / line.length))).subarray(0, LENGTHS[what]),
  );
}

/**
 * Whether a content must be there: `maybe` when its owner was frozen, `keyless` when its row came back after its erasure,
 * `lost` when it is one of both or gone.
 */
type State = 'waits' | 'there' | 'gone' | 'maybe' | 'keyless' | 'lost';

/** What a content is after a restore of a copy from before its erasure. */
const AFTER_RESTORE: Readonly<Record<State, State>> = {
  ...{ waits: 'lost', there: 'keyless', gone: 'gone', maybe: 'lost', keyless: 'keyless', lost: 'lost' },
};

/** A copy of the tables of the world, and what is true in it. */
interface Copy {
  readonly tables: ReadonlyMap<string, readonly Record<string, unknown>[]>;
  readonly world: Record<string, unknown>;
  readonly states: ReadonlyMap<number, State>;
  readonly erasures: ReadonlyMap<number, number>;
  readonly head: Head;
}

const TABLES = ['blob', 'part', 'tombstone', 'frame', 'blob_pack', 'pack'] as const;

/** What a history stands on. */
interface Ground {
  readonly url: string;
  readonly world: string;
  readonly place: Place;
  readonly keys: WatchedKeys;
}

/** Runs a history. @returns what it has met */
export async function run(ground: Ground, history: readonly Step[]): Promise<Met> {
  const trial = new Trial(ground.url, ground.world, ground.place, ground.keys);
  try {
    await trial.begin();
    for (const step of history) await trial.take(step);
    await trial.finish();
    return trial.met;
  } finally {
    await trial.end();
  }
}

class Trial {
  readonly met: Met = { erasures: 0, frozen: 0, late: 0, restores: 0, keyless: 0 };
  readonly #bucket: MemoryBucket = memoryBucket();
  readonly #databases: PostgresDatabase[] = [];
  readonly #sql: pg.Client;
  readonly #states = new Map<number, State>();
  readonly #erasures = new Map<number, number>();
  /** What was stored or erased in a future that a restore has taken back: nobody erases that with its keys any more. */
  readonly #lost = new Set<number>();
  /** All seals that ever lay in a row, with the digest of each, and everything else that did. */
  readonly #seals = new Map<string, { readonly hex: string; readonly seal: Uint8Array }>();
  readonly #stored = new Map<string, Uint8Array>();
  readonly #frozen: { stopped: Stopped; done: Promise<unknown> }[] = [];
  #copies: Copy[] = [];
  #id = 0;
  #store: OpenStore | undefined;
  #head: Head = EMPTY_HEAD;
  #unfinished: { refs: readonly Ref[]; by: number } | undefined;

  constructor(
    private readonly url: string,
    private readonly world: string,
    private readonly place: Place,
    private readonly keys: WatchedKeys,
  ) {
    this.#sql = new pg.Client({ connectionString: url });
  }

  async begin(): Promise<void> {
    await this.#sql.connect();
    this.#newProcess();
    await this.#open();
    await this.#append();
    const named = await this.#sql.query('SELECT id FROM reprise.world WHERE name = $1', [Buffer.from(this.world)]);
    this.#id = Number(named.rows[0].id);
  }

  #newProcess(): void {
    const more = this.place === 'rows' ? {} : { objects: this.#bucket };
    const options = { connectionsMax: 4, keys: this.keys.service, ...more };
    this.#databases.push(postgresWithPacks(500, this.url, options));
  }

  async #open(): Promise<void> {
    this.#store = await (this.#databases.at(-1) as PostgresDatabase).world(this.world).open();
    assert.deepEqual(await this.store.journal.head(), this.#head, 'the head at an opening');
    const { content } = this.store;
    if (this.#unfinished === undefined || (await content.erasedThrough()) >= this.#unfinished.by) return;
    await content.erase(this.#unfinished.refs, this.#unfinished.by); // as the kernel does, before anything else
  }

  async end(): Promise<void> {
    this.keys.disarm();
    for (const { stopped } of this.#frozen) stopped.letGo();
    await Promise.all(this.#frozen.map(({ done }) => done));
    await this.#store?.close().catch(() => undefined);
    await Promise.all(this.#databases.map((database) => database.close()));
    await this.#sql.end();
  }

  get store(): OpenStore {
    assert.ok(this.#store !== undefined);
    return this.#store;
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'put') await this.#put(step.what);
    if (step.do === 'stream') await this.#stream(step.what);
    if (step.do === 'append') await this.#append();
    if (step.do === 'erase') await this.#erase(step.what);
    if (step.do === 'reopen') await this.#reopen();
    if (step.do === 'freeze') await this.#freeze(step.at, step.what);
    if (step.do === 'let go') await this.#letGo();
    if (step.do === 'copy') this.#copies.push(await this.#copied());
    if (step.do === 'restore') await this.#restore();
    await this.#observe();
    await this.#checkAll(READ_OFTEN_BYTES);
  }

  async finish(): Promise<void> {
    while (this.#frozen.length > 0) await this.#letGo();
    await this.#append();
    await this.#reopen();
    await this.#observe();
    await this.#checkAll();
    this.#requireNothingPlain();
    await this.#attack();
  }

  #wrote(what: number, small: boolean): void {
    const before = this.#states.get(what);
    this.#states.set(what, before === 'there' || !small ? 'there' : 'waits');
  }

  async #put(what: number): Promise<void> {
    const bytes = contentOf(what, this.world);
    await this.store.content.put(bytes);
    this.#wrote(what, bytes.length <= 65_536);
  }

  async #stream(what: number): Promise<void> {
    const bytes = contentOf(what, this.world);
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
    }
    await this.store.content.putStream(pieces());
    this.#wrote(what, bytes.length <= 65_536);
  }

  async #append(): Promise<void> {
    this.#head = await this.store.journal.append([frameOf(this.#head.seq + 1, 60)], this.#head);
    for (const [what, state] of this.#states) if (state === 'waits') this.#states.set(what, 'there');
  }

  #refs(what: readonly number[]): readonly Ref[] {
    return what.map((one) => Ref.fromHex(hexOfContent(one, this.world)));
  }

  async #erase(what: readonly number[]): Promise<void> {
    await this.#append(); // the frame that names them
    this.#unfinished = { refs: this.#refs(what), by: this.#head.seq };
    await this.store.content.erase(this.#unfinished.refs, this.#unfinished.by);
    this.#erased(what);
    await this.#observe();
    await this.#attack();
  }

  #erased(what: readonly number[]): void {
    for (const one of what) {
      this.#states.set(one, 'gone');
      this.#erasures.set(one, (this.#erasures.get(one) ?? 0) + 1);
      this.met.erasures++;
    }
  }

  async #reopen(): Promise<void> {
    await this.store.close();
    this.#lose('gone');
    await this.#open();
  }

  /** What waited for an append is lost, or may be. */
  #lose(as: State): void {
    for (const [what, state] of this.#states) if (state === 'waits') this.#states.set(what, as);
  }

  /** The owner is frozen in a call of the key service, and another one takes over. */
  async #freeze(at: StopAt, what: readonly number[]): Promise<void> {
    const caught = this.keys.stopNext(at);
    const owner = this.store;
    let done: Promise<unknown>;
    if (at.call === 'destroy') {
      this.keys.disarm();
      await this.#append();
      const stops = this.keys.stopNext(at);
      this.#unfinished = { refs: this.#refs(what), by: this.#head.seq };
      done = owner.content.erase(this.#unfinished.refs, this.#unfinished.by).catch((error: unknown) => error);
      this.#frozen.push({ stopped: await stoppedBefore(done, stops), done });
      this.#erased(what);
    } else {
      for (const one of what) if (this.#states.get(one) !== 'there') this.#states.set(one, 'maybe');
      const frame = frameOf(this.#head.seq + 1, 60);
      done = Promise.all(what.map((one) => owner.content.put(contentOf(one, this.world))))
        .then(() => owner.journal.append([frame], this.#head))
        .catch((error: unknown) => error);
      this.#frozen.push({ stopped: await stoppedBefore(done, caught), done });
      this.#lose('maybe');
    }
    this.met.frozen++;
    await this.#endLease();
    this.#newProcess();
    await this.#open();
    await this.#attack();
  }

  async #endLease(): Promise<void> {
    await this.#sql.query(
      'UPDATE reprise.host h SET closed = true FROM reprise.world w WHERE w.owner = h.id AND w.name = $1',
      [Buffer.from(this.world)],
    );
  }

  /** The owner that was frozen first goes on, and finds itself deposed. */
  async #letGo(): Promise<void> {
    const first = this.#frozen.shift();
    if (first === undefined) return;
    first.stopped.letGo();
    const outcome = await first.done;
    assert.ok(isRepriseError(outcome, 'fenced') || isRepriseError(outcome, 'world_closed'), String(outcome));
    this.met.late++;
  }

  async #rows(table: string): Promise<readonly Record<string, unknown>[]> {
    const text = `SELECT t.* FROM reprise.${table} t JOIN reprise.world w ON w.id = t.world WHERE w.name = $1`;
    return (await this.#sql.query(text, [Buffer.from(this.world)])).rows;
  }

  async #copied(): Promise<Copy> {
    await this.#append();
    const tables = new Map<string, readonly Record<string, unknown>[]>();
    for (const table of TABLES) tables.set(table, await this.#rows(table));
    const { rows } = await this.#sql.query(
      'SELECT id, seq, head, erased_through, packs, packed_through FROM reprise.world WHERE name = $1',
      [Buffer.from(this.world)],
    );
    const [states, erasures] = [new Map(this.#states), new Map(this.#erasures)];
    return { tables, world: rows[0], states, erasures, head: this.#head };
  }

  async #restore(): Promise<void> {
    const copy = this.#copies.at(-1);
    if (copy === undefined) return;
    await this.store.close();
    const { id, seq, head, erased_through, packs, packed_through } = copy.world;
    for (const table of TABLES) {
      await this.#sql.query(`DELETE FROM reprise.${table} WHERE world = $1`, [id]);
      for (const row of copy.tables.get(table) ?? []) {
        const names = Object.keys(row);
        const places = names.map((_, i) => `$${i + 1}`);
        await this.#sql.query(
          `INSERT INTO reprise.${table} (${names.join(', ')}) VALUES (${places.join(', ')})`,
          Object.values(row),
        );
      }
    }
    await this.#sql.query(
      'UPDATE reprise.world SET seq = $2, head = $3, erased_through = $4, packs = $5, packed_through = $6 WHERE id = $1',
      [id, seq, head, erased_through, packs, packed_through],
    );
    await this.#sql.query('DELETE FROM reprise.object_gone WHERE world = $1', [id]);
    for (const [name, bytes] of this.#bucket.ever) await this.#bucket.put(name, bytes);
    this.#head = copy.head;
    this.#unfinished = undefined;
    for (let what = 0; what < LENGTHS.length; what++) {
      const isErasedSince = this.#erasures.get(what) !== copy.erasures.get(what);
      const before = copy.states.get(what) ?? 'gone';
      const isPutSince = before === 'gone' && (this.#states.get(what) ?? 'gone') !== 'gone';
      if (isErasedSince || isPutSince) this.#lost.add(what);
      this.#states.set(what, isErasedSince ? AFTER_RESTORE[before] : before);
    }
    this.met.restores++;
    await this.#open();
  }

  /** The adversary copies everything that lies in a table or an object. */
  async #observe(): Promise<void> {
    for (const table of TABLES)
      for (const row of await this.#rows(table)) {
        for (const value of Object.values(row)) if (value instanceof Uint8Array) this.#stored.set(sha256(value), value);
        const { digest, seal } = row as { digest?: Uint8Array; seal?: Uint8Array | null };
        if (digest === undefined || seal == null) continue;
        this.#seals.set(sha256(seal), { hex: Buffer.from(digest).toString('hex'), seal });
      }
  }

  async #checkAll(longest = Number.POSITIVE_INFINITY): Promise<void> {
    for (const [what, state] of this.#states) if ((LENGTHS[what] ?? 0) <= longest) await this.#check(what, state);
  }

  /** Nothing plain has ever been in a row or an object. */
  #requireNothingPlain(): void {
    const all = [...this.#stored.values(), ...this.#bucket.ever.values()];
    const leaks = all.filter((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(CANARY));
    assert.equal(leaks.length, 0, 'plain bytes in a row or an object');
  }

  async #check(what: number, state: State): Promise<void> {
    const wanted = contentOf(what, this.world);
    const [ref] = this.#refs([what]);
    assert.ok(ref !== undefined);
    const found = await this.store.content.get(ref).catch((error: unknown) => error);
    const isRight = found instanceof Uint8Array && Buffer.from(found).equals(wanted);
    const about = `content ${what}, which is ${state}: ${found instanceof Error ? found.message : typeof found}`;
    if (state === 'there' || state === 'waits') assert.ok(isRight, about);
    if (state === 'gone') assert.equal(found, undefined, about);
    if (state === 'maybe') assert.ok(isRight || found === undefined, about);
    if (state === 'lost') assert.ok(found === undefined || isRepriseError(found, 'blob_damaged'), about);
    if (state !== 'keyless') return;
    assert.ok(isRepriseError(found, 'blob_damaged'), about);
    this.met.keyless++;
  }

  /** With all copies and all keys that are left, the adversary opens nothing that was erased. */
  async #attack(): Promise<void> {
    const keys = await this.keys.all(`/${this.#id}/`);
    let opened = 0;
    for (const { hex, seal } of this.#seals.values()) {
      const what = LENGTHS.findIndex((_, one) => hexOfContent(one, this.world) === hex);
      const isOpen = keys.some((key) => opens(seal, hex, key));
      if (isOpen) opened++;
      const state = this.#states.get(what);
      if (state === 'gone' && (this.#erasures.get(what) ?? 0) > 0 && !this.#lost.has(what))
        assert.ok(!isOpen, `a copy of content ${what}, which is erased, can be opened`);
    }
    const live = [...this.#states.values()].filter((state) => state === 'there').length;
    assert.ok(opened >= live, 'control: the adversary opens what is there');
  }
}

/** An owner that came to its end without the call has not been frozen. */
function stoppedBefore(done: Promise<unknown>, stops: Promise<Stopped>): Promise<Stopped> {
  const ended = done.then((outcome) => assert.fail(`the owner made no call of the key service: ${String(outcome)}`));
  return Promise.race([stops, ended]);
}

const hexes = new Map<string, string>();

function hexOfContent(what: number, world: string): string {
  const name = `${world} ${what}`;
  const hex = hexes.get(name) ?? Ref.fromHex(sha256(contentOf(what, world))).hex;
  hexes.set(name, hex);
  return hex;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Whether a key opens a seal, by what the head of `seals.ts` says of its bytes. */
function opens(seal: Uint8Array, hex: string, key: Uint8Array): boolean {
  const body = Buffer.from(seal).subarray(21);
  const inPieces = seal[0] === 2;
  const nonce = inPieces ? body.subarray(0, 12) : Buffer.from(hex, 'hex').subarray(0, 12);
  const stored = inPieces ? body.subarray(12) : body;
  const cipher = createDecipheriv('aes-256-gcm', key, nonce);
  cipher.setAuthTag(stored.subarray(stored.length - 16));
  cipher.update(stored.subarray(0, stored.length - 16));
  try {
    cipher.final();
    return true;
  } catch {
    return false;
  }
}
