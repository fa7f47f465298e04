/**
 * Replays an era with the code that its manifest links, in a sandbox.
 *
 * Invariant: this side checks the chain, the columns, the rules' number and the bytes; the sandbox only derives.
 */
import type { IngressOf, JournalRecord, Ref } from '@reprise/contracts';
import { readFrame, readInputs } from '../../../ports/journal/frame.js';
import type { Head, StoredFrame } from '../../../ports/journal/port.js';
import { equalBytes, type Hash } from '../../../pure/codec/index.js';
import type { NodeStore } from '../../../state/map/index.js';
import { divergenceError, explain } from './divergence.js';
import { checkColumns, followChain, isFromBytes, notAdmitted, otherMap, requireSemantics } from './replayer.js';
import { codeFailed, type LoadedCode, requireSamePins, type Sandbox } from './sandbox.js';

/** The start of an era: its manifest, the code that it links, and the state before it. */
interface EraStart {
  readonly manifest: IngressOf<'manifest'>;
  readonly code: Uint8Array;
  /** The map of the snapshot before the manifest; undefined for the first era. */
  readonly root: Ref | undefined;
  /** Every frame is folded from bytes. */
  readonly thorough: boolean;
}

/** An era that is being replayed by the code in its journal. */
export class CarriedEra {
  private constructor(
    private readonly code: LoadedCode,
    private readonly hash: Hash,
    private readonly thorough: boolean,
  ) {}

  /**
   * Loads the code and prepares it for the era's first frame.
   *
   * @throws RepriseError `code_failed`, `code_mismatch`, `semantics_unknown`
   */
  static async begin(
    sandbox: Sandbox,
    start: EraStart,
    world: { readonly nodes: NodeStore; readonly hash: Hash },
  ): Promise<CarriedEra> {
    const { manifest, root } = start;
    requireSemantics(manifest);
    const code = await sandbox.load(start.code);
    try {
      requireSamePins(code.pins, manifest, `frame ${manifest.seq}, $.code`);
      await code.begin(root ?? null, world.nodes);
      return new CarriedEra(code, world.hash, start.thorough);
    } catch (error) {
      await code.close();
      throw error;
    }
  }

  /**
   * Replays the next frame and compares it.
   *
   * @throws RepriseError `journal_damaged`, `replay_divergence`, `code_failed`
   */
  async step(
    before: Head,
    stored: StoredFrame,
  ): Promise<{ readonly head: Head; readonly all: readonly JournalRecord[]; readonly made: readonly Ref[] }> {
    const head = followChain(before, stored, this.hash);
    const inputs = readInputs(stored.bytes, stored.seq);
    const { ingress } = inputs;
    checkColumns(stored, ingress);
    const replayed = await this.code.replay(inputs, isFromBytes(stored.seq, this.thorough));
    if (replayed.status === 'refused') throw notAdmitted(ingress, replayed.words);
    const { bytes, made, map, touched } = replayed;
    const { all } = readFrame(stored.bytes, stored.seq);
    if (!equalBytes(bytes, stored.bytes)) {
      throw divergenceError(explain(stored.seq, all, recordsIn(bytes, stored.seq)), touched);
    }
    if (ingress.kind === 'snapshot' && (map?.ref.hex !== ingress.root.hex || map.leaves !== ingress.leaves)) {
      throw otherMap(ingress, map?.ref);
    }
    return { head, all, made };
  }

  /** Ends the sandbox; a second call does nothing. */
  close(): Promise<void> {
    return this.code.close();
  }
}

/** The records that a sandbox returned. Only code that got hold of the engine itself can have made an invalid frame. */
function recordsIn(bytes: Uint8Array, seq: number): readonly JournalRecord[] {
  try {
    return readFrame(bytes, seq).all;
  } catch (cause) {
    throw codeFailed('the sandbox returned an invalid frame', { where: `frame ${seq}`, cause });
  }
}
