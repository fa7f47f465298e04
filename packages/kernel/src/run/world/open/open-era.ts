/** Begins a world, or the era in which another app, policy or code writes it. */
import { RepriseError } from '@reprise/contracts';
import type { OpenStore } from '../../../ports/store/store.js';
import type { RandomBytes } from '../../../ports/time/clock.js';
import type { EngineEnv, WorldLeaf } from '../../../pure/engine/index.js';
import type { CurrentEra } from '../../../replay/verify/era/current-era.js';
import type { LeafTable } from '../../../state/leaf-table.js';
import type { Snapshots } from '../write/snapshots.js';
import type { Stepper } from '../write/stepper.js';
import { codeToRecord, firstManifest, isOtherCode, isOtherPolicy, NO_CHANGE, nextManifest } from './era.js';
import type { OpenKernelWorldOptions } from './options.js';

/** The collaborators of opening an era. */
interface EraParts {
  readonly options: OpenKernelWorldOptions;
  readonly store: OpenStore;
  readonly table: LeafTable;
  readonly stepper: Stepper;
  readonly snapshots: Snapshots;
  readonly random: RandomBytes;
  readonly hash: EngineEnv['hash'];
  worldLeaf(): WorldLeaf;
}

/** Writes the manifest of a new world, or, after a snapshot, of the era that begins with another app, policy or code. */
export async function openEra(parts: EraParts, era: CurrentEra | undefined): Promise<void> {
  if (era === undefined) await beginWorld(parts);
  else if (!era.same || isAmended(parts, era)) await beginEra(parts, era);
}

async function beginWorld({ options, store, stepper, random }: EraParts): Promise<void> {
  // Frames appeared after the manifest was looked for: another writer makes this world, without the lock.
  if (stepper.head.seq >= 0) {
    const hint = 'Find the other writer; a world may have only one.';
    throw new RepriseError('fenced', 'another writer is making this world', { hint });
  }
  const make = firstManifest(options, random, await codeToRecord(options, store, undefined));
  await stepper.commitAlone(make);
}

async function beginEra(parts: EraParts, era: CurrentEra): Promise<void> {
  const { options, store, snapshots } = parts;
  const { changeOfEra, refuseInFlight } = await import('../../../replay/verify/era/upgrade.js');
  const change = era.same ? NO_CHANGE : await changeOfEra(era, options.app, parts.table);
  if (options.plansInFlight !== 'cancel') refuseInFlight(change);
  const make = nextManifest(options, parts.worldLeaf(), change, await codeToRecord(options, store, era));
  // Each era can be replayed from the snapshot before it, even when the app of the era before is gone.
  if (snapshots.framesSince > 0) await snapshots.take();
  await parts.stepper.commitAlone(make);
}

/** Whether the definitions are those of the era but another part of its manifest differs. */
function isAmended({ options, hash, worldLeaf }: EraParts, era: CurrentEra): boolean {
  return isOtherPolicy(options, worldLeaf()) || isOtherCode(options.code, era, hash);
}
