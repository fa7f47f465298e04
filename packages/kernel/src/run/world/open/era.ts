/** The manifests that a world writes: of its first era, and of each era that begins when its app changes. */
import { type IngressOf, KERNEL_SEMANTICS, type PlanAddress, type PolicyRule, type Ref } from '@reprise/contracts';
import type { OpenStore } from '../../../ports/store/store.js';
import type { RandomBytes } from '../../../ports/time/clock.js';
import { encode, equalBytes, type Hash } from '../../../pure/codec/index.js';
import { pinsOf } from '../../../pure/define/index.js';
import type { WorldLeaf } from '../../../pure/engine/index.js';
import type { CurrentEra } from '../../../replay/verify/era/current-era.js';
import { codeRef, requireSamePins } from '../../../replay/verify/era/sandbox.js';
import type { EraChange } from '../../../replay/verify/era/upgrade.js';
import type { Stamps } from '../write/ingress.js';
import { drawHex, type OpenKernelWorldOptions, policyFrom } from './options.js';

/** The policy of a world that is opened without one: everything is allowed. */
const OPEN_POLICY: readonly PolicyRule[] = [
  { effect: '*', decision: 'allow' },
  { send: '*', decision: 'allow' },
  { erase: '*', who: '*', decision: 'allow' },
];

type Manifest = IngressOf<'manifest'>;

/** The first record of a new world. Its random values are drawn once, since a frame may be made again. */
export function firstManifest(
  options: OpenKernelWorldOptions,
  random: RandomBytes,
  code: Ref | undefined,
): (stamps: Stamps) => Manifest {
  const identity = { world: drawHex(random, 32), seed: drawHex(random, 32) };
  const policy = [...(chosenPolicy(options, undefined) ?? OPEN_POLICY)];
  return (stamps) => ({
    kind: 'manifest',
    ...stamps,
    principal: 'operator',
    ...identity,
    semantics: KERNEL_SEMANTICS,
    ...pinsOf(options.app),
    policy,
    ...(code === undefined ? {} : { code }),
  });
}

type Choice = Pick<OpenKernelWorldOptions, 'policy' | 'app'>;

/** The policy that an opening asks for: the given one, or the app's while the world has none. */
function chosenPolicy({ policy, app }: Choice, world: WorldLeaf | undefined): readonly PolicyRule[] | undefined {
  const isOpen = world === undefined || equalBytes(encode(world.policy), encode(OPEN_POLICY));
  if (typeof policy === 'function') return policyFrom(policy, isOpen ? undefined : world.policy);
  if (policy !== undefined || app.policy === undefined) return policy;
  return isOpen ? app.policy : undefined;
}

/** Whether the requested policy differs from that of the era. */
export function isOtherPolicy(options: Choice, world: WorldLeaf): boolean {
  const policy = chosenPolicy(options, world);
  return policy !== undefined && !equalBytes(encode(policy), encode(world.policy));
}

/** An era that begins only because of its policy. */
export const NO_CHANGE: EraChange = { added: [], dropped: [], compatible: [], fitting: [], migrates: [], inFlight: [] };

/**
 * The record that begins another era: the same world, the definitions of the app, and the policy if one is given.
 *
 * @param code the pure code of these definitions, when it is recorded
 */
export function nextManifest(
  options: Pick<OpenKernelWorldOptions, 'app' | 'policy'>,
  world: WorldLeaf,
  change: EraChange,
  code: Ref | undefined,
): (stamps: Stamps) => Manifest {
  const cancels = change.inFlight.map(({ plan }): PlanAddress => [...plan]);
  return (stamps) => ({
    kind: 'manifest',
    ...stamps,
    principal: 'operator',
    world: world.world,
    seed: world.seed,
    semantics: world.semantics,
    ...pinsOf(options.app),
    policy: [...(chosenPolicy(options, world) ?? world.policy)],
    ...(change.compatible.length === 0 ? {} : { compatible: [...change.compatible] }),
    ...(cancels.length === 0 ? {} : { cancels }),
    ...(code === undefined ? {} : { code }),
  });
}

/**
 * The code that the next manifest links. Given code is stored once a sandbox has shown that it defines what the app
 * does; without any, the code of an era with the same definitions stays.
 *
 * @throws RepriseError `code_mismatch`, `code_failed`
 */
export async function codeToRecord(
  { app, code }: Pick<OpenKernelWorldOptions, 'app' | 'code'>,
  { content }: Pick<OpenStore, 'content'>,
  era: CurrentEra | undefined,
): Promise<Ref | undefined> {
  if (code !== undefined) {
    requireSamePins(await code.pins(), pinsOf(app), 'code');
    return content.put(code.bytes);
  }
  const before = era?.same === true ? era.manifest.code : undefined;
  return before !== undefined && (await content.has(before)) ? before : undefined;
}

/** Whether the given code differs from that of the era. */
export function isOtherCode(code: OpenKernelWorldOptions['code'], { manifest }: CurrentEra, hash: Hash): boolean {
  return code !== undefined && codeRef(code.bytes, hash).hex !== manifest.code?.hex;
}
