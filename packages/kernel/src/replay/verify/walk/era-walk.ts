/**
 * Walks a journal era by era: replays an era when the journal's code or a given app has exactly its definitions, and
 * follows the others.
 *
 * Invariants
 * E1  An era is replayed by one app, or by the code that its own manifest links, whose pins are exactly its
 *     manifest's; otherwise the whole era is unverified.
 * E2  A frame counts as replayed only when it was replayed and gave the recorded bytes.
 * E3  After an unverified era the next one starts from the map of the snapshot before its manifest.
 */
import type { IngressOf, IngressRecord, JournalRecord, Ref } from '@reprise/contracts';
import type { ContentReader } from '../../../ports/content/port.js';
import { damaged, readFrame, readInputs } from '../../../ports/journal/frame.js';
import { EMPTY_HEAD, type Head, type StoredFrame } from '../../../ports/journal/port.js';
import type { Hash } from '../../../pure/codec/index.js';
import type { App } from '../../../pure/define/index.js';
import type { SettledEffect } from '../../../pure/engine/index.js';
import { LeafTable } from '../../../state/leaf-table.js';
import { MerkleMap, type NodeStore } from '../../../state/map/index.js';
import { CarriedEra } from '../era/carried-era.js';
import { appFor } from '../era/eras.js';
import { checkColumns, followChain, Replayer } from '../era/replayer.js';
import type { Sandbox } from '../era/sandbox.js';
import { UnverifiedLedger } from './unverified.js';

/** One era of a journal, and the result of verifying it. */
export interface VerifiedEra {
  /** The frame of its manifest. */
  readonly from: number;
  readonly to: number;
  /** `unverified`: no given app has its definitions, so only its chain, shape, content and receipts were checked. */
  readonly status: 'replayed' | 'unverified';
  /** The digest of the code in the journal that replayed it; absent when an app did. */
  readonly code?: string;
}

/** The source of the code that manifests link, and the sandbox that runs it. */
interface CarriedCode {
  readonly sandbox: Sandbox;
  readonly content: Pick<ContentReader, 'get'>;
}

/** A frame's records, and the content that replaying it makes, which state may link by digest alone. */
export interface Owed {
  readonly all: readonly JournalRecord[];
  /** The links in the records; undefined when nobody has listed them yet. */
  readonly links?: readonly Ref[];
  readonly made: readonly Ref[];
  /** How effects were settled; known only for a frame that an app replayed. */
  readonly settled: readonly SettledEffect[];
}

/** A walk through a journal. */
export class EraWalk {
  readonly #eras: VerifiedEra[] = [];
  readonly #map: MerkleMap;
  readonly #ledger: UnverifiedLedger;
  #head: Head = EMPTY_HEAD;
  /** Replays the current era; undefined while it is unverified, and while the journal's own code replays it. */
  #replayer: Replayer | undefined;
  #carried: CarriedEra | undefined;
  /** The map of the last frame, when that was a snapshot. */
  #root: Ref | undefined;

  constructor(
    private readonly apps: readonly App[],
    readonly nodes: NodeStore,
    readonly hash: Hash,
    private readonly code?: CarriedCode,
    private readonly thorough = false,
  ) {
    this.#map = new MerkleMap(nodes, hash);
    this.#ledger = new UnverifiedLedger(this.#map);
  }

  /** The head after the last frame. */
  get head(): Head {
    return this.#head;
  }

  /** The map that the last frame names; undefined unless it is a snapshot. */
  get root(): Ref | undefined {
    return this.#root;
  }

  /** The state after the last frame, and the app that replays its era; undefined without such an app. */
  get replayed(): { readonly table: LeafTable; readonly app: App } | undefined {
    return this.#replayer && { table: this.#replayer.table, app: this.#replayer.app };
  }

  /** The eras so far, in order. */
  get eras(): readonly VerifiedEra[] {
    return this.#eras;
  }

  /**
   * Begins after a snapshot in the middle of the journal, as if all frames up to it had been taken.
   *
   * @param snapshot its frame, whose head is taken as it is recorded
   * @param manifest the frame of its era's manifest
   * @throws RepriseError `journal_damaged`, `semantics_unknown`, `blob_missing`, `blob_damaged`, `code_mismatch`,
   *   `code_failed`
   */
  async resume(snapshot: StoredFrame, manifest: StoredFrame): Promise<void> {
    const [end, begin] = [snapshot, manifest].map(({ bytes, seq }) => readInputs(bytes, seq).ingress);
    if (end?.kind !== 'snapshot') throw damaged(snapshot.seq, 'a snapshot is expected here', 0);
    if (begin?.kind !== 'manifest') throw damaged(manifest.seq, 'a manifest is expected here', 0);
    this.#head = { seq: snapshot.seq, digest: snapshot.head };
    this.#root = end.root;
    await this.#open(begin, undefined);
    this.#eras.push({ ...(this.#eras.pop() as VerifiedEra), to: snapshot.seq });
  }

  /**
   * Takes the next frame.
   *
   * @throws RepriseError `journal_damaged`, `replay_divergence`, `semantics_unknown`, `blob_missing`, `code_mismatch`,
   *   `code_failed`
   */
  async step(stored: StoredFrame): Promise<Owed> {
    if (stored.kind === 'manifest') await this.#begin(stored);
    const era = this.#eras.pop();
    if (era === undefined) {
      followChain(this.#head, stored, this.hash); // a missing first frame is reported as such
      throw damaged(stored.seq, 'the first frame is not a manifest', 0);
    }
    const owed = await this.#take(stored);
    const ingress = owed.all[0] as IngressRecord;
    this.#root = ingress.kind === 'snapshot' ? ingress.root : undefined;
    this.#eras.push({ ...era, to: stored.seq });
    return owed;
  }

  /** Ends what still replays. Idempotent. */
  async close(): Promise<void> {
    const carried = this.#carried;
    this.#carried = undefined;
    await carried?.close();
  }

  #take(stored: StoredFrame): Promise<Owed> {
    if (this.#replayer !== undefined) return this.#replay(this.#replayer, stored);
    return this.#carried === undefined ? this.#follow(stored) : this.#replayCarried(this.#carried, stored);
  }

  /** A manifest opens an era: only here it is decided what replays it. */
  async #begin(stored: StoredFrame): Promise<void> {
    followChain(this.#head, stored, this.hash);
    const { ingress } = readInputs(stored.bytes, stored.seq);
    checkColumns(stored, ingress);
    const root = this.#root;
    if (root === undefined && stored.seq > 0) throw damaged(stored.seq, 'this manifest does not follow a snapshot', 0);
    await this.#open(ingress as IngressOf<'manifest'>, this.#replayer?.table);
  }

  /** Decides what replays an era, and prepares it. @param table the state before the next frame, when it is at hand */
  async #open(manifest: IngressOf<'manifest'>, table: LeafTable | undefined): Promise<void> {
    const root = this.#root;
    this.#replayer = undefined;
    await this.close();
    const code = await this.#codeOf(manifest);
    const app = code === undefined ? appFor(manifest, this.apps) : undefined; // E1
    if (code !== undefined && this.code !== undefined) {
      this.#carried = await CarriedEra.begin(
        this.code.sandbox,
        { manifest, code, root, thorough: this.thorough },
        this,
      );
    } else if (app !== undefined) {
      const start = table ?? (await this.#tableAt(root)); // E3
      this.#replayer = new Replayer({ app, hash: this.hash, plans: new WeakMap() }, start, this.#head, this.thorough);
    } else if (root !== undefined) {
      await this.#ledger.begin(root);
    }
    const status = this.#replayer === undefined && this.#carried === undefined ? 'unverified' : 'replayed'; // E2
    const by = this.#carried === undefined || manifest.code === undefined ? {} : { code: manifest.code.hex };
    this.#eras.push({ from: manifest.seq, to: manifest.seq, status, ...by });
  }

  /** The code that a manifest links; undefined when it links none, when it was erased, or without a sandbox. */
  async #codeOf({ code }: IngressOf<'manifest'>): Promise<Uint8Array | undefined> {
    return code === undefined ? undefined : this.code?.content.get(code);
  }

  async #tableAt(root: Ref | undefined): Promise<LeafTable> {
    const table = new LeafTable(this.#map);
    if (root !== undefined) await table.openAt(root);
    return table;
  }

  async #replay(replayer: Replayer, stored: StoredFrame): Promise<Owed> {
    const { frame, head } = await replayer.step(stored);
    this.#head = head;
    return { all: frame.records, links: frame.links, made: frame.staged.map(({ ref }) => ref), settled: frame.settled };
  }

  async #replayCarried(carried: CarriedEra, stored: StoredFrame): Promise<Owed> {
    const { head, all, made } = await carried.step(this.#head, stored);
    this.#head = head;
    return { all, made, settled: [] };
  }

  async #follow(stored: StoredFrame): Promise<Owed> {
    const head = followChain(this.#head, stored, this.hash);
    const { ingress, all } = readFrame(stored.bytes, stored.seq);
    checkColumns(stored, ingress);
    await this.#ledger.follow(stored.seq, all);
    this.#head = head;
    return { all, made: [], settled: [] };
  }
}
