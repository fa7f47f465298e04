/** `reprise inspect`: the page of a world, as a process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { command, PROGRAM, run, start } from './run.js';
import { freshFolder, makeLedger } from './worlds.js';

const folder = freshFolder();
const world = folder.file('world.db');
beforeAll(() => makeLedger(world));
afterAll(() => folder.remove());

/** The first line that a process prints. */
async function firstLine(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const piece of child.stdout ?? []) {
    text += piece;
    if (text.includes('\n')) return text;
  }
  return text;
}

const ADDRESS = /^http:\/\/127\.0\.0\.1:(\d+)\/#token=([\w-]{43})\n$/;

describe('reprise inspect', () => {
  it('reprise inspect prints one line with the address, answers the page that has its token, and ends on Ctrl-C with 0', async () => {
    const child = start(folder.path, 'inspect', 'world.db', '--no-open');
    const [, port, token = ''] = ADDRESS.exec(await firstLine(child)) ?? [];
    const ask = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}/api/world`, { headers });
    expect((await ask({})).status).toBe(401);
    const report = (await (await ask({ 'x-reprise-token': token })).json()) as {
      path: string;
      last: { frame: number };
    };
    expect(report).toMatchObject({ path: 'world.db', last: { frame: 5 } });
    const exited = once(child, 'exit');
    child.kill('SIGINT');
    expect(await exited).toEqual([0, null]);
  });

  it('reprise inspect opens the address with the opener of the system, and goes on where no opener is found', async () => {
    const said = folder.file('opened');
    writeFileSync(folder.file('xdg-open'), `#!/bin/sh\necho "$1" > ${said}\n`);
    chmodSync(folder.file('xdg-open'), 0o755);
    for (const path of [folder.path, folder.file('nowhere')]) {
      const child = spawn(process.execPath, [PROGRAM, 'inspect', world], {
        ...{ cwd: folder.path, stdio: ['ignore', 'pipe', 'pipe'] },
        env: { PATH: `${path}:/usr/bin:/bin`.replace(/^.*nowhere.*$/, folder.file('nowhere')), HOME: folder.path },
      });
      let err = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        err += text;
      });
      const line = await firstLine(child);
      if (path === folder.path)
        await expect.poll(() => (existsSync(said) ? readFileSync(said, 'utf8') : '')).toBe(line);
      else await expect.poll(() => err).toContain('open the line above');
      const exited = once(child, 'exit');
      child.kill('SIGINT');
      expect(await exited).toEqual([0, null]);
    }
  });

  it('reprise inspect refuses a port that is in use, a wrong one, and a world that is not there, by their codes', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const busy = await command(folder.path, 'inspect', 'world.db', '--no-open', '--port', String(port));
    expect({ code: busy.code, out: busy.out }).toEqual({ code: 2, out: '' });
    expect(busy.err).toContain('invalid_argument: the port is in use');
    other.close();
    for (const wrong of ['65536', '-1', 'x', '1.5'])
      expect((await run('inspect', world, '--no-open', '--port', wrong)).code).toBe(2);
    const absent = await run('inspect', folder.file('none.db'), '--no-open');
    expect({ code: absent.code, err: absent.err }).toMatchObject({
      code: 3,
      err: expect.stringContaining('world_absent'),
    });
    const module = await run('inspect', world, '--no-open', '--app', folder.file('none.js'));
    expect({ code: module.code, err: module.err }).toMatchObject({ code: 2, err: expect.stringContaining('--app') });
  });

  it('reprise inspect --help names its options', async () => {
    const { code, out } = await run('inspect', '--help');
    expect(code).toBe(0);
    for (const option of ['--port <n>', '--no-open', '--app <module>', '--legacy <module>'])
      expect(out).toContain(option);
    expect(out).not.toContain('--json');
  });
});
