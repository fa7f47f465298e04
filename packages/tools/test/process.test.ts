import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { getBytes } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { type ProcessOptions, processes } from '../src/index.js';
import { callerOf, sandbox } from './sandbox.js';

const NODE = process.execPath;

/** The process tools of a separate folder, with approval given. */
function bench(options: Partial<ProcessOptions> = {}, files: Record<string, string> = {}) {
  const { root, outside } = sandbox(files);
  const closing = new AbortController();
  const tools = processes({ root, shell: true, background: true, ...options });
  const call = callerOf(tools, { closing: closing.signal });
  const script = (source: string) => call('run_process', { argv: [NODE, '-e', source] });
  return { root, outside, tools, call, script, closing };
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function gone(pid: number): Promise<boolean> {
  for (let n = 0; n < 100 && isAlive(pid); n++) await new Promise((resolve) => setTimeout(resolve, 50));
  return !isAlive(pid);
}

describe('what a program does with its output', () => {
  it.each([
    ['a NUL among its text', "printf 'x\\000y\\n'; echo ERROR; exit 1", /^x\ufffdy\nERROR\n\[exit 1\]$/],
    ['names that a NUL ends', "printf './a\\000./b\\000'; exit 2", /^\.\/a\ufffd\.\/b\ufffd\n\[exit 2\]$/],
    ['UTF-16', "printf '\\377\\376E\\000\\366\\000\\n\\000'; exit 3", /^Eö\n\[exit 3\]$/],
    ['half a character', "printf 'a\\303'; exit 4", /^a\ufffd\n\[exit 4\]$/],
    ['an end before the program goes on', 'echo a; exec >&- 2>&-; sleep 0.1; exit 5', /^a\n\[exit 5\]$/],
  ])('%s is read, and how the program ended [TOOL-63]', async (_what, command, expected) => {
    const { call } = bench();
    const { receipt, content } = await call('run_shell', { command });
    expect(new TextDecoder().decode(await getBytes(content, receipt.model_output_ref))).toMatch(expected);
  });
});

describe('a program that nothing answers', () => {
  it.each([
    ['reads without an input', 'cat; echo end', /^end\n\[exit 0\]$/],
    ['asks a question', 'printf "Continue? "; read x || echo "no answer"', /^Continue\? no answer\n\[exit 0\]$/],
    [
      'asks for a terminal',
      'test -t 0 || echo none; (exec 3</dev/tty) 2>/dev/null || echo "no tty"',
      /^none\nno tty\n/,
    ],
    ['leaves a child that holds its output', 'sleep 60 & echo left; exit 2', /^left\n\[exit 2\]$/],
    ['leaves a child in another session', 'setsid sleep 60 & echo left; exit 2', /^left\n\[exit 2\]$/],
    ['prints half a character at the end of a cut', `printf '\\346\\274%.0s' 1; exit 1`, /^\ufffd\n\[exit 1\]$/],
  ])('%s ends, and what it printed is read [TOOL-70]', async (_what, command, expected) => {
    const { call, closing } = bench({ timeout: '30s' });
    const { receipt, content } = await call('run_shell', { command });
    expect(new TextDecoder().decode(await getBytes(content, receipt.model_output_ref))).toMatch(expected);
    closing.abort();
  });
});

describe('running a program', () => {
  it('a program returns its output and its exit status; a bad exit status is not a failure of the tool', async () => {
    const { script } = bench();
    expect((await script('console.log("out"); console.error("err")')).text).toMatch(
      /^(out\nerr|err\nout)\n\[exit 0\]$/,
    );
    const bad = await script('process.stdout.write("half"); process.exitCode = 3');
    expect([bad.text, bad.refused]).toEqual(['half\n[exit 3]', false]);
    expect((await script('process.kill(process.pid, "SIGKILL")')).text).toBe('[ended by SIGKILL]');
  });

  it('arguments are passed unchanged, without a shell [TOOL-28]', async () => {
    const { call } = bench();
    const odd = ['$HOME', '; ls', '`id`', 'a b', '*'];
    const answer = await call('run_process', { argv: [NODE, '-p', 'JSON.stringify(process.argv.slice(1))', ...odd] });
    expect(JSON.parse(answer.text.split('\n')[0] ?? '')).toEqual(odd);
    expect((await call('run_shell', { command: 'echo $((20 + 3)) | cat' })).text).toBe('23\n[exit 0]');
  });

  it('what a program prints is reported while it runs, with the command it belongs to', async () => {
    const { call, root } = bench();
    const notes: unknown[] = [];
    const progress = (note: unknown): void => {
      notes.push(note);
      writeFileSync(path.join(root, 'heard'), ''); // the program waits for this
    };
    const command = 'printf é; while [ ! -e heard ]; do sleep 0.01; done; echo two';
    expect((await call('run_shell', { command }, { progress })).text).toBe('étwo\n[exit 0]');
    const told = notes.map((note) => note as { readonly text: string });
    expect(told[0]).toEqual({ type: 'delta', channel: 'output', program: command, text: 'é' });
    expect(told.map(({ text }) => text).join('')).toContain('étwo\n');
  });

  it('shell and background tools exist only on request', () => {
    expect(processes({ root: '.' }).map(({ name }) => name)).toEqual(['run_process']);
  });

  it('a program receives its input, and a folder inside the workspace', async () => {
    const { call, root } = bench({}, { 'sub/f': '' });
    const read = 'process.stdin.pipe(process.stdout); console.log(process.cwd())';
    const answer = await call('run_process', { argv: [NODE, '-e', read], stdin: 'said\n', cwd: 'sub' });
    expect(answer.text).toBe(`${path.join(root, 'sub')}\nsaid\n[exit 0]`);
    for (const cwd of ['..', '/tmp', 'sub/f', 'no']) {
      expect((await call('run_process', { argv: [NODE, '-v'], cwd })).refused).toBe(true);
    }
  });

  it('a program receives only the listed environment variables', async () => {
    process.env.REPRISE_TEST_SECRET = 'hush';
    process.env.REPRISE_TEST_PASSED = 'word';
    try {
      const { script } = bench({ pass: ['REPRISE_TEST_PASSED'] });
      const { text } = await script('console.log(JSON.stringify(process.env))');
      expect(text).not.toContain('hush');
      expect(text).toContain('"REPRISE_TEST_PASSED":"word"');
    } finally {
      delete process.env.REPRISE_TEST_SECRET;
      delete process.env.REPRISE_TEST_PASSED;
    }
  });

  it('a program that does not exist or is not listed is refused', async () => {
    expect((await bench().call('run_process', { argv: ['no-such-program'] })).text).toBe(
      'Refused: there is no such program: "no-such-program".',
    );
    const { call } = bench({ programs: [NODE] });
    expect((await call('run_process', { argv: ['/bin/sh', '-c', 'true'] })).refused).toBe(true);
    expect((await call('run_process', { argv: [NODE, '-e', ''] })).refused).toBe(false);
  });

  it('running a program needs approval, unless a rule that sees the command says otherwise [TOOL-28]', () => {
    const [run] = processes({ root: '.' });
    expect(run?.approval).toBe('always');
    const seen: unknown[] = [];
    const tools = processes({
      root: '.',
      shell: true,
      background: true,
      approval: ({ args }) => seen.push(args.argv) > 0,
    });
    const rules = Object.fromEntries(tools.map(({ name, approval }) => [name, typeof approval]));
    expect(rules).toMatchObject({ run_process: 'function', run_shell: 'function', start_process: 'function' });
    expect(rules).toMatchObject({ write_process: 'function', read_process: 'string', kill_process: 'string' });
    const shell = tools.find(({ name }) => name === 'run_shell')?.approval as (call: object) => unknown;
    shell({ args: { command: 'rm x', cwd: '.' }, key: 's', labels: {} });
    expect(seen).toEqual([['/bin/sh', '-c', 'rm x']]);
  });
});

describe('ending a program', () => {
  /** Starts a grandchild, prints its pid, and waits forever. */
  const family = `const { spawn } = require('node:child_process');
    const inner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    console.log(inner.pid); setInterval(() => {}, 1000);`;

  it('the whole process group is killed at the timeout, and its output is stored [TOOL-28]', async () => {
    const { call } = bench();
    const answer = await call('run_process', { argv: [NODE, '-e', family], timeout_seconds: 1 });
    expect(answer.refused).toBe(true);
    expect(answer.text).toMatch(/^\d+\nThe tool run_process failed: it ran longer than 1 s and was killed$/);
    expect(await gone(Number.parseInt(answer.text, 10))).toBe(true);
  });

  it('the whole process group is killed when the call is cancelled [TOOL-28]', async () => {
    const { call } = bench();
    const cancel = new AbortController();
    setTimeout(() => cancel.abort(), 700);
    const answer = await call('run_process', { argv: [NODE, '-e', family] }, { signal: cancel.signal });
    expect(answer.text).toMatch(/told to stop and was killed$/);
    expect(await gone(Number.parseInt(answer.text, 10))).toBe(true);
  });

  it('a process that ignores the stop signal is killed', async () => {
    const { call } = bench();
    const deaf = `process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000);`;
    const answer = await call('run_process', { argv: [NODE, '-e', deaf], timeout_seconds: 1 });
    expect(await gone(Number.parseInt(answer.text, 10))).toBe(true);
  });

  it('no child process remains after a program exits, and none is waited for', async () => {
    const { script } = bench();
    const leaving = `const { spawn } = require('node:child_process');
      const inner = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      inner.unref(); console.log(inner.pid);`;
    const answer = await script(leaving);
    expect(answer.text).toMatch(/^\d+\n\[exit 0\]$/);
    expect(await gone(Number.parseInt(answer.text, 10))).toBe(true);
  });
});

describe('what a program prints', () => {
  it('the output is stored whole and shortened for the model, including its end', async () => {
    const { script } = bench();
    const { text, receipt } = await script('for (let n = 0; n < 50_000; n++) console.log("line " + n)');
    expect(text.split('\n')).toHaveLength(50_001);
    expect(receipt.truncation_meta).toMatchObject({
      truncated: true,
      policy_id: 'model/process@1',
      original_lines: 50_001,
    });
    expect(receipt.truncation_meta.bounded_bytes).toBeLessThanOrEqual(16_384);
  });
});

describe('a program in the background', () => {
  const echo = `process.stdin.on('data', (d) => console.log('got ' + d)); process.stdin.on('end', () => process.exit(5)); console.log('up ' + process.pid);`;
  const start = async (call: ReturnType<typeof bench>['call'], source = echo) =>
    (await call('start_process', { argv: [NODE, '-e', source] })).text;

  it('ended background processes are forgotten in their order, and no name is given twice', async () => {
    const { call } = bench();
    const ends = async (name: string) => {
      expect(await start(call, '')).toBe(`Started ${name}.`);
      return (await call('kill_process', { process: name })).text;
    };
    for (let n = 1; n <= 34; n++) await ends(`p${n}`);
    const oldest = await call('read_process', { process: 'p1' });
    expect([oldest.refused, oldest.text]).toEqual([true, expect.stringContaining('There is no process p1')]);
    expect((await call('read_process', { process: 'p34' })).refused).toBe(false);
    expect(await ends('p35')).toMatch(/^p35: /);
  });

  it('a background process is started, read, written to and ended, under a name of its session', async () => {
    const { call } = bench();
    expect(await start(call)).toBe('Started p1.');
    expect((await call('read_process', { process: 'p1' })).text).toMatch(/^up \d+\n\[running\]$/);
    expect((await call('write_process', { process: 'p1', text: 'hi' })).text).toBe('Wrote to p1.');
    expect((await call('read_process', { process: 'p1' })).text).toBe('got hi\n[running]');
    await call('write_process', { process: 'p1', text: '', end: true });
    expect((await call('read_process', { process: 'p1' })).text).toBe('[exit 5]');
    expect((await call('write_process', { process: 'p1', text: 'x' })).refused).toBe(true);
    expect(await start(call, 'setInterval(() => {}, 1000)')).toBe('Started p2.');
    expect((await call('kill_process', { process: 'p2' })).text).toBe('p2: ended by SIGTERM');
    expect((await call('read_process', { process: 'p2', wait_seconds: 0 })).text).toBe('[ended by SIGTERM]');
    expect((await call('read_process', { process: 'p9' })).refused).toBe(true);
  });

  it('a background process is invisible to other sessions and worlds', async () => {
    const { call, tools } = bench();
    await start(call, 'setInterval(() => {}, 1000)');
    const elsewhere = callerOf(tools, { closing: new AbortController().signal });
    expect((await elsewhere('read_process', { process: 'p1' })).text).toMatch(/no process p1/);
    await call('kill_process', { process: 'p1' });
  });

  it('a background process ends with its world', async () => {
    const { call, closing } = bench();
    await start(call);
    const pid = Number.parseInt((await call('read_process', { process: 'p1' })).text.slice(3), 10);
    closing.abort();
    expect(await gone(pid)).toBe(true);
  });

  it('the oldest unread output is dropped, and its size is shown', async () => {
    const { call } = bench();
    await start(call, 'process.stdout.write("x".repeat(1_000_000)); setInterval(() => {}, 1000)');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const { text } = await call('read_process', { process: 'p1', wait_seconds: 1 });
    expect(text).toMatch(/^\[\d+ earlier bytes were dropped because they were not read in time\]\nx/);
    expect(text.length).toBeLessThan(300_000);
    await call('kill_process', { process: 'p1' });
  });

  it('at most eight background processes run in a session', async () => {
    const { call } = bench();
    for (let n = 0; n < 8; n++) expect(await start(call, 'setInterval(() => {}, 1000)')).toMatch(/^Started/);
    expect(await start(call)).toMatch(/^Refused: 8 processes are running/);
    for (let n = 1; n <= 8; n++) await call('kill_process', { process: `p${n}` });
    expect(await start(call, '')).toBe('Started p9.');
  });
});

describe('a host that exits', () => {
  it('a host that exits kills its programs', async () => {
    const { root, script } = bench();
    const pidFile = path.join(root, 'pid');
    const home = path.resolve(import.meta.dirname, '../../..');
    const source = `import { startGroup } from ${JSON.stringify(path.join(home, 'packages/tools/src/process/group.ts'))};
      const group = await startGroup({ program: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'], cwd: '/', env: {} });
      (await import('node:fs')).writeFileSync(${JSON.stringify(pidFile)}, String(group.pid));
      process.exit(0);`;
    await script(
      `const { spawnSync } = require('node:child_process');
       spawnSync(process.execPath, ['--import', 'tsx', '--conditions=@reprise/source', '--input-type=module', '-e', ${JSON.stringify(source)}], { cwd: ${JSON.stringify(home)}, stdio: 'inherit' });`,
    );
    expect(existsSync(pidFile)).toBe(true);
    expect(await gone(Number(readFileSync(pidFile, 'utf8')))).toBe(true);
  });
});
