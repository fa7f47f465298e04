/**
 * Makes a fork: a world of its own that begins with the frames of another, byte for byte.
 *
 * Invariants
 * N1  Until the fork's own first frame is durable, its store is noted as unfinished and cannot be opened as a world.
 *     A copy that a crash interrupted is continued.
 * N2  The whole original is replayed on the way: copied frames were verified, and the frames after the cut are known
 *     from replay, not from records that retell them.
 * N3  The fork is self-contained: its store has everything that its frames, state and stored receipts link.
 */
import {
  ERASE_DIGESTS_MAX,
  type IngressOf,
  type IngressRecord,
  type Ref,
  RepriseError,
  type Value,
} from '@reprise/contracts';
import { nextHead } from '../../ports/journal/chain.js';
import { damaged } from '../../ports/journal/frame.js';
import { EMPTY_HEAD, type Head, type StoredFrame } from '../../ports/journal/port.js';
import { isKeyed, requestKey } from '../../ports/journal/request-key.js';
import type { OpenStore, ReadonlyStore } from '../../ports/store/store.js';
import { systemRandom } from '../../ports/time/clock.js';
import { rescued } from '../../ports/time/maybe-promise.js';
import { requireApp, requireApps } from '../../pure/arguments/arguments.js';
import { requireReadable } from '../../pure/arguments/stores.js';
import { decode, encode, FRAME_DEPTH_MAX, type Hash, portableSha256, toHex } from '../../pure/codec/index.js';
import type { App } from '../../pure/define/index.js';
import { foldIngress, Refusal, type SealedFrame, WORLD_KEY, type WorldLeaf } from '../../pure/engine/index.js';
import { LeafTable } from '../../state/leaf-table.js';
import { loaded } from '../../state/loaded.js';
import { type MapRoot, MerkleMap } from '../../state/map/index.js';
import { ComputedNodes } from '../../state/value-nodes.js';
import { worldOf } from '../../state/world-leaf.js';
import { EraWalk, eraAt, type Owed, unverifiedEra } from '../verify/index.js';
import { Afterwards, type OpenAtCut } from './afterwards.js';
import { FORK_BYTES_MAX, FORK_OPEN_MAX } from './bounds.js';
import { ContentCopy } from './content-copy.js';
import { inheritanceOf, NO_INHERITANCE } from './inheritance.js';
import { OtherOutcomes } from './instead.js';
import { type ForkStoreOptions, requireForkOptions } from './options.js';
import { writeRecorded } from './recorded-receipts.js';
import { carryOut, finishForkAt, noteUnfinished, unfinishedFrame } from './unfinished.js';

/** A finished fork: its id, its head, and the frame of the cut. */
export interface MadeFork {
  readonly world: string;
  /** Its last frame and the chain digest after it. */
  readonly head: Head;
  /** The last frame that it shares with the original. */
  readonly at: number;
  /** The number of effects open there, which its first own frame settled. */
  readonly settled: number;
}

/** The part of a store that is read to make a fork. */
export type ForkSource = Pick<ReadonlyStore, 'journal' | 'content' | 'hash'>;

/** Frames, and bytes of frames, that are copied in one append. */
const BATCH_FRAMES = 512;
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Forks the world in a store.
 *
 * @throws RepriseError `invalid_argument` when the frame does not exist or is inside a cascade, or when the target
 *   store holds something else; `era_unverified` when no given app replays the cut; `account_unknown`,
 *   `bound_exceeded`, `world_locked`, and the errors of verifying the original
 * @example
 * const fork = await forkWorld(await sqlite('world.db').openReadonly(), { app, at: 150, into: sqlite('what-if.db') })
 */
export async function forkWorld(source: ForkSource, options: ForkStoreOptions): Promise<MadeFork> {
  requireReadable(source, 'forkWorld', 'source');
  requireForkOptions(options);
  requireApp(options.app);
  requireApps(options.legacy ?? []);
  const last = (await source.journal.head()).seq;
  const at = options.at ?? last;
  await requireCut(source, at, last);
  const into = await options.into.open();
  try {
    return await new Forking(source, into, { ...options, at, last }).make();
  } finally {
    await into.close();
  }
}

async function requireCut({ journal }: ForkSource, at: number, last: number): Promise<void> {
  if (at < 0 || at > last) {
    throw new RepriseError('invalid_argument', 'there is no such frame', { expected: `0 to ${last}`, actual: at });
  }
  for await (const next of journal.read(at + 1, at + 1)) {
    if (next.kind !== 'continue') continue;
    throw new RepriseError('invalid_argument', 'the frame is inside a cascade', {
      where: `frame ${at}`,
      hint: 'Fork after the last `continue` frame behind it.',
    });
  }
}

/** The world at the cut. */
interface Cut {
  readonly head: Head;
  readonly at: number;
  readonly root: MapRoot;
  /** The app that replays its era. */
  readonly app: App;
  readonly world: WorldLeaf;
  readonly open: readonly OpenAtCut[];
}

class Forking {
  readonly #hash: Hash;
  readonly #nodes: ComputedNodes;
  readonly #map: MerkleMap;
  readonly #copy: ContentCopy;
  #batch: StoredFrame[] = [];
  #batchBytes = 0;
  /** The head of the target store. */
  #made: Head = EMPTY_HEAD;
  /** Content that the fork itself adds. Other content of its store is from an earlier attempt, and may be erased by now. */
  readonly #own = new Set<string>();

  constructor(
    private readonly source: ForkSource,
    private readonly into: OpenStore,
    private readonly options: ForkStoreOptions & { readonly at: number; readonly last: number },
  ) {
    this.#hash = source.hash ?? portableSha256;
    this.#nodes = new ComputedNodes(source.content, this.#hash);
    this.#map = new MerkleMap(this.#nodes, this.#hash);
    const ownOf = (ref: Ref) => (this.#own.has(ref.hex) ? into.content.get(ref) : undefined);
    const get = async (ref: Ref) => (await this.#nodes.get(ref)) ?? ownOf(ref);
    const erasedBy = (ref: Ref) => source.content.erasedBy(ref);
    this.#copy = new ContentCopy({ get, erasedBy }, into.content);
  }

  async make(): Promise<MadeFork> {
    await this.#begin();
    const { at, last } = this.options;
    const walk = new EraWalk(this.#apps, this.#nodes, this.#hash); // N2
    let cut: Cut | undefined;
    let afterwards: Afterwards | undefined;
    for await (const stored of this.source.journal.read(0, last)) {
      const owed = await walk.step(stored);
      if (stored.seq <= at) await this.#take(stored, owed);
      else afterwards?.take(stored.seq, owed);
      if (stored.seq === at) {
        cut = await this.#cut(walk, stored, owed.all[0] as IngressRecord);
        afterwards = new Afterwards(cut.world.world);
      } else if (stored.kind === 'snapshot' && cut === undefined) this.#nodes.forget();
    }
    if (cut === undefined || afterwards === undefined) throw new TypeError('a cut beyond the head');
    await this.#flush();
    const ingress = await this.#ingress(cut, afterwards, walk);
    const made = await this.#end(cut, ingress);
    return { world: ingress.world, head: made, at, settled: ingress.settled.length };
  }

  get #apps(): readonly App[] {
    return [this.options.app, ...(this.options.legacy ?? [])];
  }

  // N1
  async #begin(): Promise<void> {
    const { at } = this.options;
    const durable = await this.into.journal.head();
    const unfinished = unfinishedFrame(this.into);
    if (durable.seq >= 0 && (unfinished === undefined || durable.seq >= unfinished || durable.seq > at)) {
      throw new RepriseError('invalid_argument', 'the target store is not empty', {
        where: 'into',
        actual: `${durable.seq + 1} frames`,
        hint: 'Fork into a new store.',
      });
    }
    await noteUnfinished(this.into, at + 1);
    this.#made = durable;
  }

  /**
   * Copies a frame, its linked content and the content made by replaying it. Frames already in the target are
   * compared. The links of all frames are followed, since only so erased content is found.
   */
  async #take(stored: StoredFrame, { all, made }: Owed): Promise<void> {
    const ingress = all[0] as IngressRecord;
    if (stored.seq === this.#made.seq && stored.head !== this.#made.digest) {
      throw new RepriseError('invalid_argument', 'the target store holds frames of another world', {
        where: `into, frame ${stored.seq}`,
        hint: 'Fork into a new store.',
      });
    }
    await this.#copy.linked([...all, ...made] as unknown as Value, `frame ${stored.seq}`);
    if (stored.seq > this.#made.seq) await this.#queue(stored, ingress);
    if (ingress.kind !== 'erase') return;
    await this.#flush();
    await carryOut(this.into.content, ingress);
    this.#copy.forget(ingress.digests);
  }

  async #queue(stored: StoredFrame, ingress: IngressRecord): Promise<void> {
    this.#batch.push({ ...stored, ...this.#keyOf(ingress) });
    this.#batchBytes += stored.bytes.length;
    if (this.#batch.length >= BATCH_FRAMES || this.#batchBytes >= BATCH_BYTES) await this.#flush();
  }

  #keyOf(ingress: IngressRecord): { readonly key?: string } {
    return isKeyed(ingress) ? { key: requestKey(ingress, this.#hash) } : {};
  }

  async #flush(): Promise<void> {
    if (this.#batch.length === 0) return;
    this.#made = await this.into.journal.append(this.#batch, this.#made);
    this.#batch = [];
    this.#batchBytes = 0;
  }

  /** The state at the cut. Content made in eras that could not be replayed is copied from the state itself. */
  async #cut({ replayed, eras }: EraWalk, stored: StoredFrame, ingress: IngressRecord): Promise<Cut> {
    if (replayed === undefined) throw await this.#sealed(stored.seq);
    const { table, app } = replayed;
    const root = await table.snapshot();
    if (eras.some(({ status }) => status === 'unverified')) await this.#copyLeaves(root);
    return {
      head: { seq: stored.seq, digest: stored.head },
      at: ingress.kind === 'clock' ? ingress.wall : stored.at,
      root,
      app,
      world: worldOf(table.get(WORLD_KEY)),
      open: openIn(table),
    };
  }

  async #copyLeaves({ ref }: MapRoot): Promise<void> {
    for (const kind of await this.#map.kinds(ref)) {
      for await (const { key, bytes } of this.#map.entries(ref, kind)) {
        await this.#copy.linked(decode(bytes, FRAME_DEPTH_MAX), key.path.join(' '));
      }
    }
  }

  async #sealed(seq: number): Promise<RepriseError> {
    const manifest = await eraAt(this.source.journal, seq);
    return manifest === undefined
      ? damaged(seq, 'no manifest opens this era')
      : unverifiedEra(seq, manifest, this.#apps);
  }

  async #ingress(cut: Cut, afterwards: Afterwards, walk: EraWalk): Promise<IngressOf<'fork'>> {
    const { options } = this;
    const mode = options.mode ?? 'dry';
    const dry = mode === 'dry';
    const other = new OtherOutcomes(options.instead ?? {}, cut.app);
    for (const bytes of other.contents) await this.#add(bytes);
    const recorded = dry ? other.among(afterwards.receiptsBut(cut.open)) : [];
    const settled = afterwards.settlementsOf(cut.open, other);
    other.requireUsed();
    await this.#copy.linked(recorded.map(({ receipt }) => receipt) as unknown as Value, 'the receipts after the cut');
    const inherited = dry ? NO_INHERITANCE : await this.#inheritance(cut, walk);
    const ingress: IngressOf<'fork'> = {
      kind: 'fork',
      seq: cut.head.seq + 1,
      at: cut.at,
      principal: 'operator',
      world: toHex((options.random ?? systemRandom)(32)),
      from: { world: cut.world.world, seq: cut.head.seq, head: cut.head.digest },
      mode,
      origins: dry ? afterwards.origins : [],
      settled,
      ...inherited,
      recorded: await writeRecorded({ put: (bytes) => this.#add(bytes) }, recorded),
    };
    requireBounded(ingress);
    return ingress;
  }

  async #inheritance({ root }: Cut, { replayed }: EraWalk) {
    if (replayed === undefined) throw await this.#sealed(this.options.last);
    return inheritanceOf({ map: this.#map, cut: root, table: replayed.table }, this.options);
  }

  /**
   * Appends the fork's first frame with its whole cascade, tombstones of what was erased from the original after the
   * cut, and a snapshot, so that it opens at once.
   */
  async #end(cut: Cut, ingress: IngressOf<'fork'>): Promise<Head> {
    const table = new LeafTable(new MerkleMap(this.#intoNodes(), this.#hash));
    await table.openAt(cut.root.ref);
    const frames: StoredFrame[] = [];
    const { at } = ingress;
    let head = this.#made;
    const add = async (given: IngressRecord): Promise<SealedFrame> => {
      const folded = await this.#fold(cut.app, table, given, head);
      frames.push(folded.stored);
      head = folded.head;
      return folded.unverified;
    };
    for (let made = await add(ingress); made.continues; ) {
      made = await add({ kind: 'continue', seq: head.seq + 1, at, principal: 'kernel' });
    }
    for (const digests of this.#tombstones(cut)) {
      const id = `erased before the fork ${ingress.world} ${head.seq}`;
      const target = { id, cell: null, subtree: false, digests };
      await add({ kind: 'erase', seq: head.seq + 1, at, principal: 'operator', ...target });
    }
    const { ref, leaves } = await table.snapshot();
    await this.#copy.linked(ref, 'the state of the fork');
    await add({ kind: 'snapshot', seq: head.seq + 1, at, principal: 'kernel', root: ref, leaves });
    await this.into.journal.append(frames, this.#made);
    await finishForkAt(this.into, ingress.seq);
    return head;
  }

  /** Content that the shared frames link and that was erased after the cut, without a tombstone among them. */
  #tombstones({ head }: Cut): string[][] {
    const digests = [...this.#copy.erased].filter(([, by]) => by > head.seq).map(([hex]) => hex);
    const lists: string[][] = [];
    for (let from = 0; from < digests.length; from += ERASE_DIGESTS_MAX) {
      lists.push(digests.slice(from, from + ERASE_DIGESTS_MAX));
    }
    return lists;
  }

  async #fold(app: App, table: LeafTable, ingress: IngressRecord, before: Head) {
    const env = { app, hash: this.#hash };
    const fold = () => foldIngress(env, table, ingress).seal([]);
    const unverified = await rescued(() => loaded(table, fold), asError);
    for (const { bytes } of unverified.staged) await this.#add(bytes);
    await this.#copy.linked(unverified.records as unknown as Value, `frame ${ingress.seq} of the fork`);
    table.apply(unverified.changes);
    const head = nextHead(before, unverified.bytes, this.#hash);
    const { kind, seq, at } = ingress;
    const stored: StoredFrame = { seq, at, kind, head: head.digest, bytes: unverified.bytes, ...this.#keyOf(ingress) };
    return { stored, unverified, head };
  }

  async #add(bytes: Uint8Array): Promise<Ref> {
    const ref = await this.into.content.put(bytes);
    this.#own.add(ref.hex);
    return ref;
  }

  /** Reads the original's nodes and those computed from it; new ones are written into the fork. */
  #intoNodes() {
    return {
      get: this.#nodes.get.bind(this.#nodes),
      putValue: async (bytes: Uint8Array) => {
        await this.into.content.put(bytes);
        return this.#nodes.putValue(bytes);
      },
    };
  }
}

/** The effects that wait for an outcome, in the order in which they were emitted. */
function openIn(table: LeafTable): OpenAtCut[] {
  return [...table.list('effect')]
    .map(({ key, leaf }) => ({ effect: String(key.path[1]), leaf }))
    .filter(({ leaf }) => leaf.late === undefined)
    .sort(({ leaf: { queued: a } }, { leaf: { queued: b } }) => a[0] - b[0] || a[1] - b[1]);
}

function requireBounded(ingress: IngressOf<'fork'>): void {
  const open = ingress.settled.length;
  const bytes = encode(ingress, FRAME_DEPTH_MAX).length;
  if (open <= FORK_OPEN_MAX && bytes <= FORK_BYTES_MAX) return;
  throw new RepriseError('bound_exceeded', 'too many effects are open at this frame for a fork to settle', {
    where: `frame ${ingress.from.seq}`,
    expected: `at most ${FORK_OPEN_MAX} effects and ${FORK_BYTES_MAX} bytes`,
    actual: `${open} effects and ${bytes} bytes`,
    hint: 'Fork at a frame where fewer effects are open.',
  });
}

function asError(thrown: unknown): never {
  if (thrown instanceof Refusal) throw new RepriseError(thrown.code, thrown.what, thrown.facts);
  throw thrown;
}
