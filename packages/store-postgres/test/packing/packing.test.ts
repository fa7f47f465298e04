/** Packs of frames and blobs in PostgreSQL give what plain rows give; the law is in `law.ts`. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { program } from '../../../../scripts/lib/program.js';
import { describePostgres } from '../describe-postgres.js';
import { histories, type Made, run } from './law.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20_26);
const RUNS = Number(process.env.PACKING_RUNS ?? 6 / stepOf(2));
const AGAIN = `REPRISE_SEED=${SEED} PACKING_RUNS=${RUNS} npx vitest run packages/store-postgres/test/packing`;

describePostgres('packing in PostgreSQL', (own) => {
  let reader: ReturnType<typeof spawn> | undefined;
  let answers: AsyncIterator<string> | undefined;
  beforeAll(async () => {
    reader = spawn(process.execPath, [await program(new URL('reader-child.ts', import.meta.url)), own.url], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    answers = createInterface({ input: reader.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  });
  afterAll(() => reader?.kill());

  /** What the other process has found in the world before, while it reads the next one from now on. */
  async function turnTo(world: string): Promise<{ reads: number; frames: number }> {
    reader?.stdin?.write(`${world}\n`);
    const answer = String((await answers?.next())?.value);
    expect(answer).toMatch(/^done /);
    const [reads = 0, frames = 0] = answer.split(' ').slice(1).map(Number);
    return { reads, frames };
  }

  it(`packed frames and blobs are those that were stored, in every order of appends, reads by another process, erasures, take-overs in the middle of a pack and odd bytes, over ${RUNS} histories (seed ${SEED}; again: ${AGAIN})`, async () => {
    const met: Made = { frames: 0, blobs: 0, troubles: 0, damages: 0 };
    let reads = 0;
    const law = fc.asyncProperty(histories, async (history) => {
      const world = own.fresh();
      await turnTo(world);
      const readToEnd = async (): Promise<void> => {
        reads += (await turnTo('')).reads;
      };
      const made = await run({ url: own.url, world, readToEnd }, history);
      for (const name of Object.keys(met) as (keyof Made)[]) met[name] += made[name];
    });
    await fc.assert(law, { seed: SEED, numRuns: RUNS, endOnFailure: true });
    expect(met.frames).toBeGreaterThan(RUNS * 5);
    expect(met.blobs).toBeGreaterThan(RUNS);
    expect(met.troubles).toBeGreaterThanOrEqual(RUNS / 2);
    expect(met.damages).toBeGreaterThan(RUNS * 2);
    expect(reads).toBeGreaterThan(RUNS * 5);
  });
});
