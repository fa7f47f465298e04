/** OpenStack Swift, which speaks Amazon's protocol, where Debian's package `python3-swift` is installed. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Debian's own Python, which has Debian's packages. */
const PYTHON = '/usr/bin/python3';

/** Whether the server can be started here. */
export function hasSwift(): boolean {
  return spawnSync(PYTHON, ['-c', 'import swift, eventlet']).status === 0;
}

/** A running server with an empty bucket. */
export interface Swift {
  readonly endpoint: string;
  readonly bucket: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  stop(): Promise<void>;
}

/** Starts a server. It ends with this process at the latest. */
export async function startSwift(): Promise<Swift> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'reprise-swift-'));
  const program = fileURLToPath(new URL('swift-server.py', import.meta.url));
  const server = spawn(PYTHON, [program, folder], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  server.stderr.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const lines = readline.createInterface({ input: server.stdout });
  const [line] = (await Promise.race([once(lines, 'line'), once(server, 'exit')])) as [unknown];
  const port = Number(line);
  if (!(port > 0) || server.exitCode !== null) throw new Error(`Swift did not start: ${String(line)} ${said}`);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'bucket',
    credentials: { accessKeyId: 'test:tester', secretAccessKey: 'testing' },
    stop: async () => {
      const ended = once(server, 'exit');
      server.stdin.end();
      server.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
