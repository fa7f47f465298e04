/** The manifests that a world writes: of its first era, and of each that begins when its app changes. */
import { type IngressOf, KERNEL_SEMANTICS, type PlanAddress, type PolicyRule } from '@reprise/contracts';
import { encode, equalBytes } from '../codec/index.js';
import { pinsOf } from '../define/index.js';
import type { WorldLeaf } from '../engine/index.js';
import type { EraChange } from '../replay/index.js';
import type { RandomBytes } from '../time/clock.js';
import type { Stamps } from './ingress.js';
import { drawHex, type OpenWorldOptions } from './options.js';

/** The policy of a world that is given none: everything. */
const OPEN_POLICY: readonly PolicyRule[] = [
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
  { erase: '*', who: '*', decision: 'allow' },
];

type Manifest = IngressOf<'manifest'>;

/** The first record of a new world: drawn once, since a frame may be made again. */
export function firstManifest(options: OpenWorldOptions, random: RandomBytes): (stamps: Stamps) => Manifest {
  const identity = { world: drawHex(random, 32), seed: drawHex(random, 32) };
  const policy = [...(options.policy ?? OPEN_POLICY)];
  return (stamps) => ({
    kind: 'manifest',
    ...stamps,
    principal: 'host',
    ...identity,
    semantics: KERNEL_SEMANTICS,
    ...pinsOf(options.app),
    policy,
  });
}

/** Whether a policy is given that is not the one of the era. */
export function isOtherPolicy(policy: OpenWorldOptions['policy'], world: WorldLeaf): boolean {
  return policy !== undefined && !equalBytes(encode(policy), encode(world.policy));
}

/** An era that begins for its policy alone. */
export const NO_CHANGE: EraChange = { added: [], dropped: [], compatible: [], migrates: [], inFlight: [] };

/** The record that begins another era: the world stays, the definitions are the app's, and the policy when one is given. */
export function nextManifest(
  { app, policy }: Pick<OpenWorldOptions, 'app' | 'policy'>,
  world: WorldLeaf,
  change: EraChange,
): (stamps: Stamps) => Manifest {
  const cancels = change.inFlight.map(({ plan }): PlanAddress => [...plan]);
  return (stamps) => ({
    kind: 'manifest',
    ...stamps,
    principal: 'host',
    world: world.world,
    seed: world.seed,
    semantics: world.semantics,
    ...pinsOf(app),
    policy: [...(policy ?? world.policy)],
    ...(change.compatible.length === 0 ? {} : { compatible: [...change.compatible] }),
    ...(cancels.length === 0 ? {} : { cancels }),
  });
}
