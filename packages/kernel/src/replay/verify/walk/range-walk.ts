/** Verifies a range of a journal, and collects what only the whole journal can judge. */
import type { IngressRecord, Value } from '@reprise/contracts';
import type { BlobShare } from '../../../ports/content/port.js';
import { damaged } from '../../../ports/journal/frame.js';
import { EMPTY_HEAD, type ReadableJournal, type StoredFrame } from '../../../ports/journal/port.js';
import type { ReadonlyStore } from '../../../ports/store/store.js';
import { linksOf, portableSha256 } from '../../../pure/codec/index.js';
import type { App } from '../../../pure/define/index.js';
import { ComputedNodes } from '../../../state/value-nodes.js';
import type { Sandbox } from '../era/sandbox.js';
import { ContentWalk, mayLink, readBlobs, type Verified } from './content-walk.js';
import { EraWalk } from './era-walk.js';
import { Erasures } from './erasures.js';
import { checkIndexes } from './indexes.js';
import { toPortable } from './portable-error.js';
import { Progress } from './progress.js';
import type { Boundary, RangeFound, RangeResult, RangeTask, SharedBlobs, Told } from './range.js';

/** What replays the eras of a range. */
export interface RangeCode {
  readonly apps: readonly App[];
  /** Replays eras with the code that the journal itself carries. */
  readonly code?: Sandbox;
  /** Folds every frame from bytes. */
  readonly thorough?: boolean;
}

/** A walk through a range. */
export class RangeWalk {
  readonly #eras: EraWalk;
  readonly #nodes: ComputedNodes;
  readonly #content: ContentWalk;
  readonly #erasures = new Erasures();
  readonly #newest = new Map<string, number>();
  readonly #endReads: (() => void) | undefined;
  #start: Boundary = GENESIS;
  #records = 0;
  #isExpected = false;

  constructor(
    private readonly store: ReadonlyStore,
    { apps, code, thorough }: RangeCode,
    private readonly expect: string | undefined,
  ) {
    const { content } = store;
    this.#endReads = store.readTurnByTurn?.();
    this.#nodes = new ComputedNodes(content, this.#hash);
    this.#eras = new EraWalk(apps, this.#nodes, this.#hash, code && { sandbox: code, content }, thorough);
    this.#content = new ContentWalk(content);
  }

  /** What was found so far. */
  get found(): RangeFound {
    return {
      status: 'verified',
      start: this.#start,
      end: this.#place,
      records: this.#records,
      eras: this.#eras.eras,
      newest: [...this.#newest],
      erased: this.#erasures.named,
      lastErase: this.#erasures.last,
      gone: this.#content.gone.map(({ ref: { hex, kind }, where }) => ({ hex, kind, where })),
      isExpected: this.#isExpected,
    };
  }

  /** Whether a blob was read already, and so was found sound. */
  hasRead(hex: string): boolean {
    return this.#content.hasRead(hex);
  }

  /** Begins after a snapshot. @returns where that is, with all that the frames after it are derived from */
  async begin({ after, manifest }: Pick<RangeTask, 'after' | 'manifest'>): Promise<Boundary> {
    if (after < 0) return this.#start;
    const { journal } = this.store;
    await this.#eras.resume(await frameAt(journal, after), await frameAt(journal, manifest));
    this.#start = this.#place;
    return this.#start;
  }

  /** Takes the frames up to `to`, or all that there are. */
  async through(to: number | undefined, progress: Progress): Promise<void> {
    const from = this.#start.seq + 1;
    for await (const stored of this.store.journal.read(from, to)) {
      await this.#take(stored);
      await progress.step({ frames: stored.seq + 1 - from });
    }
  }

  /** Ends what still replays, and its way of reading. Idempotent. */
  close(): Promise<void> {
    this.#endReads?.();
    return this.#eras.close();
  }

  async #take(stored: StoredFrame): Promise<void> {
    const { all, made, links } = await this.#eras.step(stored);
    const ingress = all[0] as IngressRecord;
    await checkIndexes(this.store.journal, stored, ingress, this.#hash);
    this.#newest.set(stored.kind, stored.seq);
    this.#erasures.take(ingress);
    if (stored.kind === 'snapshot') this.#nodes.forget();
    this.#records += all.length;
    this.#isExpected ||= this.#eras.head.digest === this.expect;
    const where = `frame ${stored.seq}`;
    const named = links ?? (mayLink(stored.bytes) ? linksOf(all as unknown as Value) : []);
    if (named.length > 0) await this.#content.from(named, where);
    if (made.length > 0) await this.#content.from(made, where);
  }

  get #hash() {
    return this.store.hash ?? portableSha256;
  }

  get #place(): Boundary {
    const { head, root, eras } = this.#eras;
    return { seq: head.seq, head: head.digest, root: root?.hex ?? null, manifest: eras.at(-1)?.from ?? -1 };
  }
}

/** The place before the first frame. */
const GENESIS: Boundary = { seq: EMPTY_HEAD.seq, head: EMPTY_HEAD.digest, root: null, manifest: -1 };

async function frameAt(journal: Pick<ReadableJournal, 'read'>, seq: number): Promise<StoredFrame> {
  for await (const stored of journal.read(seq, seq)) if (stored.seq === seq) return stored;
  throw damaged(seq, 'the frame is missing');
}

/**
 * Verifies one range, for a worker of {@link VerifyWorkers}. Never rejects.
 *
 * @param tell called now and then with the number of verified frames
 */
export async function verifyRange(
  store: ReadonlyStore,
  task: RangeTask,
  code: RangeCode,
  tell: (progress: Told) => void,
): Promise<RangeResult> {
  let start: Boundary | undefined;
  const walk = new RangeWalk(store, code, task.expect);
  try {
    start = await walk.begin(task);
    const progress = new Progress(0, tell);
    await walk.through(task.to, progress);
    progress.end();
    return walk.found;
  } catch (error) {
    return { status: 'defect', error: toPortable(error), ...(start === undefined ? {} : { start }) };
  } finally {
    await walk.close();
  }
}

/** Reads the blobs of a share, for a worker of {@link VerifyWorkers}. Never rejects. */
export function readShare(store: Verified, share: BlobShare, tell: (progress: Told) => void): Promise<SharedBlobs> {
  const progress = new Progress(0, tell);
  return readBlobs(store, share, (blobs) => progress.step({ blobs })).then(
    (blobs) => {
      progress.end();
      return { blobs };
    },
    () => ({}),
  );
}
