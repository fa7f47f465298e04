/** Two real processes that want one world on a real server, and trouble at a random moment. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle, type Planted } from '../../../../conformance/bundle.js';
import { inFull, spread } from '../../../../conformance/part.js';
import { randomFrom } from '../../../../conformance/random.js';
import { describePostgres } from '../describe-postgres.js';
import { runTrial, TROUBLES } from './trials.js';

const SEED = 20261130;

describePostgres('two processes that want one world', (own) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-owners-'));
  const program = path.join(folder, 'owner-child.mjs');
  beforeAll(() => bundle(source('owner-child.ts'), program));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const random = randomFrom(SEED);

  const trials = TROUBLES.map((trouble) => [trouble, Math.floor(random() * 400)] as const);
  for (const [trouble, afterMs] of spread(3, trials)) {
    it(`nothing that was acknowledged is lost and nothing is paid twice when ${trouble}, after ${afterMs} ms (seed ${SEED})`, async () => {
      const found = await runTrial(own.server, program, own.fresh(), { trouble, afterMs });
      expect(found.acknowledged).toBeGreaterThan(20);
      expect([found.lost, found.twice, found.repeated]).toEqual([[], [], []]);
    });
  }

  inFull(() => {
    it('mutant: an effect that is offered again after a death is found to be paid twice', async () => {
      const mutant = await planted('again', {
        file: source('owner-child.ts'),
        from: "guarantee: 'at_most_once'",
        to: "guarantee: 'idempotent'",
      });
      const found = await runTrial(own.server, mutant, own.fresh(), { trouble: 'it is killed', afterMs: 300 });
      expect(found.twice).not.toEqual([]);
    });
  });

  it('mutant: a store that answers before the database has written is found to lose what it acknowledged', async () => {
    const mutant = await planted('hasty', {
      file: source('../../src/world/committer.ts'),
      from: "const rows = await this.connections.rows('append', APPEND, appendParameters(appends));",
      to: `void this.connections.rows('append', APPEND, appendParameters(appends)).catch(() => undefined);
        const rows = appends.map(({ world }) => [world]);`,
    });
    const found = await runTrial(own.server, mutant, own.fresh(), { trouble: 'its network is cut', afterMs: 300 });
    expect(found.lost).not.toEqual([]);
  });

  async function planted(name: string, mistake: Planted): Promise<string> {
    const file = path.join(folder, `${name}.mjs`);
    await bundle(source('owner-child.ts'), file, { planted: mistake });
    return file;
  }
});

function source(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
