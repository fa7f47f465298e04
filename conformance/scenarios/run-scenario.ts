/** Replays scenarios from recorded wire bytes: a store in memory, time that stands still, chance of a seed. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Store } from '@reprise/kernel';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import { quickMemory } from '../quick-memory.js';
import { type Played, play, type Setting } from './play.js';
import { type ProfileName, WIRE_PROFILES } from './profiles.js';
import type { Scenario } from './scenario.js';
import { readTape, type Tape } from './tape.js';
import { TapePlayer } from './tape-player.js';

/** The number of frames between two snapshots: few, so that the shortest world has several. */
const SNAPSHOT_EVERY = 2;

/** The address for clients; no server listens there. */
const NOWHERE = 'http://provider.invalid/v1';

/** The path of the tape of a scenario. */
export function tapeFile(profile: ProfileName, scenario: string): string {
  return fileURLToPath(new URL(`wire/${profile}/${scenario}.http`, import.meta.url));
}

const tapes = new Map<string, Tape>();

/** The recorded exchanges of a scenario. */
export function tapeOf(profile: ProfileName, scenario: string): Tape {
  const file = tapeFile(profile, scenario);
  const tape = tapes.get(file) ?? readTape(readFileSync(file));
  tapes.set(file, tape);
  return tape;
}

/** A scenario on a protocol, as it is replayed. */
export interface Replayed extends Played {
  readonly store: Store;
  readonly wire: TapePlayer;
}

/** Options of a run. */
export type Otherwise = Pick<Setting, 'wrapTool' | 'recheckEvery'> & {
  readonly tape?: Tape;
  /** False: requests need not be the recorded ones. */
  readonly exactly?: boolean;
};

/** A provider that plays the tape of a scenario. */
export function wireOf(scenario: Scenario, profile: ProfileName, how: { exactly: boolean; tape?: Tape }): TapePlayer {
  const { tape = tapeOf(profile, scenario.name), exactly } = how;
  const held = scenario.says.flatMap((answer) => (answer.held === true ? [answer.to ?? ''] : []));
  return new TapePlayer({ tape, profile: WIRE_PROFILES[profile], exactly, held });
}

/** The setting in which a wire speaks, in the n-th process of a world. */
export function settingOf(scenario: Scenario, profile: ProfileName, wire: TapePlayer, life = 0) {
  return {
    client: WIRE_PROFILES[profile].client({ baseUrl: NOWHERE, fetch: wire.fetch }),
    random: seededRandom(`${scenario.name} ${profile} ${life}`),
    snapshotEvery: SNAPSHOT_EVERY,
    letGo: () => wire.letGo(),
    speaking: () => wire.silent,
  };
}

/**
 * Replays a scenario from its tape, undisturbed.
 *
 * @throws Error when a request was another than the recorded one, or breaks a rule of its protocol
 */
export async function replay(scenario: Scenario, profile: ProfileName, otherwise: Otherwise = {}): Promise<Replayed> {
  const { tape, exactly = true, ...rest } = otherwise;
  const store = quickMemory();
  const wire = wireOf(scenario, profile, { exactly, ...(tape === undefined ? {} : { tape }) });
  const setting = { ...settingOf(scenario, profile, wire), clock: new VirtualClock(), store, ...rest };
  const played = await play(scenario, setting).catch((error: unknown) => {
    throw wire.problems.length > 0 ? new Error(wire.problems.join('\n'), { cause: error }) : error;
  });
  if (wire.problems.length > 0) throw new Error(wire.problems.join('\n'));
  if (exactly && wire.left > 0) throw new Error(`${wire.left} recorded requests of ${scenario.name} were not made`);
  return { ...played, store, wire };
}
