/** The command on worlds in a real PostgreSQL: it prints what it prints of the same world in a file. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isKeyed, openKernelWorld, requestKey, type Store } from '@reprise/kernel';
import { hostSha256 } from '@reprise/kernel/driver';
import { readFrame } from '@reprise/kernel/store';
import { postgres } from '@reprise/store-postgres';
import { sqlite } from '@reprise/store-sqlite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spread } from '../../../../conformance/part.js';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';
import { VerifyThreads } from '../../src/verify/threads.js';
import { withoutPassword } from '../../src/world/place.js';
import app from '../apps/app.js';
import { command, commandLine, ended, run, start } from '../run.js';
import { add, freshFolder, greeterWorld, LEDGER, makeAgentWorld, makeLedger } from '../worlds.js';

const PASSWORD = 'hunter2secret';
const APP = fileURLToPath(new URL('../apps/app.ts', import.meta.url));

describePostgres('the command on a world in PostgreSQL', (own) => {
  const folder = freshFolder();
  const [ledgerFile, agentFile] = [folder.file('ledger.db'), folder.file('agent.db')];
  /** Everything that a run printed: no text of it may have the password. */
  const printed: string[] = [];

  beforeAll(async () => {
    await makeLedger(ledgerFile);
    await makeAgentWorld(agentFile);
    await using database = postgres(own.url);
    await copied(ledgerFile, database.world('ledger'));
    await copied(agentFile, database.world('agent 50%'));
  });
  afterAll(() => {
    folder.remove();
    for (const text of printed) expect(text).not.toContain(PASSWORD);
  });

  /** The address with a password, which this server does not ask for. */
  const address = (name: string): string =>
    `${own.url.replace('reprise@', `reprise:${PASSWORD}@`)}#${encodeURIComponent(name)}`;
  const shown = (name: string): string => `${own.url}#${encodeURIComponent(name)}`;

  async function ran(...args: string[]) {
    const done = await run(...args);
    printed.push(done.out, done.err);
    return done;
  }

  const CASES: readonly (readonly [what: string, world: 'ledger' | 'agent 50%', args: readonly string[]])[] = [
    ['log', 'agent 50%', ['log', '%']],
    ['log as JSON', 'agent 50%', ['log', '%', '--json']],
    ['tail -n', 'ledger', ['tail', '%', '-n', '3']],
    ['verify with an app', 'ledger', ['verify', '%', '--app', APP]],
    ['verify in threads', 'ledger', ['verify', '%', '--integrity', '--workers', '2']],
    ['verify of sessions', 'agent 50%', ['verify', '%']],
    ['verify without its app', 'ledger', ['verify', '%']],
    ['cost', 'agent 50%', ['cost', '%']],
    ['waiting', 'agent 50%', ['waiting', '%']],
    ['trouble', 'agent 50%', ['trouble', '%']],
    ['show of a frame', 'ledger', ['show', '%', '5']],
    ['show of a cell', 'ledger', ['show', '%', LEDGER.join('/'), '--app', APP]],
    ['show of its history', 'ledger', ['show', '%', LEDGER.join('/'), '--history']],
    ['show of a frame that is not there', 'ledger', ['show', '%', '99']],
    ['why', 'agent 50%', ['why', '%', 'Hello']],
    ['check', 'ledger', ['check', '%', '--against', APP]],
    ['diff', 'ledger', ['diff', '%', '1', '4', '--app', APP]],
  ];
  it.each(spread(3, CASES))('%s prints the same as of a file, and ends with the same code', async (_, world, args) => {
    const file = world === 'ledger' ? ledgerFile : agentFile;
    const at = (place: string) => args.map((one) => (one === '%' ? place : one));
    const [ofFile, ofDatabase] = [await ran(...at(file)), await ran(...at(address(world)))];
    const renamed = (text: string) => text.replaceAll(file, shown(world));
    expect(ofDatabase).toEqual({ code: ofFile.code, out: renamed(ofFile.out), err: renamed(ofFile.err) });
    expect(ofFile.out + ofFile.err).not.toBe('');
  });

  it('a world that is not in the database is world_absent, exit code 3, and looking for it makes none', async () => {
    const { code, err } = await ran('log', address('nowhere'));
    expect(code).toBe(3);
    expect(err).toContain('world_absent: no world of this name is in the database');
    expect(err).toContain(shown('nowhere'));
    expect(await rows(own.url, "SELECT FROM reprise.world WHERE name = 'nowhere'")).toBe(0);
  });

  it('a database without worlds is world_absent, and a verb that reads makes no tables in it', async () => {
    await rows(own.url, 'CREATE DATABASE empty');
    const empty = own.url.replace(/postgres$/, 'empty');
    const { code, err } = await ran('tail', `${empty.replace('reprise@', `reprise:${PASSWORD}@`)}#home`);
    expect({ code, err }).toEqual({
      code: 3,
      err: expect.stringContaining('world_absent: the database has no worlds'),
    });
    expect(await rows(empty, "SELECT FROM pg_namespace WHERE nspname = 'reprise'")).toBe(0);
  });

  it.each([
    ['a database that does not exist', (url: string) => url.replace(/postgres$/, 'nowhere'), 'createdb NAME'],
    ['a role that does not exist', (url: string) => url.replace('reprise@', `nobody:${PASSWORD}@`), 'nobody'],
    ['a file of certificates that does not exist', (url: string) => `${url}?sslrootcert=/nowhere/ca.pem`, 'ca.pem'],
  ])('%s is store_failed, exit code 3, and says which', async (_, changed, said) => {
    const { code, err } = await ran('tail', `${changed(own.url)}#ledger`);
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('store_failed') });
    expect(err).toContain(said);
  });

  it('a role that may only read is enough for a verb that reads', async () => {
    await rows(own.url, 'CREATE ROLE reader LOGIN');
    await rows(own.url, 'GRANT USAGE ON SCHEMA reprise TO reader');
    await rows(own.url, 'GRANT SELECT ON ALL TABLES IN SCHEMA reprise TO reader');
    const { code, out } = await ran('verify', `${own.url.replace('reprise@', 'reader@')}#agent%2050%25`);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('replayed, identical') });
  });

  describe('a server that asks for passwords', () => {
    const secured = (password: string) => `${own.url.replace('reprise@', `secured:${password}@`)}#ledger`;
    beforeAll(async () => {
      await rows(own.url, `CREATE ROLE secured LOGIN SUPERUSER PASSWORD '${PASSWORD}'`);
      const rules = path.join(own.server.folder, 'data', 'pg_hba.conf');
      writeFileSync(rules, `host all secured 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, 'utf8')}`);
      await rows(own.url, 'SELECT pg_reload_conf()');
      // The server reads its rules a moment later.
      while ((await ran('tail', secured('wrong'), '-n', '1')).code === 0);
    });

    it('gets the password of the address, and refuses a wrong one as store_failed, which does not show it', async () => {
      expect((await ran('verify', secured(PASSWORD), '--app', APP)).code).toBe(0);
      const { code, err } = await ran('tail', secured(`not-${PASSWORD}`));
      expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('The password in the address is wrong') });
    });

    it('gets the password of PGPASSWORD, where the address has none', async () => {
      const address = secured('').replace(':@', '@');
      for (const [password, code] of [
        [PASSWORD, 0],
        ['wrong', 3],
      ] as const) {
        const child = spawn(process.execPath, commandLine('tail', address), {
          env: { ...process.env, PGPASSWORD: password },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        expect((await ended(child)).code).toBe(code);
      }
    });

    it('gets the password from each thread of a verification, which the shown address does not have', async () => {
      const known = withoutPassword(secured(PASSWORD));
      expect(known).not.toContain(PASSWORD);
      const task = { world: known, legacy: [], pureCode: false, thorough: false };
      const threads = new VerifyThreads(task, { size: 1 });
      expect(await threads.begin(1)).toBe(1);
      await threads.close();
    });
  });

  it('a role with rights on the rows alone owns and writes a world, where another role has made the tables', async () => {
    await rows(own.url, 'CREATE ROLE writer LOGIN');
    await rows(own.url, 'GRANT USAGE ON SCHEMA reprise TO writer');
    await rows(own.url, 'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA reprise TO writer');
    await using database = postgres(own.url.replace('reprise@', 'writer@'));
    const name = own.fresh();
    await using world = await openKernelWorld({ store: database.world(name), app });
    await world.content.put(new Uint8Array(3 * 1024 * 1024));
    await add(world, 1);
    expect((await ran('verify', address(name), '--app', APP)).code).toBe(0);
  });

  it('tail -f in another process prints each frame of the writer once and in order, and ends on Ctrl-C with 0', async () => {
    await using database = postgres(own.url);
    const name = own.fresh();
    const world = await openKernelWorld({ store: database.world(name), app });
    await add(world, 1);
    const follower = start(folder.path, 'tail', address(name), '--from', '0', '-f', '--json');
    let text = '';
    follower.stdout?.on('data', (piece) => {
      text += piece;
    });
    const done = ended(follower);
    for (let by = 2; by <= 30; by++) {
      await add(world, by);
      if (by === 15) await expect.poll(() => text).toContain('"seq":15');
    }
    await world.close();
    await expect.poll(() => text).toContain('"seq":30');
    follower.kill('SIGINT');
    const { code, out, err } = await done;
    printed.push(out, err);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const seen = out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).seq as number);
    expect([...new Set(seen)]).toEqual(Array.from({ length: 31 }, (_, seq) => seq));
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  it('log shows a world that another process owns, and a verb that writes it is refused as locked', async () => {
    await using database = postgres(own.url);
    const name = own.fresh();
    const { world, session } = await greeterWorld('', database.world(name));
    await session.send('Hi');
    await world.kernel.pump();
    const { code, out } = await ran('log', address(name));
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('Hello.') });
    const refused = await command(folder.path, 'serve', address(name), '--mcp', '--as', 'human:ann');
    printed.push(refused.out, refused.err);
    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('world_locked') });
    await world.close();
  });

  it('a team runs in a world of a database, and goes on there', async () => {
    const world = address(own.fresh());
    const args = ['--world', world, '--folder', folder.path];
    const first = await command(folder.path, 'team', 'run', 'What is in this folder?', ...args);
    printed.push(first.out, first.err);
    expect({ code: first.code, err: first.err }).toEqual({ code: 0, err: '' });
    const after = await ran('team', 'show', '--world', world);
    expect(after.code).toBe(0);
    expect((await ran('verify', world)).out).toContain('replayed, identical');
  });

  it('reprise inspect shows a world of a database under its address, without the password', async () => {
    const child = start(folder.path, 'inspect', address('ledger'), '--no-open');
    const done = ended(child);
    const [line] = await once(child.stdout!, 'data');
    const [, page, token = ''] = /^(http:\/\/127\.0\.0\.1:\d+)\/#token=([\w-]+)/.exec(String(line)) ?? [];
    const report = await (await fetch(`${page}/api/world`, { headers: { 'x-reprise-token': token } })).text();
    printed.push(report);
    expect(JSON.parse(report)).toMatchObject({ path: shown('ledger'), last: { frame: 5 } });
    child.kill('SIGINT');
    expect((await done).code).toBe(0);
  });
});

/** Copies a world as it is: the same frames and the same content. */
async function copied(file: string, to: Store): Promise<void> {
  const from = await sqlite(file).openReadonly();
  const into = await to.open();
  for await (const ref of from.content.list()) {
    const bytes = await from.content.get(ref);
    if (bytes !== undefined) await into.content.put(bytes);
  }
  for await (const frame of from.journal.read(0)) {
    const { ingress } = readFrame(frame.bytes, frame.seq);
    const keyed = isKeyed(ingress) ? { key: requestKey(ingress, hostSha256()) } : {};
    await into.journal.append([{ ...frame, ...keyed }], await into.journal.head());
  }
  await into.close();
  await from.close();
}

async function rows(url: string, statement: string): Promise<number | null> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rowCount;
  } finally {
    await client.end();
  }
}
