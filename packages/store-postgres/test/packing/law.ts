/** Random histories of a world that is packed while it is appended to, read, erased from and taken over; and a model without packs. */
import assert from 'node:assert/strict';
import { isRepriseError, Ref } from '@reprise/contracts';
import { EMPTY_HEAD, type Head, type OpenStore, type ReadonlyStore, type StoredFrame } from '@reprise/kernel';
import fc from 'fast-check';
import pg from 'pg';
import { type PostgresDatabase, postgresWithPacks } from '../../src/database.js';
import { content, frameOf, KINDS, wrong } from './frames.js';

/** The plain bytes of a pack here: a few frames, so that a short history makes many. */
const PACK_BYTES = 6_000;

/** How an owner ends while its pack is under way: the database breaks its statement off, or another process waits for it. */
type Trouble = 'its statement is broken off' | 'another process waits';

/** One step of a history. */
export type Step =
  | { readonly do: 'append'; readonly sizes: readonly number[]; readonly blobs: readonly number[] }
  | { readonly do: 'erase'; readonly every: number }
  | { readonly do: 'reopen' }
  | { readonly do: 'take over' }
  | { readonly do: 'take over in a pack'; readonly trouble: Trouble }
  | { readonly do: 'read'; readonly from: number; readonly length: number };

const SIZES = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 900 }) },
  { weight: 2, arbitrary: fc.integer({ min: 2_000, max: PACK_BYTES + 1_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(PACK_BYTES - 53, PACK_BYTES - 52, PACK_BYTES) },
);

const BLOB_SIZES = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 1_500 }) },
  { weight: 1, arbitrary: fc.constantFrom(65_535, 65_536, 65_537) },
);

/** Histories that pack many times. */
export const histories: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        do: fc.constant('append' as const),
        sizes: fc.array(SIZES, { maxLength: 24 }),
        blobs: fc.array(BLOB_SIZES, { maxLength: 8 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('erase' as const), every: fc.integer({ min: 2, max: 9 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('take over' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('take over in a pack' as const),
        trouble: fc.constantFrom<Trouble>('its statement is broken off', 'another process waits'),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('read' as const), from: fc.nat(400), length: fc.nat(60) }) },
  ),
  { minLength: 10, maxLength: 24, size: 'max' },
);

/** What a history has met. */
export interface Made {
  frames: number;
  blobs: number;
  troubles: number;
  damages: number;
}

/** What a trial stands on: a server, a name of its own, and who reads beside it. */
export interface Ground {
  readonly url: string;
  readonly world: string;
  /** Awaited when the history is over, before packs are damaged. @throws Error when the reader has found something wrong */
  readonly readToEnd: () => Promise<void>;
}

/** Runs a history against a world and its model. @returns what it has met */
export async function run(ground: Ground, history: readonly Step[]): Promise<Made> {
  const trial = new Trial(ground);
  try {
    await trial.begin();
    for (const step of history) await trial.take(step);
    await trial.reopen();
    await trial.checkAll();
    await ground.readToEnd();
    await trial.damage();
    return await trial.made();
  } finally {
    await trial.end();
  }
}

class Trial {
  readonly #databases: PostgresDatabase[] = [];
  readonly #sql: pg.Client;
  readonly #frames: StoredFrame[] = [];
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #gone = new Set<string>();
  readonly #met: Made = { frames: 0, blobs: 0, troubles: 0, damages: 0 };
  #store: OpenStore | undefined;
  #reader: ReadonlyStore | undefined;
  #head: Head = EMPTY_HEAD;
  #erasures = 0;

  constructor(private readonly ground: Ground) {
    this.#sql = new pg.Client({ connectionString: ground.url });
  }

  async begin(): Promise<void> {
    await this.#sql.connect();
    this.#newProcess();
    await this.#open();
  }

  /** Another process, as far as the database can tell: with connections and a lease of its own. */
  #newProcess(): void {
    this.#databases.push(postgresWithPacks(PACK_BYTES, this.ground.url, { connectionsMax: 4 }));
  }

  async #open(): Promise<void> {
    const world = (this.#databases.at(-1) as PostgresDatabase).world(this.ground.world);
    this.#store = await world.open();
    await this.#reader?.close();
    this.#reader = await world.openReadonly();
    assert.deepEqual(await this.store.journal.head(), this.#head, 'the head at an opening');
  }

  async end(): Promise<void> {
    await this.#store?.close().catch(() => undefined);
    await Promise.all(this.#databases.map((database) => database.close()));
    await this.#sql.end();
  }

  get store(): OpenStore {
    assert.ok(this.#store !== undefined);
    return this.#store;
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'append') await this.#append(step.sizes, step.blobs);
    if (step.do === 'erase') await this.#erase(step.every);
    if (step.do === 'reopen') await this.reopen();
    if (step.do === 'take over') await this.#takeOver();
    if (step.do === 'take over in a pack') await this.#takeOverInPack(step.trouble);
    if (step.do === 'read') await this.#read(step.from % (this.#frames.length + 2), step.length);
  }

  async reopen(): Promise<void> {
    await this.store.close();
    await this.#open();
  }

  async #append(sizes: readonly number[], blobs: readonly number[]): Promise<void> {
    for (const size of blobs) {
      const bytes = content(`blob ${this.ground.world} ${this.#blobs.size}`, size);
      this.#blobs.set((await this.store.content.put(bytes)).hex, bytes);
    }
    // Again what is stored already, perhaps in a pack, or was erased.
    for (const bytes of [...this.#blobs.values()].slice(0, 2))
      this.#gone.delete((await this.store.content.put(bytes)).hex);
    const frames = sizes.map((size, n) => frameOf(this.#head.seq + 1 + n, size));
    this.#head = await this.store.journal.append(frames, this.#head);
    this.#frames.push(...frames);
  }

  async #erase(every: number): Promise<void> {
    const doomed = [...this.#blobs.keys()].filter((_, n) => n % every === 1);
    const by = this.#erasures++;
    await this.store.content.erase(
      doomed.map((hex) => Ref.fromHex(hex)),
      by,
    );
    for (const hex of doomed) this.#gone.add(hex);
    await this.#requireGone(doomed);
  }

  /** No row holds what was erased, plain or in a pack, whatever the store says. */
  async #requireGone(hexes: readonly string[]): Promise<void> {
    const { rows } = await this.#sql.query(
      `SELECT encode(b.digest, 'hex') AS hex FROM reprise.blob b JOIN reprise.world w ON w.id = b.world WHERE w.name = $1`,
      [Buffer.from(this.ground.world)],
    );
    const left = new Set(rows.map(({ hex }) => String(hex)));
    assert.deepEqual(
      hexes.filter((hex) => left.has(hex)),
      [],
      'rows of erased blobs',
    );
    const packs = await this.#sql.query(
      `SELECT count(*)::int AS n FROM reprise.blob_pack p JOIN reprise.world w ON w.id = p.world WHERE w.name = $1
         AND p.blobs <> (SELECT count(*) FROM reprise.blob b WHERE b.world = p.world AND b.pack = p.id)`,
      [Buffer.from(this.ground.world)],
    );
    assert.equal(packs.rows[0].n, 0, 'packs with a blob that no row names');
  }

  /** The lease of the owner ends; it does not know yet. */
  async #endLease(): Promise<void> {
    await this.#sql.query(
      'UPDATE reprise.host h SET closed = true FROM reprise.world w WHERE w.owner = h.id AND w.name = $1',
      [Buffer.from(this.ground.world)],
    );
  }

  async #takeOver(): Promise<void> {
    const deposed = this.store;
    await this.#endLease();
    this.#newProcess();
    await this.#open();
    const late = frameOf(this.#head.seq + 1, 40);
    await assert.rejects(
      deposed.journal.append([late], this.#head),
      (error) => isRepriseError(error, 'fenced'),
      'what a deposed owner appends',
    );
    await deposed.close().catch(() => undefined);
  }

  /** Holds a statement that packs in its middle: it has locked the world, and waits for a frame. */
  async #takeOverInPack(trouble: Trouble): Promise<void> {
    const other = new pg.Client({ connectionString: this.ground.url });
    await other.connect();
    try {
      await this.reopen(); // nothing is packed now, and nothing will be before the appends that follow
      await this.#append([10, 11, 12], []);
      await other.query('BEGIN');
      const held = await other.query(
        `SELECT FROM reprise.frame f JOIN reprise.world w ON w.id = f.world
         WHERE w.name = $1 AND f.seq = $2 FOR UPDATE OF f`,
        [Buffer.from(this.ground.world), this.#head.seq],
      );
      assert.equal(held.rowCount, 1, 'a frame that waits, and is small enough for a pack');
      await this.#append(Array<number>(12).fill(PACK_BYTES / 10), []);
      const pid = await this.#packerThatWaits();
      this.#met.troubles++;
      await this.#endLease();
      const deposed = this.store;
      this.#newProcess();
      if (trouble === 'its statement is broken off') await this.#sql.query('SELECT pg_terminate_backend($1)', [pid]);
      const opening = this.#open();
      await other.query('ROLLBACK');
      await opening;
      await deposed.close().catch(() => undefined);
    } finally {
      await other.end();
    }
    await this.#read(Math.max(0, this.#frames.length - 30), 30);
  }

  async #packerThatWaits(): Promise<number> {
    for (;;) {
      const { rows } = await this.#sql.query(
        `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO reprise.pack %'`,
      );
      if (rows.length > 0) return Number(rows[0].pid);
    }
  }

  async #read(from: number, length: number): Promise<void> {
    const stores = [this.store, this.#reader as ReadonlyStore];
    for (const { journal } of stores) {
      let next = from;
      for await (const frame of journal.read(from, from + length)) this.#check(frame, next++);
      assert.equal(next, Math.max(from, Math.min(from + length + 1, this.#frames.length)), 'the end of a range');
      for (const kind of KINDS) {
        const found = await journal.findLast(kind, from);
        const wanted = this.#frames.findLast((frame) => frame.seq <= from && frame.kind === kind);
        assert.equal(found?.seq, wanted?.seq, `the last ${kind} from ${from}`);
        if (found !== undefined) this.#check(found, found.seq);
      }
      const { key } = frameOf(from - (from % 3), 0);
      const there = from - (from % 3) < this.#frames.length;
      assert.equal(await journal.findKey(key ?? ''), there ? from - (from % 3) : undefined, `the key near ${from}`);
    }
    const [hex] = [...this.#blobs.keys()].slice(from % (this.#blobs.size || 1));
    for (const { content: blobs } of stores) if (hex !== undefined) await this.#checkBlob(blobs, hex);
  }

  #check(frame: StoredFrame, seq: number): void {
    assert.equal(frame.bytes.length, this.#frames[seq]?.bytes.length, `the length of frame ${seq}`);
    assert.equal(wrong(frame, seq), undefined);
  }

  async #checkBlob(blobs: ReadonlyStore['content'], hex: string): Promise<void> {
    const found = await blobs.get(Ref.fromHex(hex));
    const wanted = this.#gone.has(hex) ? undefined : this.#blobs.get(hex);
    assert.equal(await blobs.has(Ref.fromHex(hex)), wanted !== undefined, `whether there is blob ${hex}`);
    assert.equal(found && hexOf(found), wanted && hexOf(wanted), `blob ${hex}`);
  }

  async checkAll(): Promise<void> {
    await this.#read(0, this.#frames.length + 10);
    for (let seq = 0; seq < this.#frames.length; seq += 37) await this.#read(seq, 0);
    const { content: blobs } = this.#reader as ReadonlyStore;
    for (const hex of this.#blobs.keys()) await this.#checkBlob(blobs, hex);
    const listed: string[] = [];
    for await (const { hex } of blobs.list()) listed.push(hex);
    assert.deepEqual(listed.sort(), [...this.#blobs.keys()].filter((hex) => !this.#gone.has(hex)).sort(), 'the list');
  }

  /** An odd byte in each deflated pack of frames, one after another: its reader says so and where, and reads the others. */
  async damage(): Promise<void> {
    const { rows } = await this.#sql.query(
      `SELECT p.world, p.first::int, p.seq::int, least(p.stored, length(p.bytes)) AS length
       FROM reprise.pack p JOIN reprise.world w ON w.id = p.world WHERE w.name = $1 AND p.size > p.stored AND length(p.bytes) > 0`,
      [Buffer.from(this.ground.world)],
    );
    for (const { world, first, seq, length } of rows as Record<'world' | 'first' | 'seq' | 'length', number>[]) {
      const flip = `UPDATE reprise.pack SET bytes = set_byte(bytes, $3, get_byte(bytes, $3) # 85) WHERE world = $1 AND seq = $2`;
      const values = [world, seq, (seq * 7919) % length];
      await this.#sql.query(flip, values);
      let next = 0;
      const readAll = async (): Promise<void> => {
        for await (const frame of (this.#reader as ReadonlyStore).journal.read(0)) this.#check(frame, next++);
      };
      await assert.rejects(readAll(), (error) => {
        assert.ok(isRepriseError(error, 'journal_damaged'), String(error));
        assert.match(
          String(error.details.where),
          first < seq ? new RegExp(`frames ${first} to ${seq}$`) : /frame \d+$/,
        );
        return true;
      });
      assert.equal(next, first, 'the frames before a damaged pack');
      await this.#sql.query(flip, values);
      this.#met.damages++;
    }
  }

  async made(): Promise<Made> {
    const { rows } = await this.#sql.query(
      `SELECT (SELECT count(*)::int FROM reprise.pack p WHERE p.world = w.id) AS frames,
         (SELECT count(*)::int FROM reprise.blob_pack p WHERE p.world = w.id) AS blobs
       FROM reprise.world w WHERE w.name = $1`,
      [Buffer.from(this.ground.world)],
    );
    return { ...this.#met, ...rows[0] };
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
