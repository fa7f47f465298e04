import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpuOf } from '../peers/process-cpu.mjs';

/** What the page asks for until its first screen is painted, in its order. */
const ASKED = [['/'], ['/page.css', '/page.js'], ['/api/world'], ['/api/now']];

/**
 * The CPU of `reprise inspect`, from its start until it has answered what a browser asks for before the first screen is
 * painted.
 *
 * @param {string} cli the file of the command
 * @param {string} world
 * @returns {Promise<number>} milliseconds
 */
export async function cpuUntilNow(cli, world) {
  const server = spawn(process.execPath, [cli, 'inspect', world, '--no-open'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
    const [origin, token] = line.trim().split('/#token=');
    for (const paths of ASKED) {
      const headers = { 'x-reprise-token': token };
      const answers = paths.map(async (path) => {
        const response = await fetch(`${origin}${path}`, { headers });
        if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
        await response.arrayBuffer();
      });
      await Promise.all(answers);
    }
    return cpuOf([server.pid]);
  } finally {
    server.kill('SIGINT');
    await once(server, 'exit');
  }
}
