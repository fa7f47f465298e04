/** A rolling deployment of a release with another state and another plan, under load, while worlds wait. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../../../../../conformance/bundle.js';
import { describePostgres } from '../../../../store-postgres/test/describe-postgres.js';
import { randomOf } from '../lives.js';
import { deploy } from './deploy.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20261130);

describePostgres('a rolling deployment of three processes', (own) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-fleet-'));
  const program = path.join(folder, 'release.mjs');
  beforeAll(() => bundle(fileURLToPath(new URL('release.ts', import.meta.url)), program));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(`a deployment of another state and another plan loses no call, executes none twice, and ends each wait once (seed ${SEED})`, async () => {
    const found = await deploy({ server: own.server, program, name: own.fresh(), random: randomOf(SEED) });
    console.info(JSON.stringify(found));
    expect([found.wrong, found.lost, found.twice, found.unverified]).toEqual([[], [], [], 0]);
    expect([...found.waits].sort()).toEqual(['bell-1500', 'bell-2500', 'bell-3500', 'bell-4500', 'person ok', 'slow']);
    expect(found.unanswered).toEqual([]);
    expect(found.refused).toHaveProperty('manifest_mismatch'); // old processes were asked for worlds of the new release
    expect(found.eras.kiel).toBe(2);
    expect(found.eras.lima).toBeGreaterThanOrEqual(4); // it went back, and forth again
    expect(found.acknowledged).toBeGreaterThan(200);
  });
});
