/** Folds frames a second time, from bytes alone, as a replay would: a frame that differs must never become durable. */
import { type IngressRecord, RepriseError } from '@reprise/contracts';
import { equalBytes } from '../../../pure/codec/index.js';
import { type EngineEnv, foldIngress, Refusal, type SealedFrame } from '../../../pure/engine/index.js';
import { DecodedLeaves } from '../../../state/decoded-leaves.js';
import type { LeafTable } from '../../../state/leaf-table.js';
import { loaded } from '../../../state/loaded.js';

/** The collaborators of folding again. */
export interface SecondFoldParts {
  readonly env: EngineEnv;
  readonly table: LeafTable;
  /** One frame in so many; 1 is every frame, 0 none. */
  readonly recheckEvery: number;
}

/** Compares one frame in so many with its fold from bytes, without the caches of a running world. */
export class SecondFold {
  #folded = 0;

  constructor(private readonly parts: SecondFoldParts) {}

  /** Whether it is the turn of the next frame. Asked once for each. */
  isDue(): boolean {
    const { recheckEvery } = this.parts;
    return recheckEvery !== 0 && this.#folded++ % recheckEvery === 0;
  }

  /**
   * Folds a frame again.
   *
   * @throws RepriseError `nondeterminism` when the bytes differ
   */
  async compare(ingress: IngressRecord, armed: readonly string[], sealed: SealedFrame): Promise<void> {
    const again = await this.#executeAgain(ingress, armed);
    if (again !== undefined && equalBytes(again, sealed.bytes)) return;
    throw new RepriseError('nondeterminism', 'the same frame folded twice gave different bytes', {
      where: `frame ${ingress.seq}`,
      hint: 'A reducer or plan depends on something outside its state, its event and ctx: a captured variable, a clock, random.',
    });
  }

  /** The frame's bytes a second time; undefined when it cannot even be replayed. */
  async #executeAgain(ingress: IngressRecord, armed: readonly string[]): Promise<Uint8Array | undefined> {
    const { env, table } = this.parts;
    try {
      const leaves = new DecodedLeaves(table);
      const folded = await loaded(table, () => foldIngress({ app: env.app, hash: env.hash }, leaves, ingress));
      return folded.seal(armed).bytes;
    } catch (thrown) {
      if (thrown instanceof Refusal) return undefined;
      throw thrown;
    }
  }
}
