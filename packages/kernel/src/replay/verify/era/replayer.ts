/** Replays recorded frames one by one, and compares each whole frame in bytes. */
import {
  type IngressOf,
  type IngressRecord,
  isRepriseError,
  KERNEL_SEMANTICS,
  type Ref,
  RepriseError,
} from '@reprise/contracts';
import { nextHead } from '../../../ports/journal/chain.js';
import { damaged, type FrameInputs, readFrame, readInputs } from '../../../ports/journal/frame.js';
import type { Head, StoredFrame } from '../../../ports/journal/port.js';
import { equalBytes } from '../../../pure/codec/index.js';
import type { App } from '../../../pure/define/index.js';
import { type EngineEnv, foldIngress, type SealedFrame } from '../../../pure/engine/index.js';
import { DecodedLeaves, FROM_BYTES_EVERY } from '../../../state/decoded-leaves.js';
import type { LeafTable } from '../../../state/leaf-table.js';
import { loaded } from '../../../state/loaded.js';
import { divergenceError, explain, refused } from './divergence.js';

/** A frame that was replayed and gave the same bytes. */
interface Replayed {
  readonly inputs: FrameInputs;
  readonly frame: SealedFrame;
  readonly head: Head;
}

/** Follows the chain: the head after a stored frame, when the store's own head agrees. */
export function followChain(head: Head, stored: StoredFrame, hash: EngineEnv['hash']): Head {
  if (stored.seq !== head.seq + 1)
    throw damaged(head.seq + 1, `frame ${head.seq + 1} is missing: frame ${stored.seq} comes next`);
  const next = nextHead(head, stored.bytes, hash);
  if (next.digest !== stored.head) {
    throw damaged(stored.seq, `the frame's bytes do not lead to its recorded head`);
  }
  return next;
}

/** Refuses a row whose columns contradict its frame: people and indexes rely on the columns. */
export function checkColumns(stored: StoredFrame, ingress: IngressRecord): void {
  if (stored.kind === ingress.kind && stored.at === ingress.at) return;
  throw damaged(stored.seq, `the row says ${stored.kind} at ${stored.at}, the frame ${ingress.kind} at ${ingress.at}`);
}

/** Replays frames in order onto a leaf table. */
export class Replayer {
  constructor(
    private readonly env: EngineEnv,
    readonly table: LeafTable,
    /** The head before the next frame. */
    private at: Head,
    /** Folds every frame from bytes, and not only one in so many. */
    private readonly thorough = false,
  ) {}

  get app(): App {
    return this.env.app;
  }

  /** The head after the last frame. */
  get head(): Head {
    return this.at;
  }

  /**
   * Replays one frame.
   *
   * @throws RepriseError `journal_damaged`, `replay_divergence`, `semantics_unknown`, `blob_missing`
   */
  async step(stored: StoredFrame): Promise<Replayed> {
    const head = followChain(this.at, stored, this.env.hash);
    const inputs = readInputs(stored.bytes, stored.seq);
    checkColumns(stored, inputs.ingress);
    if (inputs.ingress.kind === 'manifest') requireSemantics(inputs.ingress);
    const frame = await this.#replay(inputs);
    if (!equalBytes(frame.bytes, stored.bytes)) {
      throw divergenceError(explain(stored.seq, readFrame(stored.bytes, stored.seq).all, frame.records));
    }
    if (inputs.ingress.kind === 'snapshot') await this.#checkSnapshot(inputs.ingress);
    this.table.apply(frame.changes);
    this.at = head;
    return { inputs, frame, head };
  }

  async #replay(inputs: FrameInputs): Promise<SealedFrame> {
    try {
      return await replayFrame(this.env, this.table, inputs, isFromBytes(inputs.ingress.seq, this.thorough));
    } catch (thrown) {
      throw isRepriseError(thrown) ? thrown : notAdmitted(inputs.ingress, refusalWords(thrown), thrown);
    }
  }

  async #checkSnapshot(ingress: IngressOf<'snapshot'>): Promise<void> {
    const computed = await this.table.snapshot();
    if (computed.ref.hex === ingress.root.hex && computed.leaves === ingress.leaves)
      return this.table.rebase(ingress.root);
    throw otherMap(ingress, computed.ref);
  }
}

/** Whether a frame is folded from bytes: every one in a thorough verification, otherwise one in so many. */
export function isFromBytes(seq: number, thorough: boolean): boolean {
  return thorough || seq % FROM_BYTES_EVERY === 0;
}

/**
 * Replays one frame from the recorded inputs.
 *
 * @param fromBytes decodes every leaf and rebuilds every plan that the frame needs, instead of using what was kept
 * @throws the fold's refusal of the ingress: {@link refusalWords} turns it into text
 */
export async function replayFrame(
  env: EngineEnv,
  table: LeafTable,
  { ingress, armed }: FrameInputs,
  fromBytes: boolean,
): Promise<SealedFrame> {
  const folded = await loaded(table, () =>
    fromBytes
      ? foldIngress({ app: env.app, hash: env.hash }, new DecodedLeaves(table), ingress)
      : foldIngress(env, table, ingress),
  );
  // An attempt at an effect that is no longer emitted is not regenerated, so the effect's record is what differs.
  const emitted = new Set(folded.emitted.map(({ effect }) => effect));
  const named = armed.map((one) => (typeof one === 'number' ? folded.effectAt(one) : one));
  return folded.seal(named.filter((effect) => effect !== undefined && emitted.has(effect)) as string[]);
}

/** The error for an ingress that was admitted when it was written, and is refused now. */
export function notAdmitted(ingress: IngressRecord, words: string, cause?: unknown): RepriseError {
  const divergence = refused(ingress, ingress.seq);
  return new RepriseError('replay_divergence', `frame ${ingress.seq} cannot be replayed: ${words}`, {
    where: `frame ${ingress.seq}, record 0 (${ingress.kind}), $`,
    divergence,
    hint: `Caused by ${divergence.cause.join(' ← ')}. When it was written this ingress was admitted. The app differs from the one that wrote it, or a frame before it was changed.`,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The error for a snapshot whose map differs from that of the state before it. */
export function otherMap({ seq, root }: IngressOf<'snapshot'>, computed: Ref | undefined): RepriseError {
  return new RepriseError('replay_divergence', `the state map at frame ${seq} differs from the recorded one`, {
    where: `frame ${seq}, record 0 (snapshot), $.root`,
    expected: root.toString(),
    actual: computed?.toString() ?? 'none',
    hint: 'Every frame before it was replayed identically, so the snapshot itself was changed or written wrongly.',
  });
}

/** Refuses a journal written under rules that this kernel does not know. */
export function requireSemantics(manifest: IngressOf<'manifest'>): void {
  if (manifest.semantics === KERNEL_SEMANTICS) return;
  throw new RepriseError('semantics_unknown', 'this journal was written under other kernel rules', {
    expected: KERNEL_SEMANTICS,
    actual: manifest.semantics,
    where: `frame ${manifest.seq}`,
    hint: 'Use the release that knows these rules.',
  });
}

/** The text of a fold's refusal. */
export function refusalWords(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null && 'what' in thrown) return String(thrown.what);
  return thrown instanceof Error ? thrown.message : 'the fold was refused';
}
