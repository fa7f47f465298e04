import { execFile } from 'node:child_process';
import { chown, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Starts a separate PostgreSQL with its own defaults on a socket in a folder. It needs `initdb`, `pg_ctl` and `createdb` on the
 * PATH, and the account `postgres` where this process is root's, as which it refuses to run.
 *
 * @param {string} data an absent folder; the folders above it must let the account pass
 * @returns {Promise<{ url: string, pid: number, stop: () => Promise<void> }>}
 */
export async function startPostgres(data) {
  await mkdir(data, { recursive: true });
  const asRoot = process.getuid?.() === 0;
  if (asRoot) await chown(data, await idOf('-u'), await idOf('-g'));
  const postgres = (command, ...args) =>
    asRoot ? run('runuser', ['-u', 'postgres', '--', command, ...args]) : run(command, args);
  await postgres('initdb', '-A', 'trust', '-U', 'probe', '-D', data);
  const server = `-c listen_addresses= -c unix_socket_directories=${data}`;
  await postgres('pg_ctl', '-D', data, '-o', server, '-l', path.join(data, 'log'), '-w', 'start');
  await postgres('createdb', '-h', data, '-U', 'probe', 'probe');
  const pid = Number((await readFile(path.join(data, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  return {
    url: `postgresql://probe@localhost/probe?host=${data}`,
    pid,
    stop: async () => void (await postgres('pg_ctl', '-D', data, '-m', 'immediate', 'stop')),
  };
}

async function idOf(flag) {
  return Number((await run('id', [flag, 'postgres'])).stdout);
}
