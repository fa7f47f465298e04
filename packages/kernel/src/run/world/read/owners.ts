/**
 * Tells, for a place of the journal, which cell owns an effect and which generation a cell was: for a reader of frames
 * who may see only some. Records name an effect by its id alone, and a cell without its generation.
 *
 * Invariants
 * L1  It is read from the frames themselves, from a place on; earlier owners are read when they are first asked for,
 *     from the newest snapshot before that place, so that it costs no more than opening there.
 * L2  It remembers the open effects, and the cells that were made anew. One that was forgotten yields an older
 *     generation, or no owner, and never another cell.
 */
import type { Address, JournalRecord, StateRecord } from '@reprise/contracts';
import { readFrame, readInputs } from '../../../ports/journal/frame.js';
import type { OpenStore } from '../../../ports/store/store.js';
import { decode, portableSha256 } from '../../../pure/codec/index.js';
import { cellKey, cellOf, type EffectLeaf } from '../../../pure/engine/index.js';
import { MerkleMap } from '../../../state/map/index.js';
import { ComputedNodes } from '../../../state/value-nodes.js';
import type { OpenLeaf } from '../ask/effect-leaves.js';

/** Cells made anew that are remembered while frames are read. */
const REMADE_CELLS_MAX = 65_536;

/** The owner of an effect; `inc` is undefined for the generation of the frame itself. */
export interface Owner {
  readonly cell: Address;
  readonly inc: number | undefined;
}

type Frame = readonly JournalRecord[];

/** Knows the owners of effects and the generations of cells, frame by frame. */
export class Owners {
  readonly #track = new Track();
  #past: Promise<Past> | undefined;

  /**
   * @param from the first frame that is read
   * @param open the effects that are open now, wherever the reading stands: their ids are never used again
   */
  constructor(
    private readonly store: Pick<OpenStore, 'journal' | 'content' | 'hash'>,
    private readonly from: number,
    open: readonly OpenLeaf[],
  ) {
    for (const { effect, leaf } of open) this.#track.owners.set(effect, ownerIn(leaf));
  }

  /** Call before a frame is read: its emissions are known from then on. */
  enter(frame: Frame): void {
    this.#track.enter(frame);
  }

  /** Call after a frame was read. */
  leave(frame: Frame): void {
    this.#track.leave(frame);
  }

  /** The owner of an effect of the frame; undefined when the ledger no longer has it. */
  async ownerOf(effect: string): Promise<Owner | undefined> {
    return this.#track.owners.get(effect) ?? (await this.#before()).track.owners.get(effect);
  }

  /** The generation of a cell before the frame. */
  async generationOf(cell: Address): Promise<number> {
    const remade = this.#track.remade.get(cell.join('\0'));
    return remade ?? (await (await this.#before()).generationOf(cell));
  }

  #before(): Promise<Past> {
    this.#past ??= pastOf(this.store, this.from);
    return this.#past;
  }
}

interface Past {
  readonly track: Track;
  generationOf(cell: Address): Promise<number>;
}

// L1
async function pastOf(
  { journal, content, hash = portableSha256 }: Pick<OpenStore, 'journal' | 'content' | 'hash'>,
  from: number,
): Promise<Past> {
  const track = new Track();
  const map = new MerkleMap(new ComputedNodes(content, hash), hash);
  const snapshot = await journal.findLast('snapshot', from - 1);
  const ingress = snapshot && readInputs(snapshot.bytes, snapshot.seq).ingress;
  const root = ingress?.kind === 'snapshot' ? ingress.root : undefined;
  if (root !== undefined) {
    for await (const { key, bytes } of map.entries(root, 'effect')) {
      track.owners.set(String(key.path[1]), ownerIn(decode(bytes) as unknown as EffectLeaf));
    }
  }
  for await (const { seq, bytes } of journal.read((snapshot?.seq ?? -1) + 1, from - 1)) {
    const frame = readFrame(bytes, seq).all;
    track.enter(frame);
    track.leave(frame);
  }
  return {
    track,
    generationOf: async (cell) => {
      const bytes = root && (await map.lookup(root, cellKey(cell)));
      const before = bytes === undefined ? 0 : (decode(bytes) as unknown as { readonly inc: number }).inc;
      return track.remade.get(cell.join('\0')) ?? before;
    },
  };
}

/** Reads what frames record about effects and cells, in order. */
class Track {
  readonly owners = new Map<string, Owner>();
  readonly remade = new Map<string, number>();

  enter(frame: Frame): void {
    const state = frame.at(-1) as StateRecord;
    const ended = settledAtOnce(frame);
    for (const [effect, cell] of emittedIn(frame)) {
      this.owners.set(effect, { cell, inc: ended.has(effect) ? undefined : generationIn(state, effect) });
    }
  }

  leave(frame: Frame): void {
    const { leaves } = frame.at(-1) as StateRecord;
    for (const [[kind, ...path], changed] of leaves) {
      if (kind === 'effect' && changed === null) this.owners.delete(String(path[0]));
      else if (kind === 'cell') this.#noteRemade(path.join('\0'), smallInt(changed?.inc));
    }
    for (const effect of settledAtOnce(frame)) this.owners.delete(effect);
  }

  // L2
  #noteRemade(cell: string, inc: number | undefined): void {
    if (inc === undefined || inc === 0) return;
    this.remade.delete(cell);
    this.remade.set(cell, inc);
    const [oldest] = this.remade.keys();
    if (this.remade.size > REMADE_CELLS_MAX && oldest !== undefined) this.remade.delete(oldest);
  }
}

/** The effects that a frame emits, or would have emitted, and their cells. */
function* emittedIn(frame: Frame): Generator<readonly [effect: string, cell: Address]> {
  for (const record of frame) {
    if (record.kind === 'effect') yield [record.effect, [record.plan[0], record.plan[1]]];
    if (record.kind !== 'denial' || record.effect === undefined) continue;
    const cell = cellOf(record.who);
    if (cell !== undefined) yield [record.effect, cell];
  }
}

/** The effects that were emitted and settled in the same frame, or denied: they never had a leaf. */
function settledAtOnce(frame: Frame): Set<string> {
  const emitted = new Set<string>();
  const ended = new Set<string>();
  for (const record of frame) {
    if (record.kind === 'effect') emitted.add(record.effect);
    else if (record.kind === 'settled' && emitted.has(record.effect)) ended.add(record.effect);
    else if (record.kind === 'denial' && record.effect !== undefined) ended.add(record.effect);
  }
  return ended;
}

/** The generation of the cell of an effect that was emitted in the frame; the first is not stated. */
function generationIn({ leaves }: StateRecord, effect: string): number {
  const leaf = leaves.find(([path]) => path[0] === 'effect' && path[1] === effect);
  return smallInt(leaf?.[1]?.inc) ?? 0;
}

function smallInt(field: Uint8Array | readonly unknown[] | undefined): number | undefined {
  return Array.isArray(field) && typeof field[0] === 'number' ? field[0] : undefined;
}

function ownerIn({ plan, inc = 0 }: EffectLeaf): Owner {
  return { cell: [plan[0], plan[1]], inc };
}
