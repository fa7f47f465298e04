/** `reprise inspect`: the page of a world, as a process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { program } from '../../../scripts/lib/program.js';
import { command, PROGRAM, run, start, startProgram } from './run.js';
import { freshFolder, makeLedger } from './worlds.js';

const CHATTER = await program(new URL('apps/chatter.ts', import.meta.url));
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

/** What stands beside a world that is open. Readers write into the index of the log (`-shm`), as SQLite has them do. */
const FILES = ['chat.db', 'chat.db-lock', 'chat.db-lock-journal', 'chat.db-shm', 'chat.db-wal'];

/** Each file of a folder, but for the index of the log, by the digest of its bytes. */
function bytesIn(path: string): readonly (readonly [string, string])[] {
  const names = readdirSync(path).sort();
  const digest = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(path, name)))
      .digest('hex');
  return names.map((name) => [name, name.endsWith('-shm') ? '' : digest(name)]);
}

/** Stops a process, and waits until it stands still. */
async function stopped({ pid }: ChildProcess): Promise<void> {
  process.kill(pid ?? 0, 'SIGSTOP');
  const state = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0];
  await expect.poll(state).toBe('T');
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

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'reprise inspect that ends by %s while it answers about memories, rights and differences leaves no file, no byte of the world and no lock behind, whether the writer writes or stands still',
    async (signal) => {
      const home = freshFolder();
      const path = home.file('chat.db');
      const writer = startProgram(home.path, CHATTER, path);
      let said = 0;
      writer.stderr?.resume();
      writer.stdout?.on('data', () => said++);
      await expect.poll(() => said, { timeout: 60_000 }).toBeGreaterThan(3);
      for (const isStill of [false, true]) {
        if (isStill) await stopped(writer);
        const before = isStill ? bytesIn(home.path) : undefined;
        const page = start(home.path, 'inspect', 'chat.db', '--no-open');
        const [, port, token = ''] = ADDRESS.exec(await firstLine(page)) ?? [];
        const ask = (question: string) =>
          fetch(`http://127.0.0.1:${port}/api/${question}`, { headers: { 'x-reprise-token': token } });
        const [screens, last] = [['memory', 'rights?holder=operator', 'diff?a=1&b=6'], 'memory?limit=9'];
        expect(await Promise.all(screens.map(async (one) => (await ask(one)).status))).toEqual([200, 200, 200]);
        const exited = once(page, 'exit');
        const open = [...screens, last].map((one) =>
          ask(one).then(
            ({ status }) => status,
            () => 'cut',
          ),
        );
        page.kill(signal);
        expect(await exited).toEqual(signal === 'SIGINT' ? [0, null] : [null, signal]);
        for (const answer of await Promise.all(open)) expect([200, 'cut']).toContain(answer);
        if (isStill) expect(bytesIn(home.path)).toEqual(before);
        else expect(readdirSync(home.path).sort()).toEqual(FILES);
      }
      const heard = said;
      writer.kill('SIGCONT');
      await expect.poll(() => said, { timeout: 60_000 }).toBeGreaterThan(heard + 2);
      const gone = once(writer, 'exit');
      writer.kill('SIGKILL');
      await gone;
      expect(await run('verify', path)).toMatchObject({ code: 0, err: '' });
      home.remove();
    },
  );

  it('reprise inspect --help names its options', async () => {
    const { code, out } = await run('inspect', '--help');
    expect(code).toBe(0);
    for (const option of ['--port <n>', '--no-open', '--app <module>', '--legacy <module>'])
      expect(out).toContain(option);
    expect(out).not.toContain('--json');
  });
});
