/** Of many worlds whose notes stand when their process dies, one is the cause at most. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../../../conformance/bundle.js';
import { postgres } from '../src/index.js';
import { describePostgres } from './describe-postgres.js';

describePostgres('the death of a process with many worlds', (own) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-folds-test-'));
  const program = path.join(folder, 'folding.mjs');
  beforeAll(() => bundle(fileURLToPath(new URL('processes/folding-child.ts', import.meta.url)), program));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** How both openings after the death see it. */
  async function afterDeath(folds: 'yes' | 'no', meanwhile: (world: string) => Promise<void> = async () => undefined) {
    const [dies, other] = [own.fresh(), own.fresh()];
    const { signal, stderr } = spawnSync(process.execPath, [program, own.url, dies, other, folds], {
      encoding: 'utf8',
    });
    expect([signal, stderr]).toEqual(['SIGKILL', '']);
    await meanwhile(dies);
    await using database = postgres(own.url);
    const [first, second] = [await database.world(dies).open(), await database.world(other).open()];
    const found = [
      [first.ended, first.markAtOpen],
      [second.ended, second.markAtOpen],
    ];
    await first.close();
    await second.close();
    return found;
  }

  it('a death in a fold counts for the world of that fold, and not for another one whose note stands', async () => {
    expect(await afterDeath('yes')).toEqual([
      ['died', '1 first'],
      ['lost', '1 second'],
    ]);
  });

  it('an opening that is refused leaves the end of the one before to the next', async () => {
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    const seal = (world: string, sealed: boolean) =>
      client.query('UPDATE reprise.world SET sealed = $2, seals_known_by = epoch WHERE name = $1', [
        Buffer.from(world),
        sealed,
      ]);
    const found = await afterDeath('yes', async (world) => {
      await seal(world, true);
      for (let n = 0; n < 2; n++) {
        await using keyless = postgres(own.url);
        await expect(keyless.world(world).open()).rejects.toThrow('sealed with keys, which are not named here');
      }
      await seal(world, false);
    });
    await client.end();
    expect(found[0]).toEqual(['died', '1 first']);
  });

  it('a death beside all folds counts for each note, since any of them may have led to it', async () => {
    expect(await afterDeath('no')).toEqual([
      ['died', '1 first'],
      ['died', '1 second'],
    ]);
  });

  it('a process that closes leaves no file behind', async () => {
    const database = postgres(own.url);
    const open = await database.world(own.fresh()).open();
    const files = () =>
      readdirSync(tmpdir()).filter((name) => name.startsWith('reprise-folds-') && !name.includes('test'));
    const before = new Set(files());
    open.answerFor?.(() => undefined);
    const made = files().filter((name) => !before.has(name));
    expect(made.length).toBeGreaterThan(0);
    await open.close();
    await database.close();
    const left = files();
    expect(made.some((name) => left.includes(name))).toBe(false);
  });
});
