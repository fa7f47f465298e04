/** Identities and entropy, all derived from journaled facts: the same in every replay, different between worlds. */
import type { Address, PlanAddress, Value } from '@reprise/contracts';
import { encodeKernel, fromHex, type Hash, toHex } from '../../codec/index.js';

/** The parts of an effect's identity. No frame number: a fork must find the same effect again. */
interface EffectIdentity {
  readonly world: string;
  readonly plan: PlanAddress;
  readonly planName: string;
  readonly generation: number;
  readonly emission: number;
  readonly kind: string;
  readonly params: Value;
}

/** The id of an effect, which is also its idempotency key: 64 hex digits. */
export function effectId(of: EffectIdentity, hash: Hash): string {
  const { world, plan, planName, generation, emission, kind, params } = of;
  const cell = [plan[0], plan[1]];
  const identity = { world, cell, generation, plan: planName, ordinal: plan[2], emission, kind, params };
  return toHex(hash(encodeKernel(identity)));
}

/** The entropy of one delivery to one cell. */
export class DeliveryEntropy {
  #seed: Uint8Array | undefined;
  #drawn = 0;

  constructor(
    private readonly of: {
      readonly seed: string;
      readonly cell: Address;
      readonly generation: number;
      readonly n: number;
    },
    private readonly hash: Hash,
  ) {}

  /** An identifier: 32 hex digits. */
  id(label: string): string {
    return toHex(this.#draw(['id', label])).slice(0, 32);
  }

  /** A number in [0, 1) of 53 bits. */
  random(): number {
    const bytes = this.#draw(['random']);
    let high = 0;
    for (let i = 0; i < 3; i++) high = high * 256 + (bytes[i] ?? 0);
    let low = 0;
    for (let i = 3; i < 7; i++) low = low * 256 + (bytes[i] ?? 0);
    // 21 bits and 32 bits: exact in a double, no power operator (engines differ there).
    return ((high >> 3) * 4_294_967_296 + low) / 9_007_199_254_740_992;
  }

  #draw(label: readonly string[]): Uint8Array {
    this.#seed ??= this.hash(encodeKernel([fromHex(this.of.seed), this.of.cell, this.of.generation, this.of.n]));
    return this.hash(encodeKernel([this.#seed, ...label, this.#drawn++]));
  }
}
