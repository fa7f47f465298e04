/**
 * The drill of a restore: a fleet works, its database goes back to a copy of its data, processes start. What clients were told
 * is the measure: every world that lost an acknowledged frame is named, and none of them opens, and nothing is paid again unseen.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { postgres, witnessFolder } from '@reprise/store-postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../../../../conformance/bundle.js';
import { run } from '../../../cli/test/run.js';
import { readSlots } from '../../../store-postgres/src/witness/compared.js';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';
import { Member, openBank, type Said } from './members.js';

const SECRET = 'a secret of the tests, long enough';

/** The story that the page tells, with what the command has printed. */
const PAGE = readFileSync(new URL('../../../../docs/how-to/restore-a-fleet.md', import.meta.url), 'utf8');

/** Masks what differs from run to run. */
const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replace(/postgres:\/\/[^\s']+/g, 'DATABASE')
    .replace(/\d+/g, 'N')
    .replace(/ +/g, ' ');

describePostgres('a fleet whose database is restored', (own) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-restore-'));
  const program = path.join(folder, 'member.mjs');
  const witness = path.join(folder, 'witness');
  const members: Member[] = [];
  let bank: Awaited<ReturnType<typeof openBank>>;
  beforeAll(async () => {
    await bundle(fileURLToPath(new URL('member.ts', import.meta.url)), program);
    bank = await openBank();
  });
  afterAll(() => {
    for (const { child } of members) child.kill('SIGKILL');
    bank.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (): Promise<Member> => {
    const member = new Member({
      program,
      database: own.url,
      name: 'shops',
      secret: SECRET,
      bank: bank.url,
      ttl: 2_000,
      witness,
    });
    members.push(member);
    await member.ready;
    return member;
  };

  /** The last frames that clients were told of, by the names of worlds in the database. */
  const told = new Map<string, number>();
  async function order(member: Member, world: string, id: string): Promise<Said> {
    const said = await member.call(world, 'order', id, 30_000);
    if (said !== 'gone' && said.ok)
      told.set(`shops-${world}`, Math.max(told.get(`shops-${world}`) ?? -1, Number(said.said)));
    return said;
  }
  const codeOf = (said: Said): unknown => (said === 'gone' || said.ok ? said : said.said);

  async function seqs(): Promise<ReadonlyMap<string, number>> {
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    const { rows } = await client.query<{ name: Buffer; seq: string }>('SELECT name, seq FROM reprise.world');
    await client.end();
    return new Map(rows.map(({ name, seq }) => [name.toString('utf8'), Number(seq)]));
  }

  /** Waits until the witness holds the last frame of each world that clients were told of: a second of them may be missing. */
  async function witnessed(): Promise<void> {
    await using database = postgres(own.url);
    const id = await database.id();
    await expect
      .poll(async () => {
        const [now, { worlds }] = [await seqs(), await readSlots(witnessFolder(witness), id)];
        return [...told.keys()].filter((name) => !worlds.get(name)?.some(({ seq }) => seq === now.get(name)));
      })
      .toEqual([]);
  }

  const admit = (...args: string[]) => run('fleet', 'admit', own.url, '--witness', witness, ...args);

  /** Names of the worlds whose clients were told of a frame that is not in the database. */
  async function lostOfClients(): Promise<readonly string[]> {
    const here = await seqs();
    return [...told]
      .filter(([name, seq]) => (here.get(name) ?? -1) < seq)
      .map(([name]) => name)
      .sort();
  }

  it('a database that went back to a copy opens no world, names each that lost acknowledged frames, and pays nothing again', async () => {
    const [one, other] = [await start(), await start()];
    for (const world of ['antwerp', 'bergen', 'calais'])
      for (const id of [`${world}-1`, `${world}-2`]) expect(await order(one, world, id)).toMatchObject({ ok: true });
    await expect.poll(() => bank.keysOf.size).toBe(6);
    await witnessed();
    const backup = own.server.baseBackup();
    expect(await order(other, 'antwerp', 'invoice-1')).toMatchObject({ ok: true });
    expect(await order(other, 'bergen', 'invoice-2')).toMatchObject({ ok: true });
    expect(await order(other, 'delft', 'invoice-3')).toMatchObject({ ok: true });
    await expect.poll(() => bank.keysOf.size).toBe(9);
    await witnessed();
    one.child.kill('SIGSTOP'); // it has antwerp, bergen and calais open, and lives on behind the restore
    other.child.kill('SIGKILL');
    await own.server.restore(backup);
    const lost = await lostOfClients();
    expect(lost).toEqual(['shops-antwerp', 'shops-bergen', 'shops-delft']);

    const [next, more] = [await start(), await start()];
    for (const world of ['antwerp', 'bergen', 'calais', 'delft', 'new'])
      for (const member of [next, more])
        expect(codeOf(await order(member, world, `again ${world}`))).toBe('not_admitted');
    const looked = await admit('--look');
    expect(looked.code).toBe(1);
    const json = JSON.parse((await admit('--look', '--json')).out);
    expect(json).toMatchObject({ ok: false, reason: 'heads', admitted: false });
    expect(json.lost.map(({ world }: { world: string }) => world)).toEqual(lost);
    expect(codeOf(await order(next, 'calais', 'calais-3'))).toBe('not_admitted');
    const admitted = await admit();
    expect(admitted.code).toBe(1);

    // The same request again, as a client makes it that waits for an answer: it is neither taken nor paid.
    expect(codeOf(await order(next, 'antwerp', 'invoice-1'))).toBe('head_mismatch');
    expect(codeOf(await order(more, 'delft', 'invoice-3'))).toBe('head_mismatch');
    expect(await order(next, 'calais', 'calais-3')).toMatchObject({ ok: true });
    one.child.kill('SIGCONT');
    const before = await seqs();
    expect(codeOf(await order(one, 'antwerp', 'late'))).toBe('head_mismatch');
    expect(codeOf(await order(one, 'bergen', 'late'))).toBe('head_mismatch');
    for (const world of ['shops-antwerp', 'shops-bergen']) expect((await seqs()).get(world)).toBe(before.get(world));
    expect(await order(one, 'calais', 'calais-4')).toMatchObject({ ok: true }); // at the process that has it now
    expect([...bank.keysOf].filter(([, keys]) => keys.size > 1)).toEqual([]);

    const opened = await admit('--open', 'shops-antwerp', 'shops-delft');
    expect(opened.code).toBe(1); // bergen is still closed
    expect(await order(next, 'antwerp', 'antwerp-3')).toMatchObject({ ok: true });
    expect(codeOf(await order(next, 'bergen', 'bergen-3'))).toBe('head_mismatch');
    // What the decision of the operator costs: the world knows nothing of the payment, and pays.
    expect(await order(next, 'delft', 'invoice-3')).toMatchObject({ ok: true });
    await expect.poll(() => bank.keysOf.size).toBe(12);
    await expect.poll(() => bank.keysOf.get('invoice-3')?.size).toBe(2);
    for (const { out } of [looked, admitted, opened])
      for (const line of out.trim().split('\n')) expect(masked(PAGE)).toContain(masked(line).trim());
    for (const { child } of [one, next, more]) child.kill('SIGKILL');
  });

  it('a database that is promoted opens no world until it is admitted, also for a process that lived through it', async () => {
    await admit('--open-all'); // what the drill before has left
    told.clear();
    const [one, other] = [await start(), await start()];
    for (const world of ['eupen', 'faro', 'gent'])
      expect(await order(one, world, `${world}-1`)).toMatchObject({ ok: true });
    await witnessed();
    const backup = own.server.baseBackup();
    expect(await order(other, 'eupen', 'eupen-2')).toMatchObject({ ok: true });
    await witnessed();
    other.child.kill('SIGKILL');
    await own.server.restore(backup, true);
    const lost = await lostOfClients();
    expect(lost).toEqual(['shops-eupen']);
    const next = await start();
    for (const world of ['faro', 'gent']) {
      const codes = await Promise.all(
        [next, one].map(async (member) => codeOf(await order(member, world, `${world}-2`))),
      );
      expect(codes).toEqual(['not_admitted', 'not_admitted']);
    }
    const { code, out } = await admit('--json');
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      {
        reason: 'timeline',
        admitted: true,
        changed: { before: '1', now: '2' },
        lost: [{ world: 'shops-eupen', opened: false }],
      },
    ]);
    for (const member of [next, one]) {
      expect(codeOf(await order(member, 'eupen', 'eupen-2'))).toBe('head_mismatch');
      expect(await order(member, 'faro', 'faro-2')).toMatchObject({ ok: true });
      expect(await order(member, 'gent', 'gent-2')).toMatchObject({ ok: true });
    }
  });
});
