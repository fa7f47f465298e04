/** The golden heads of the scenarios: the pinned values, and how they are computed. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { agentApp } from '@reprise/agent';
import { KERNEL_SEMANTICS, type Value } from '@reprise/contracts';
import { encode, verifyStore } from '@reprise/kernel';
import { SCENARIOS } from './index.js';
import { PROFILE_NAMES, type ProfileName } from './profiles.js';
import { type Otherwise, type Replayed, replay } from './run-scenario.js';
import type { Scenario } from './scenario.js';

/** The values that a golden file pins for one scenario on one protocol. */
export interface GoldenScenario {
  /** The chain digest after the last frame. */
  readonly head: string;
  readonly frames: number;
  readonly records: number;
  /** The sha-256 of the canonical bytes of the run's events. */
  readonly events: string;
}

/** Scenario → protocol → the pinned values. */
export type GoldenScenarios = Readonly<Record<string, Readonly<Partial<Record<ProfileName, GoldenScenario>>>>>;

const FILE = fileURLToPath(new URL(`../golden/${KERNEL_SEMANTICS}/scenarios.json`, import.meta.url));

/** The pinned values under the present semantics. */
export function readGoldens(): GoldenScenarios {
  return JSON.parse(readFileSync(FILE, 'utf8')) as GoldenScenarios;
}

/** Pins. */
export function writeGoldens(goldens: GoldenScenarios): void {
  writeFileSync(FILE, `${JSON.stringify(goldens, null, 2)}\n`);
}

/** The values to pin for a run. Verifies its world on the way. */
export async function goldenOf({ store, events }: Pick<Replayed, 'store' | 'events'>): Promise<GoldenScenario> {
  const { head, frames, records } = await verifyStore(await store.openReadonly(), { app: agentApp });
  const bytes = encode(events as unknown as Value);
  return { head: head.digest, frames, records, events: createHash('sha256').update(bytes).digest('hex') };
}

/** Performs scenarios on every protocol that they are recorded on. */
export async function computeGoldens(
  scenarios: readonly Scenario[] = SCENARIOS,
  otherwise: Otherwise = {},
): Promise<GoldenScenarios> {
  const computed: Record<string, Partial<Record<ProfileName, GoldenScenario>>> = {};
  for (const scenario of scenarios) {
    const own: Partial<Record<ProfileName, GoldenScenario>> = {};
    for (const profile of PROFILE_NAMES) own[profile] = await goldenOf(await replay(scenario, profile, otherwise));
    computed[scenario.name] = own;
  }
  return computed;
}
