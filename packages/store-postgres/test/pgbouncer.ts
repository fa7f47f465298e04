/** A pgbouncer of a test's own before its server, which gives each transaction another connection. */
import { spawn } from 'node:child_process';
import { accessSync, chmodSync, chownSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './server.js';

/** Where Debian's package has the program. `REPRISE_PGBOUNCER` names another. */
const DEBIAN = '/usr/sbin/pgbouncer';

/** The program; undefined where none is installed. */
export function pgbouncerProgram(): string | undefined {
  const program = process.env.REPRISE_PGBOUNCER ?? DEBIAN;
  try {
    accessSync(program, constants.X_OK);
    return program;
  } catch {
    return undefined;
  }
}

/** A running pooler. */
export interface TestPooler {
  /** The address of the database behind it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** It refuses to run as root, as the server does. */
const NOBODY = 65_534;

/**
 * Starts a pooler in transaction mode. It has few connections and takes them in turn (`server_round_robin`), so that two
 * statements of one client seldom get the same one.
 *
 * @param port the port of the server
 */
export async function startPooler(port: number): Promise<TestPooler> {
  const program = pgbouncerProgram();
  if (program === undefined) throw new Error('no pgbouncer is installed: apt-get install pgbouncer');
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-pooler-'));
  const isRoot = process.getuid?.() === 0;
  chmodSync(folder, 0o755);
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const own = await freePort();
  const config = path.join(folder, 'pgbouncer.ini');
  writeFileSync(path.join(folder, 'users.txt'), '"reprise" ""\n');
  writeFileSync(config, configOf(folder, port, own));
  const pooler = spawn(program, ['-q', config], {
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    ...{ cwd: folder, stdio: 'ignore' },
  });
  const url = `postgres://reprise@127.0.0.1:${own}/postgres`;
  await whenReady(url);
  await fill(url);
  return {
    url,
    stop: async () => {
      const ended = new Promise((resolve) => pooler.once('exit', resolve));
      if (pooler.exitCode === null && pooler.kill('SIGTERM')) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The connections that it has to the server. */
const POOLED = 4;

/** Has all of them made, by transactions that are under way at once: with one connection there is no other one to get. */
async function fill(url: string): Promise<void> {
  const clients = Array.from({ length: POOLED }, () => new pg.Client({ connectionString: url }));
  for (const client of clients) {
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1');
  }
  for (const client of clients) {
    await client.query('COMMIT');
    await client.end();
  }
}

function configOf(folder: string, port: number, own: number): string {
  return `[databases]
postgres = host=127.0.0.1 port=${port} dbname=postgres user=reprise
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = trust
auth_file = ${path.join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = ${POOLED}
server_round_robin = 1
max_client_conn = 200
`;
}

async function whenReady(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.query('SELECT 1');
      return;
    } catch (error) {
      if (tries > 200) throw error;
      await pause(50);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
