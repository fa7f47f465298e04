/** The database of the example: the one of `DATABASE_URL`, or a server of its own in a temporary folder. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** Where Debian's packages have the programs of the server. */
const DEBIAN = '/usr/lib/postgresql';

/** The server refuses to run as root: then it runs as nobody, who owns its folder. */
const NOBODY = 65_534;

/** The address of a database, and what ends it. */
export interface Database {
  readonly url: string;
  readonly said: string;
  close(): Promise<void>;
}

/** Undefined where no server is installed and `DATABASE_URL` names none. */
export async function openDatabase(): Promise<Database | undefined> {
  const given = process.env.DATABASE_URL;
  if (given !== undefined && given !== '')
    return { url: given, said: 'the database of DATABASE_URL', close: async () => undefined };
  const bin = serverPrograms();
  return bin === undefined ? undefined : ownServer(bin);
}

function serverPrograms(): string | undefined {
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...debian.map((version) => path.join(DEBIAN, version, 'bin')),
    ...(process.env.PATH ?? '').split(path.delimiter),
  ];
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(path.join(folder, name))));
}

async function ownServer(bin: string): Promise<Database> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-fleet-'));
  const data = path.join(folder, 'data');
  const isRoot = process.getuid?.() === 0;
  chmodSync(folder, 0o755);
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const how = { ...who, cwd: folder, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' }, stdio: 'ignore' } as const;
  execFileSync(path.join(bin, 'initdb'), ['-D', data, '-U', 'reprise', '-A', 'trust'], how);
  const port = String(await freePort());
  const server = spawn(path.join(bin, 'postgres'), ['-D', data, '-p', port, '-k', folder, '-h', '127.0.0.1'], how);
  const remove = (): void => {
    server.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', remove); // also after Ctrl-C
  const url = `postgres://reprise@127.0.0.1:${port}/postgres`;
  await answers(url);
  return { url, said: 'a PostgreSQL of its own', close: async () => remove() };
}

async function answers(url: string): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    const isThere = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => undefined);
    if (isThere) return;
    await pause(50);
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((ready) => probe.listen(0, '127.0.0.1', ready));
  const address = probe.address();
  await new Promise((closed) => probe.close(closed));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
