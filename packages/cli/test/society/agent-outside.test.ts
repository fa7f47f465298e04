/** An agent that is a program in another language: it registers, proves who it is, calls, and is revoked in the middle. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { commandLine, run } from '../run.js';
import { freshFolder } from '../worlds.js';

const folder = freshFolder();
afterAll(() => folder.remove());

const AGENT = fileURLToPath(new URL('agent.py', import.meta.url));
const PYTHON = ['/usr/bin/python3', '/usr/local/bin/python3'].find((path) => existsSync(path));
const OPENSSL = ['/usr/bin/openssl', '/usr/local/bin/openssl'].find((path) => existsSync(path));

it.skipIf(PYTHON === undefined || OPENSSL === undefined)(
  'an agent in Python, with its standard library and openssl alone, registers with a key of its own, proves it, opens the key of a second one that was encrypted for it, calls, and loses its stream and its token when its parent deactivates it',
  async () => {
    const world = folder.file('office.db');
    mkdirSync(folder.file('agent'));
    const child = spawn(process.execPath, commandLine('serve', world, '--mcp', '--http', '0', '--as', 'human:ann'), {
      env: { ...process.env, REPRISE_MCP_SECRET: undefined },
    });
    let said = '';
    child.stdout.on('data', (bytes) => {
      said += String(bytes);
    });
    await expect.poll(() => /^A token/m.test(said)).toBe(true);
    const [url = ''] = said.split('\n');
    const token = readFileSync(`${world}.mcp-token`, 'utf8').trim();
    const { stdout } = await promisify(execFile)(PYTHON ?? '', [AGENT, url, token, 'ann', folder.file('agent')]);
    const steps = JSON.parse(stdout);
    expect(steps).toEqual({
      agent: expect.stringMatching(/^[0-9a-f]{64}$/),
      world: expect.stringMatching(/^[0-9a-f]{64}$/),
      registered: steps.agent,
      status: 'registered',
      forged: [true, expect.stringContaining('signature')],
      verified: true,
      opened: true,
      listed: true,
      streamEnded: true,
      after: 401,
    });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect((await run('society', 'audit', world)).out).toContain('no problem');
  },
);
