/**
 * A law over random lives of three processes. Adversary: kill -9, SIGSTOP, SIGTERM, drain, ways that are cut, stalled, changed
 * and replayed, a database that is out of reach, an old secret, and another fleet at a known address.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../../../../conformance/bundle.js';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';
import { liveThrough, MOVES, randomOf } from './lives.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20261130);

describePostgres('a fleet of three processes', (own) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-fleet-'));
  const program = path.join(folder, 'member.mjs');
  beforeAll(() => bundle(fileURLToPath(new URL('member.ts', import.meta.url)), program));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(`no call is lost and none is executed twice, whatever happens to processes and the ways between them (seed ${SEED})`, async () => {
    const random = randomOf(SEED);
    const moves = [...MOVES]
      .map((move) => [random(), move] as const)
      .sort(([a], [b]) => a - b)
      .map(([, move]) => move);
    const found = await liveThrough({ server: own.server, program, name: own.fresh(), random, moves });
    console.info(JSON.stringify({ ...found, refusals: [...found.refusals], unanswered: [...found.unanswered] }));
    expect([found.lost, found.twice, found.wrong]).toEqual([[], [], []]);
    expect(found.acknowledged).toBeGreaterThan(100);
    expect([...found.refusals]).toEqual(expect.arrayContaining(['replayed', 'signature']));
  });
});
