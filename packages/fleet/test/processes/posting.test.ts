/** A law over random lives of three processes, with customers who post. Adversary: kill -9, SIGSTOP, connections that are cut. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../../../../conformance/bundle.js';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';
import { randomOf } from './lives.js';
import { POST_MOVES, postThrough } from './posting.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20261130);

describePostgres('a fleet to which calls are posted', (own) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-posting-'));
  const program = path.join(folder, 'member.mjs');
  beforeAll(() => bundle(fileURLToPath(new URL('member.ts', import.meta.url)), program));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(`no posted call is lost or executed twice, each is answered, and readers have every frame once, whatever happens to processes (seed ${SEED})`, async () => {
    const random = randomOf(SEED);
    const moves = [...POST_MOVES]
      .map((move) => [random(), move] as const)
      .sort(([a], [b]) => a - b)
      .map(([, move]) => move);
    const found = await postThrough({ server: own.server, program, name: own.fresh(), random, moves });
    console.info(JSON.stringify(found));
    const { lost, twice, disordered, misread, wrong } = found;
    expect({ lost, twice, disordered, misread, wrong }).toEqual({
      lost: [],
      twice: [],
      disordered: [],
      misread: [],
      wrong: [],
    });
    expect(found.posted).toBeGreaterThan(20); // a busy machine plays slowly
    expect(found.frames).toBeGreaterThan(found.posted);
  });
});
