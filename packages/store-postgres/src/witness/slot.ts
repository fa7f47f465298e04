/**
 * A slot of a witness: the last acknowledged heads of worlds, as one process writes them, in one object.
 *
 * Invariants
 * W1  A slot names at most {@link SLOT_WORLDS_MAX} worlds. Beyond it those go whose last acknowledgment is the oldest, and the
 *     slot says up to when it is no longer complete.
 * W2  What a slot names of another process is kept by the next one that overwrites it.
 */
import { fieldsOf, isDigest, isWhole, RepriseError } from '@reprise/contracts';
import { decode, encode } from '@reprise/kernel';

/** A head that was acknowledged. */
export interface WitnessedHead {
  readonly world: string;
  readonly seq: number;
  /** The digest of the frame, as 64 hex digits. */
  readonly head: string;
  /** The number of the opening that has written it. */
  readonly epoch: number;
  /** The incarnation of the database in which it was written. */
  readonly incarnation: string;
  /** When it was acknowledged, by the clock of its process, in milliseconds since 1970. */
  readonly at: number;
}

/**
 * The worlds that a slot names at most: some 90 bytes each, 0.4 MB together. A restore of a moment is compared with the worlds
 * that were written since, so this is the number of worlds that one process writes between the moment of a backup and its loss.
 */
export const SLOT_WORLDS_MAX = 4096;

/** The slots of a witness: that many processes of a database can have worlds open at a time. */
export const SLOTS_MAX = 256;

/** What the object of a slot says. */
export interface SlotContent {
  readonly heads: readonly WitnessedHead[];
  /** The time of the newest head that had no room any more; 0 for none. */
  readonly droppedThrough: number;
}

/** The name of a slot. @param database the id of the database @param slot from 0 to 255 */
export function slotName(database: string, slot: number): string {
  return `witness/${database}/${String(slot).padStart(3, '0')}`;
}

/** The heads that one process writes. */
export class Slot {
  /** By incarnation and world, the newest last. */
  readonly #heads = new Map<string, WitnessedHead>();
  #droppedThrough = 0;

  /** Names a head that was acknowledged, in place of the last one of its world. */
  saw(head: WitnessedHead): void {
    const key = keyOf(head);
    this.#heads.delete(key);
    this.#heads.set(key, head);
    if (this.#heads.size <= SLOT_WORLDS_MAX) return;
    for (const [oldest, { at }] of this.#heads) {
      this.#droppedThrough = Math.max(this.#droppedThrough, at); // W1
      this.#heads.delete(oldest);
      return;
    }
  }

  /** Keeps what the slot named before this process had it (W2). */
  inherit({ heads, droppedThrough }: SlotContent): void {
    this.#droppedThrough = Math.max(this.#droppedThrough, droppedThrough);
    const own = [...this.#heads.values()];
    this.#heads.clear();
    const newest = new Map<string, WitnessedHead>();
    for (const head of [...heads, ...own]) {
      const key = keyOf(head);
      if ((newest.get(key)?.seq ?? -1) <= head.seq) newest.set(key, head);
    }
    for (const head of [...newest.values()].sort((a, b) => a.at - b.at)) this.saw(head);
  }

  /** The last head of a world in an incarnation; undefined for none. */
  of(incarnation: string, world: string): WitnessedHead | undefined {
    return this.#heads.get(keyOf({ incarnation, world }));
  }

  get content(): SlotContent {
    return { heads: [...this.#heads.values()], droppedThrough: this.#droppedThrough };
  }
}

/** One chain of a world in one incarnation: there the larger frame is the later one. */
function keyOf({ incarnation, world }: Pick<WitnessedHead, 'incarnation' | 'world'>): string {
  return `${incarnation} ${world}`;
}

const FORMAT = 1;

/** The bytes of a slot. */
export function writeSlot({ heads, droppedThrough }: SlotContent): Uint8Array {
  const incarnations = [...new Set(heads.map(({ incarnation }) => incarnation))];
  const places = new Map(incarnations.map((incarnation, n) => [incarnation, n]));
  return encode({
    format: FORMAT,
    dropped: droppedThrough,
    incarnations,
    heads: heads.map(({ world, seq, head, epoch, incarnation, at }) => [
      ...[world, seq, new Uint8Array(Buffer.from(head, 'hex')), epoch, places.get(incarnation) ?? 0, at],
    ]),
  });
}

/** Reads a slot. @param where its name, for the error @throws RepriseError `store_failed` for what no process has written */
export function readSlot(bytes: Uint8Array, where: string): SlotContent {
  try {
    const { format, dropped, incarnations, heads } = fieldsOf(decode(bytes));
    if (format !== FORMAT || !isWhole(dropped, 0) || !isTexts(incarnations) || !Array.isArray(heads))
      throw new TypeError('it has other fields');
    return { droppedThrough: dropped, heads: heads.map((one: unknown) => headOf(one, incarnations)) };
  } catch (cause) {
    throw new RepriseError('store_failed', 'a slot of the witness cannot be read', {
      where,
      hint: 'It was changed or is of another release. Put an older version of the object back, or remove it if it is lost.',
      cause,
    });
  }
}

function headOf(one: unknown, incarnations: readonly string[]): WitnessedHead {
  const [world, seq, head, epoch, place, at] = Array.isArray(one) ? (one as readonly unknown[]) : [];
  const digest = head instanceof Uint8Array ? Buffer.from(head).toString('hex') : '';
  const incarnation = typeof place === 'number' ? incarnations[place] : undefined;
  if (typeof world !== 'string' || !isWhole(seq, 0) || !isDigest(digest) || incarnation === undefined)
    throw new TypeError('a head has other fields');
  if (!isWhole(epoch, 0) || !isWhole(at, 0)) throw new TypeError('a head has other numbers');
  return { world, seq, head: digest, epoch, incarnation, at };
}

function isTexts(thing: unknown): thing is readonly string[] {
  return Array.isArray(thing) && thing.every((one) => typeof one === 'string');
}
