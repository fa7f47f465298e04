/** A world in the database, as a store of the kernel. */
import { present, RepriseError } from '@reprise/contracts';
import type { Head, ObjectStore, OpenStore, ReadonlyStore, Store, StoreStatus, Tenure } from '@reprise/kernel';
import { assertConsecutive, closable, closableReadonly, hostSha256, movedTo } from '@reprise/kernel/driver';
import type { KeptPacks } from '@reprise/packs';
import { digest, one, whole } from '../connection/columns.js';
import type { Connections } from '../connection/driver.js';
import { fenced, ownedBy, type Taken, type TakeParts, takeWorld } from '../tenure/take.js';
import type { Witness } from '../witness/witness.js';
import { removeUnfinished } from './blobs.js';
import type { Committer } from './committer.js';
import { contentReader, Staged, stagingContent } from './content.js';
import type { Followers } from './followers.js';
import { journalReader, ownedHead } from './journal.js';
import { type Packer, WorldPacks } from './packer.js';
import type { OwnedPlace, Tables, WorldPlace } from './place.js';
import { type RowContent, requireSealing, Sealer, type Sealing } from './seals.js';

/** What all worlds of a process share in a database. */
export interface Shared extends TakeParts {
  readonly committer: Committer;
  readonly packer: Packer;
  readonly kept: KeptPacks;
  readonly tables: Tables;
  readonly objects: ObjectStore | undefined;
  readonly sealing: Sealing | undefined;
  readonly witness?: Witness;
}

/** Connects when it is asked first. */
interface Entrances {
  /** For an owner: prepares the tables. */
  shared(): Promise<Shared>;
  /** For a reader: requires the tables, and writes nothing. */
  reading(): Promise<Reading>;
}

/** What a reader of any world of the database has. */
export interface Reading extends Pick<WorldPlace, 'objects' | 'sealing' | 'tables' | 'kept'> {
  readonly connections: Connections;
  /** Absent where the tables do not say who follows. */
  readonly followers?: Followers;
}

/** The store of a world. */
export function worldStore({ shared, reading }: Entrances, label: string, name: string): Store {
  const where = `${label}#${name}`;
  return {
    label: where,
    open: async () => openForWriting(await shared(), name, where),
    openReadonly: async () => openForReading(await reading(), name, where),
  };
}

async function openForWriting(shared: Shared, name: string, where: string): Promise<OpenStore> {
  const taken = await takeWorld(shared, name, where);
  try {
    return await opened(shared, taken, { name, where });
  } catch (error) {
    await taken.refuse().catch(() => undefined);
    throw error;
  }
}

async function opened(
  shared: Shared,
  taken: Taken,
  { name, where }: { readonly name: string; readonly where: string },
): Promise<OpenStore> {
  const { connections, committer, objects, sealing, kept, tables, packer, witness } = shared;
  const { id, epoch, incarnation } = taken;
  const reading: WorldPlace = { connections, objects, sealing, kept, tables, where, id };
  const { markAtOpen, unpacked, last, isSealed, hasErased } = await found(reading);
  const sealer = sealing && new Sealer(sealing, hasErased);
  const place: OwnedPlace = { ...reading, epoch, incarnation, sealer };
  const reader = journalReader(place);
  // Also what `head` finds: an append whose answer was lost is acknowledged after it.
  const saw = (head: Head): Head => {
    const [seq, digest] = [head.seq, head.digest];
    if (seq >= 0) witness?.saw({ ...{ world: name, seq, head: digest }, epoch, incarnation, at: Date.now() });
    return head;
  };
  const staged = new Staged();
  if (taken.before !== 'clean') await removeUnfinished(place); // first: what is refused below is closed cleanly
  if (isSealed) requireSealing(place); // without keys it would store plain content, and erase content without its key
  await witness?.requireHead({ name, id, incarnation, where, head: last, journal: reader });
  const packs = new WorldPacks(packer, place, () => taken.lease.holds(), unpacked);
  return closable(
    {
      journal: {
        ...reader,
        head: async () => saw(await ownedHead(place)),
        append: async (frames, expected) => {
          assertConsecutive(frames, expected);
          const waiting = staged.all();
          const append = (blobs: readonly RowContent[]): Promise<Head> =>
            committer.append(place, { world: id, epoch, incarnation, expected, frames, blobs });
          const head = await (sealer === undefined ? append(plain(waiting)) : sealer.write(place, waiting, append));
          saw(head);
          staged.remove(waiting.map(([hex]) => hex));
          const blobs = sealer === undefined ? waiting.map(([, bytes]) => bytes) : []; // sealed ones are not packed
          packs.added({ frames: sum(frames.map(({ bytes }) => bytes)), blobs: sum(blobs) });
          return head;
        },
      },
      content: stagingContent(place, staged, (bytes) => packs.added({ frames: 0, blobs: bytes })),
      hash: hostSha256(),
      cleanlyClosed: taken.before === 'clean',
      ended: taken.before,
      tenure: tenureOf(taken),
      markAtOpen,
      answerFor: (fold) => taken.lease.folds.during(place.id, fold),
      mark: (note) => setColumn(place, 'mark', note),
      post: (text) => setColumn(place, 'posted', text),
      close: async () => {
        await packs.close();
        await taken.release();
      },
    },
    where,
  );
}

function tenureOf({ epoch, lease }: Taken): Tenure {
  return { epoch, holds: () => lease.holds(), lost: lease.lost };
}

/** What an opening finds in the row of its world. */
interface Found {
  /** The note of the opening before. */
  readonly markAtOpen: string | null;
  /** How many frames wait for packing, those that are too large for a pack included. */
  readonly unpacked: number;
  readonly last: Head;
  /** Whether an owner with keys has had the world. */
  readonly isSealed: boolean;
  readonly hasErased: boolean;
}

async function found({ connections, id, where }: WorldPlace): Promise<Found> {
  const sql = `SELECT mark, seq - packed_through, seq, head, sealed,
    EXISTS (SELECT FROM reprise.tombstone t WHERE t.world = w.id) FROM reprise.world w WHERE id = $1`;
  const [mark, unpacked, seq, head, sealed, erased] = one(await connections.rows('read the note', sql, [id])) ?? [];
  return {
    markAtOpen: mark == null ? null : String(mark),
    unpacked: whole(unpacked, where),
    last: { seq: whole(seq, where), digest: digest(head, where) },
    isSealed: sealed === true,
    hasErased: erased === true,
  };
}

function plain(blobs: readonly (readonly [hex: string, bytes: Uint8Array])[]): readonly RowContent[] {
  return blobs.map(([hex, bytes]) => ({ hex, bytes, isSealed: false }));
}

function sum(all: readonly Uint8Array[]): number {
  return all.reduce((total, { length }) => total + length, 0);
}

async function setColumn(place: OwnedPlace, column: 'mark' | 'posted', text: string | null): Promise<void> {
  const { connections, id, epoch, where } = place;
  const sql = `UPDATE reprise.world SET ${column} = $3 WHERE ${ownedBy(place)} RETURNING true`;
  if ((await connections.rows('note', sql, [id, epoch, text])).length === 0) throw fenced(where);
}

async function openForReading(reading: Reading, name: string, where: string): Promise<ReadonlyStore> {
  const { connections, followers } = reading;
  const row = one(
    await connections.rows('open the world', 'SELECT id FROM reprise.world WHERE name = $1', [
      Buffer.from(name, 'utf8'),
    ]),
  );
  if (row === undefined)
    throw new RepriseError('world_absent', 'no world of this name is in the database', {
      where,
      hint: 'Open it for writing to create one.',
    });
  const place: WorldPlace = { ...reading, where, id: whole(row[0], where) };
  const following = new Set<() => void>();
  const store: ReadonlyStore = {
    journal: journalReader(place),
    content: contentReader(place),
    hash: hostSha256(),
    status: () => statusOf(place),
    ...(followers === undefined
      ? {}
      : { changed: (call: () => void) => kept(following, followers.follow(place.id, call)) }),
    close: async () => {
      for (const stop of [...following]) stop(); // its connections are shared
    },
  };
  return closableReadonly(store, where);
}

/** What is to be stopped, in a list until it is. */
function kept(all: Set<() => void>, stop: () => void): () => void {
  const stopped = (): void => {
    all.delete(stopped);
    stop();
  };
  all.add(stopped);
  return stopped;
}

/** The last opening, by the lease of its process. */
async function statusOf({ connections, id, where }: WorldPlace): Promise<StoreStatus> {
  const row = one(
    await connections.rows(
      'read the status',
      `SELECT w.owner IS NULL, h.id IS NOT NULL AND NOT h.closed AND h.expires > clock_timestamp(), h.died, w.posted, w.mark
       FROM reprise.world w LEFT JOIN reprise.host h ON h.id = w.owner WHERE w.id = $1`,
      [id],
    ),
  );
  if (row === undefined) throw new RepriseError('world_absent', 'the world was removed', { where });
  const [isFree, isHeld, died, posted, mark] = row;
  if (isFree === true)
    return { writer: 'closed', ...present({ movedTo: movedTo({ markAtOpen: mark === null ? null : String(mark) }) }) };
  if (isHeld !== true) return { writer: died === true ? 'died' : 'unknown' };
  return posted === null ? { writer: 'open' } : { writer: 'open', posted: String(posted) };
}
