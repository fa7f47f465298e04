/** A PostgreSQL server of a test's own, in a fresh folder: initdb, start on a socket and a free port, stop. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Where Debian's packages have the server's programs. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder of the server's programs; undefined where none is installed. `REPRISE_PG_BIN` names another. */
export function postgresBin(): string | undefined {
  const given = process.env.REPRISE_PG_BIN;
  if (given !== undefined && given !== '') return given;
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  return versions
    .map((version) => path.join(DEBIAN, version, 'bin'))
    .find((bin) => existsSync(path.join(bin, 'initdb')));
}

/** A running server. */
export interface TestServer {
  /** The address of its database. */
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** Stops the server, at once or after its transactions, and removes its folder. */
  stop(): Promise<void>;
  /** Kills it as a loss of power does, and starts it again on the same files. */
  crashAndRestart(): Promise<void>;
  /** Copies its data while it runs, as an operator does. @returns the folder of the copy */
  baseBackup(): string;
  /**
   * Puts the data back to a copy, and starts.
   *
   * @param promoted whether it first stands by, and is then promoted, which begins another timeline
   */
  restore(backup: string, promoted?: boolean): Promise<void>;
}

/** The server refuses to run as root: then it runs as nobody, who owns its folder. */
const NOBODY = 65_534;

/** Starts a server. @param settings more settings, as `name=value` */
export async function startServer(settings: readonly string[] = []): Promise<TestServer> {
  const bin = postgresBin();
  if (bin === undefined) throw new Error('no PostgreSQL is installed: apt-get install postgresql');
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-pg-'));
  const data = path.join(folder, 'data');
  const isRoot = process.getuid?.() === 0;
  const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  chmodSync(folder, 0o755);
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const env = { PATH: process.env.PATH ?? '', LC_ALL: 'C' };
  execFileSync(path.join(bin, 'initdb'), ['-D', data, '-U', 'reprise', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...{ ...who, env, stdio: 'ignore', cwd: folder },
  });
  const port = await freePort();
  const given = [`unix_socket_directories=${folder}`, 'shared_buffers=32MB', 'max_connections=60', ...settings];
  const start = (): ChildProcess =>
    spawn(path.join(bin, 'postgres'), ['-D', data, '-p', String(port), ...given.flatMap((one) => ['-c', one])], {
      ...{ ...who, env, stdio: 'ignore', cwd: folder },
    });
  let server = start();
  const client = path.join(bin, 'psql');
  const ready = () => whenReady(client, port);
  await ready();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await ended;
  };
  const tool = (name: string, ...args: string[]): void =>
    void execFileSync(name.startsWith('pg_') ? path.join(bin, name) : name, args, {
      ...who,
      env,
      stdio: 'ignore',
      cwd: folder,
    });
  let copies = 0;
  return {
    baseBackup: () => {
      const copy = path.join(folder, `copy-${++copies}`);
      const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'reprise'];
      tool('pg_basebackup', '-D', copy, '-X', 'stream', '-c', 'fast', '--no-sync', ...from);
      return copy;
    },
    restore: async (backup, promoted = false) => {
      await end('SIGINT');
      rmSync(data, { recursive: true });
      renameSync(backup, data);
      if (promoted) tool('touch', path.join(data, 'standby.signal'));
      server = start();
      await ready();
      if (promoted) tool('pg_ctl', '-D', data, '-w', 'promote');
    },
    ...{ port, folder, url: `postgres://reprise@127.0.0.1:${port}/postgres` },
    stop: async () => {
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
    crashAndRestart: async () => {
      await end('SIGQUIT'); // at once, and its children too: as after a loss of power it recovers from its log
      server = start();
      await ready();
    },
  };
}

async function whenReady(client: string, port: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      execFileSync(client, ['-h', '127.0.0.1', '-p', String(port), '-U', 'reprise', '-c', 'SELECT 1', 'postgres'], {
        stdio: 'ignore',
      });
      return;
    } catch (error) {
      if (tries > 600) throw error;
      await pause(50);
    }
  }
}

/** A port that nothing listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
