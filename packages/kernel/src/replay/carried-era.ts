/**
 * Performs an era with the code that its manifest links, in a capsule.
 *
 * Invariant: the chain, the columns, the rules' number and the comparison are this side's; the capsule only derives.
 */
import type { IngressOf, JournalRecord, Ref } from '@reprise/contracts';
import { equalBytes, type Hash } from '../codec/index.js';
import { readFrame, readInputs } from '../journal/frame.js';
import type { Head, StoredFrame } from '../journal/port.js';
import type { NodeStore } from '../map/index.js';
import { type Capsule, codeFailed, type LoadedCode, requireSamePins } from './capsule.js';
import { divergenceError, explain } from './divergence.js';
import { checkColumns, followChain, notAdmitted, otherMap, requireSemantics } from './replayer.js';

/** What begins an era: its manifest, the code that it links, and the state before it. */
export interface EraStart {
  readonly manifest: IngressOf<'manifest'>;
  readonly code: Uint8Array;
  /** The map of the snapshot before the manifest; undefined for the first era. */
  readonly root: Ref | undefined;
}

/** An era that is being performed by the code in its journal. */
export class CarriedEra {
  private constructor(
    private readonly code: LoadedCode,
    private readonly hash: Hash,
  ) {}

  /**
   * Loads the code and sets it before the era's first frame.
   *
   * @throws RepriseError `code_failed`, `code_mismatch`, `semantics_unknown`
   */
  static async begin(
    capsule: Capsule,
    start: EraStart,
    world: { readonly nodes: NodeStore; readonly hash: Hash },
  ): Promise<CarriedEra> {
    const { manifest, root } = start;
    requireSemantics(manifest);
    const code = await capsule.load(start.code);
    try {
      requireSamePins(code.pins, manifest, `frame ${manifest.seq}, $.code`);
      await code.begin(root ?? null, world.nodes);
      return new CarriedEra(code, world.hash);
    } catch (error) {
      await code.close();
      throw error;
    }
  }

  /**
   * Performs the next frame and compares it.
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
    const performed = await this.code.perform(inputs);
    if (performed.status === 'refused') throw notAdmitted(ingress, performed.words);
    const { bytes, made, map, touched } = performed;
    const { all } = readFrame(stored.bytes, stored.seq);
    if (!equalBytes(bytes, stored.bytes)) {
      throw divergenceError(explain(stored.seq, all, recordsIn(bytes, stored.seq)), touched);
    }
    if (ingress.kind === 'snapshot' && (map?.ref.hex !== ingress.root.hex || map.leaves !== ingress.leaves)) {
      throw otherMap(ingress, map?.ref);
    }
    return { head, all, made };
  }

  /** Ends the capsule. Idempotent. */
  close(): Promise<void> {
    return this.code.close();
  }
}

/** The records that a capsule gave. Only code that got hold of the engine itself can have made them no frame. */
function recordsIn(bytes: Uint8Array, seq: number): readonly JournalRecord[] {
  try {
    return readFrame(bytes, seq).all;
  } catch (cause) {
    throw codeFailed('the capsule gave something that is no frame', { where: `frame ${seq}`, cause });
  }
}
