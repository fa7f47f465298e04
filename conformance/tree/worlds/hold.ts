/** Holds a law over random schedules in real worlds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sqlite } from '@reprise/store-sqlite';
import fc from 'fast-check';
import { quickMemory } from '../../quick-memory.js';
import type { Batch } from '../hold.js';
import { playWorld } from './play.js';
import { worldSchedules } from './schedule.js';

/** Every so many worlds one is a file. */
const ON_DISK = 8;

/** What was played. */
export interface PlayedWorlds {
  nodes: number;
  syntheses: number;
  crashes: number;
  answers: number;
  verified: number;
}

/**
 * Plays random schedules in real worlds, most of them in memory, some in files.
 *
 * @throws Error what went wrong, the smallest schedule that shows it, and the command to play it again
 */
export async function holdWorlds({ runs, seed, command }: Batch): Promise<PlayedWorlds> {
  const sum: PlayedWorlds = { nodes: 0, syntheses: 0, crashes: 0, answers: 0, verified: 0 };
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-tree-worlds-'));
  let worlds = 0;
  const law = fc.asyncProperty(worldSchedules, async (schedule) => {
    const onDisk = worlds++ % ON_DISK === ON_DISK - 1;
    const store = onDisk ? sqlite(path.join(folder, `${worlds}.world`)) : quickMemory();
    const played = await playWorld(schedule, store);
    for (const name of Object.keys(sum) as (keyof PlayedWorlds)[]) sum[name] += played[name];
  });
  try {
    const found = await fc.check(law, { numRuns: runs, seed });
    if (!found.failed) return sum;
    const why = found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance);
    const where = `seed ${seed}, case ${found.numRuns}, shrunk ${found.numShrinks} times`;
    const [schedule] = found.counterexample ?? [];
    throw new Error(`${why}\nrerun: ${command}\n${where}\n${JSON.stringify(schedule)}`, { cause: found.errorInstance });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
