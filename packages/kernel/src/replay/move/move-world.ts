/**
 * Moves a world into another store, byte for byte.
 *
 * Invariants
 * M1  Both stores are open for writing all the while, so nobody else uses the world.
 * M2  The world can be opened in one of the stores at most: the other one has a note (`notes.ts`). A crash at any place
 *     leaves it where it was, or in neither until the move is run again, which continues.
 *     A move that is killed leaves the store that it comes from unclosed; its note there tells it from a process that used
 *     the world.
 * M3  The world counts as moved only after every frame, every key of a request and every blob of one store was found in
 *     the other, with the same bytes.
 */
import { type IngressOf, type Ref, RepriseError } from '@reprise/contracts';
import { readInputs } from '../../ports/journal/frame.js';
import { EMPTY_HEAD, type Head, type Journal, type StoredFrame } from '../../ports/journal/port.js';
import { isKeyed, requestKey } from '../../ports/journal/request-key.js';
import type { OpenStore, Store } from '../../ports/store/store.js';
import { requireStore } from '../../pure/arguments/stores.js';
import { equalBytes, type Hash, portableSha256 } from '../../pure/codec/index.js';
import { carryOut, unfinishedFrame } from '../fork/unfinished.js';
import {
  isLeaving,
  isMovedInto,
  movedTo,
  noteLeaving,
  noteMoved,
  noteMoving,
  noteUnsettled,
  unsettledNote,
} from './notes.js';

/** The world that is in use in the new store. */
export interface MovedWorld {
  /** The last frame, and the chain digest after it. */
  readonly head: Head;
  /** The number of blobs that the world has. */
  readonly blobs: number;
}

/** Frames, and bytes of frames, that one append moves. */
const BATCH_FRAMES = 512;
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Moves the world of a store into another store: between a file and a database, for example. Afterwards it can be opened
 * in the new store only; the old one keeps its copy, for readers, and the world can be moved back into it. Every byte is
 * compared before that. A move that was interrupted is continued by the same call.
 *
 * @param from its world is closed, and its last process closed it cleanly
 * @param to an empty store, or the one from which this world was moved before
 * @throws RepriseError `world_locked` while either is in use; `world_absent` without a world; `invalid_argument` when the
 *   target holds something else, or the world was not closed cleanly; `world_elsewhere` when it has moved already;
 *   `journal_damaged`, `blob_damaged`, `store_failed`
 * @example
 * const { head } = await moveWorld(sqlite('home.db'), database.world('home'));
 */
export async function moveWorld(from: Store, to: Store): Promise<MovedWorld> {
  requireStore(from, 'moveWorld', 'from');
  requireStore(to, 'moveWorld', 'to');
  await (await from.openReadonly?.())?.close(); // a world that is missing is not made
  const source = await from.open();
  try {
    const head = await requireWhole(source);
    const elsewhere = movedTo(source);
    if (elsewhere !== undefined && elsewhere !== to.label) throw hasMoved(elsewhere); // before the target is made
    const target = await to.open(); // M1
    try {
      return await new Moving(source, target, to.label).move(head);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

class Moving {
  readonly #hash: Hash;

  constructor(
    private readonly source: OpenStore,
    private readonly target: OpenStore,
    private readonly label: string,
  ) {
    this.#hash = source.hash ?? portableSha256;
  }

  async move(head: Head): Promise<MovedWorld> {
    const { source, target } = this;
    this.#requireHere();
    const copied = await this.#requireTarget(head);
    await noteMoving(target);
    await this.#copyErasures();
    await this.#copyContent();
    await this.#copyFrames(copied, head);
    const blobs = await this.#compare(head); // M3
    await noteMoved(source, this.label);
    await target.mark(null);
    return { head, blobs };
  }

  /** M2: a move that was interrupted between its two last notes ends now. */
  #requireHere(): void {
    const to = movedTo(this.source);
    if (to === undefined || (to === this.label && isMovedInto(this.target))) return;
    throw hasMoved(to);
  }

  /** @returns the head that the target has already */
  async #requireTarget(head: Head): Promise<Head> {
    const { target } = this;
    const copied = await target.journal.head();
    if (copied.seq < 0 && unfinishedFrame(target) === undefined) return EMPTY_HEAD;
    const isOurs = isMovedInto(target) || movedTo(target) !== undefined;
    if (isOurs && copied.seq <= head.seq && (await headAt(this.source.journal, copied.seq)) === copied.digest)
      return copied;
    throw new RepriseError('invalid_argument', 'the target of a move holds another world, or a copy that is in use', {
      where: 'to',
      actual: `${copied.seq + 1} frames`,
      hint: 'Move it into a new store, or back into the one from which it was moved.',
    });
  }

  /** Before the content: a blob that was stored again after its erasure must stay. */
  async #copyErasures(): Promise<void> {
    for (const erasure of await erasuresOf(this.source.journal)) {
      await carryOut(this.source.content, erasure); // one that a failing disk has left unfinished
      await carryOut(this.target.content, erasure);
    }
  }

  /** It becomes durable with the frames. What the target has besides was erased or left behind here meanwhile. */
  async #copyContent(): Promise<void> {
    const { source, target } = this;
    for await (const ref of source.content.list()) {
      if (await target.content.has(ref)) continue;
      await target.content.put(await wholeBlob(source, ref));
    }
  }

  async #copyFrames(copied: Head, head: Head): Promise<void> {
    let last = copied;
    let batch: StoredFrame[] = [];
    let bytes = 0;
    const append = async (): Promise<void> => {
      if (batch.length > 0) last = await this.target.journal.append(batch, last);
      [batch, bytes] = [[], 0];
    };
    for await (const frame of this.source.journal.read(copied.seq + 1, head.seq)) {
      batch.push(this.#keyed(frame));
      bytes += frame.bytes.length;
      if (batch.length >= BATCH_FRAMES || bytes >= BATCH_BYTES) await append();
    }
    await append();
  }

  /** A frame as it is appended: with the key of its request, which no reader returns. */
  #keyed(frame: StoredFrame): StoredFrame {
    const { ingress } = readInputs(frame.bytes, frame.seq);
    return isKeyed(ingress) ? { ...frame, key: requestKey(ingress, this.#hash) } : frame;
  }

  /** @returns the number of blobs */
  async #compare(head: Head): Promise<number> {
    const { source, target } = this;
    const moved = await target.journal.head();
    if (moved.seq !== head.seq || moved.digest !== head.digest) throw differs('the head', moved.seq);
    const others = target.journal.read(0, head.seq)[Symbol.asyncIterator]();
    for await (const frame of source.journal.read(0, head.seq)) {
      const { value: other } = await others.next();
      if (other === undefined || !sameFrame(frame, other)) throw differs('a frame', frame.seq);
      const { key } = this.#keyed(frame);
      if (key !== undefined && (await target.journal.findKey(key)) !== (await source.journal.findKey(key)))
        throw differs('the key of a request', frame.seq);
    }
    return this.#compareContent();
  }

  async #compareContent(): Promise<number> {
    const { source, target } = this;
    let blobs = 0;
    for await (const ref of source.content.list()) {
      blobs++;
      await wholeBlob(target, ref); // a store checks the digest of what it reads
      if ((await target.content.erasedBy(ref)) !== (await source.content.erasedBy(ref)))
        throw differs('a tombstone', ref);
    }
    if ((await target.content.erasedThrough()) !== (await source.content.erasedThrough()))
      throw differs('the erasures', '');
    return blobs;
  }
}

/**
 * Requires a world that a move can take with it: nothing is under way that only its store knows of.
 *
 * @returns its head
 */
async function requireWhole(source: OpenStore): Promise<Head> {
  const head = await source.journal.head();
  if (head.seq < 0) throw new RepriseError('world_absent', 'there is no world to move', { where: 'from' });
  const isCopy = unfinishedFrame(source) !== undefined || isMovedInto(source);
  const isClosed = source.cleanlyClosed && unsettledNote(source) === undefined;
  if (!isCopy && movedTo(source) !== undefined) return head;
  if (!isCopy && (isClosed || isLeaving(source))) {
    await noteLeaving(source);
    return head;
  }
  if (!isCopy) await noteUnsettled(source);
  throw new RepriseError('invalid_argument', 'a world that is moved has to be whole, and closed', {
    where: 'from',
    actual: isCopy ? 'it is an unfinished copy' : 'its last process ended without closing it',
    hint: isCopy
      ? 'Finish the copy first.'
      : 'Open it with its app and close it: what was under way is settled then. Move it afterwards.',
  });
}

async function wholeBlob({ content }: OpenStore, ref: Ref): Promise<Uint8Array> {
  const bytes = await content.get(ref);
  if (bytes !== undefined) return bytes;
  throw new RepriseError('blob_missing', 'a blob that is listed cannot be read', { where: ref.toString() });
}

/** All erasures, the oldest first. */
async function erasuresOf(journal: Journal): Promise<readonly IngressOf<'erase'>[]> {
  const found: IngressOf<'erase'>[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const frame = await journal.findLast('erase', before);
    if (frame === undefined) return found.reverse();
    const { ingress } = readInputs(frame.bytes, frame.seq);
    if (ingress.kind === 'erase') found.push(ingress);
    before = frame.seq - 1;
  }
}

async function headAt(journal: Journal, seq: number): Promise<string | undefined> {
  if (seq < 0) return EMPTY_HEAD.digest;
  for await (const frame of journal.read(seq, seq)) return frame.head;
  return undefined;
}

function sameFrame(one: StoredFrame, other: StoredFrame): boolean {
  return (
    one.seq === other.seq &&
    one.at === other.at &&
    one.kind === other.kind &&
    one.head === other.head &&
    equalBytes(one.bytes, other.bytes)
  );
}

function hasMoved(to: string): RepriseError {
  return new RepriseError('world_elsewhere', 'this world has moved already', {
    ...{ where: 'from', actual: to },
    hint: 'If that move was interrupted, run it again with the target as it is written here.',
  });
}

function differs(what: string, where: unknown): RepriseError {
  return new RepriseError('store_failed', `the moved world differs from the original in ${what}`, {
    where: String(where),
    hint: 'The world stays where it was. Remove what was copied and try again; is the storage of the target failing?',
  });
}
