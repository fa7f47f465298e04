/** Code that reaches for what would let it replay otherwise, or out of its sandbox. */

import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { deep, spread } from '../../../conformance/part.js';
import { program } from '../../../scripts/lib/program.js';
import { withholding } from '../src/flags.js';
import { bundleOfMutant, forged, refusal, replayAlone, worldWith } from './worlds.js';

const folder = mkdtempSync(join(tmpdir(), 'reprise-hostile-'));
const OWNER = await program(new URL('apps/owner.ts', import.meta.url));
const MARK = join(folder, 'mark');
afterAll(() => rmSync(folder, { recursive: true }));

/** Gets a process from a function maker, and leaves a mark if it can. */
const leaveMark = (maker: string) =>
  `(${maker})('return process')().getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(MARK)}, 'x');`;

const REACHES: readonly (readonly [string, string])[] = [
  ['Date.now', 'Date.now();'],
  ['new Date()', 'new Date();'],
  ['Date.getHours', 'new Date(0).getHours();'],
  ['Math.random', 'Math.random();'],
  ['Math.pow', 'Math.pow(2, 0.5);'],
  ['Intl.NumberFormat', 'new Intl.NumberFormat();'],
  ['String.toLowerCase', "'A'.toLowerCase();"],
  ['WeakRef', 'new WeakRef({});'],
  ['setTimeout', 'setTimeout(() => {}, 1);'],
  ['queueMicrotask', 'queueMicrotask(() => {});'],
  ['fetch', "fetch('http://localhost');"],
  ['process', 'process.exit(0);'],
  ['Buffer', "Buffer.from('');"],
  ['crypto', 'crypto.randomUUID();'],
  ['performance', 'performance.now();'],
  ['eval', "eval('1');"],
  ['Function', "new Function('return 1');"],
  ['Function', leaveMark('(() => {}).constructor')],
  ['Function', leaveMark('(async () => {}).constructor')],
  ['Function', leaveMark('(function* () {}).constructor')],
  ['WebAssembly', 'WebAssembly.Module;'],
  ['SharedArrayBuffer', 'new SharedArrayBuffer(8);'],
  ['Atomics', 'Atomics.add;'],
];

describe('code that uses what a sandbox does not have', () => {
  it.each(spread(4, REACHES))(
    'during replay %s is reported, although the code catches the error [RPL-24]',
    async (name, twist) => {
      const mutant = await bundleOfMutant(`try { ${twist} } catch {}`);
      const { code, message } = await refusal(replayAlone(await worldWith(forged(mutant))));
      expect(code).toBe('replay_divergence');
      expect(message).toContain(name);
      expect(existsSync(MARK)).toBe(false);
    },
  );

  it('inside a frame the code faults as under the guard, and the divergence names the missing global', async () => {
    const mutant = await bundleOfMutant('', 'try { Math.random(); } catch {}');
    const { code, details } = await refusal(replayAlone(await worldWith(forged(mutant))));
    expect([code, details.actual]).toEqual(['replay_divergence', expect.objectContaining({ code: 'nondeterminism' })]);
    expect(details.hint).toContain('Pure code reached for Math.random. ');
  });

  it.each(
    spread(
      4,
      REACHES.filter(([name]) => name !== 'Atomics' && name !== 'WebAssembly'),
    ),
  )('during loading, the sandbox refuses %s', async (name, line) => {
    const error = await refusal(replayAlone(await worldWith(forged(line))));
    expect(error.code).toBe('code_failed');
    expect(error.what).toContain(name);
    expect(existsSync(MARK)).toBe(false);
  });

  it.each([
    ['a module of the host', "require('node:fs');", 'a sandbox has no module node:fs'],
    ['a module that it does not bring', "require('left-pad');", 'a sandbox has no module left-pad'],
  ])('%s', async (_, line, what) => {
    expect((await refusal(replayAlone(await worldWith(forged(line))))).what).toContain(what);
  });

  it.each([
    "import('node:fs')",
    'import/**/("x")',
    'import //\n("x")',
    'import\n.meta',
    'import<!--\n("x")',
    'import\n--> c\n("x")',
  ])('a request to the host for a module by %j is refused before anything runs', async (line) => {
    const error = await refusal(replayAlone(await worldWith(forged(`try { ${line} } catch {}`))));
    expect([error.code, error.what]).toEqual(['code_failed', 'pure code may not import while it runs']);
  });
});

describe('malicious code', () => {
  it.each([
    ['the language', 'Array.prototype.push = () => 0;'],
    ['a global', 'globalThis.Map = class {};'],
    ['a hidden prototype', 'Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true });'],
    ['what it is given', "require('@reprise/kernel').defineApp = () => 0;"],
    ['a class that it is given', "require('@reprise/kernel').Ref.prototype.toString = () => '';"],
    ['how errors look', 'Error.prepareStackTrace = (_, frames) => frames;'],
  ])('malicious code cannot change %s', async (_, line) => {
    const error = await refusal(replayAlone(await worldWith(forged(line))));
    expect([error.code, error.what]).toEqual(['code_failed', expect.stringContaining('TypeError')]);
  });

  it('code may define properties of frozen prototypes on its own errors and objects, and delete them again', async () => {
    const mutant = await bundleOfMutant(`
      const error = new TypeError('mine');
      error.name = 'Mine';
      const thing = {};
      thing.toString = () => 'own';
      thing.constructor = null;
      if (String(error) !== 'Mine: mine' || String(thing) !== 'own') more = 1;
      if (!Object.keys(thing).includes('toString')) more = 2;
      delete error.name;
      if (error.name !== 'TypeError') more = 3;
    `);
    expect(await replayAlone(await worldWith(forged(mutant)))).toMatchObject({ unverified: 0 });
  });

  it('code finds no object of the outer process: not in a stack, not behind a global, not in its arguments [RPL-24]', async () => {
    const mutant = await bundleOfMutant(`
      const seen = [];
      const reach = (thing) => { try { seen.push(Object.getPrototypeOf(thing).constructor.constructor('return process')); } catch {} };
      reach(globalThis);
      reach(new Error('x').stack);
      try { null.x } catch (e) { reach(e); }
      try { (function f() { f(); })(); } catch (e) { reach(e); }
      if (seen.some((found) => typeof found === 'object')) more = 1;
    `);
    const { message } = await refusal(replayAlone(await worldWith(forged(mutant))));
    expect(message).toContain('Function'); // every way led to the same trap
  });

  it('code that does not terminate is ended, during loading and during replay [RPL-24]', async () => {
    const loading = await refusal(replayAlone(await worldWith(forged('for (;;);')), { silentMs: 1_500 }));
    expect([loading.code, loading.what]).toEqual(['code_failed', expect.stringContaining('it sent no message')]);
    const mutant = forged(await bundleOfMutant('for (;;);'));
    const replaying = await refusal(replayAlone(await worldWith(mutant), { silentMs: 3_000 }));
    expect([replaying.code, replaying.details.where]).toEqual(['code_failed', 'frame 1']);
  });

  it('code that exceeds its memory bound is ended [RPL-24]', async () => {
    const hoard = forged('const all = []; for (;;) all.push(new Array(1e6).fill(all.length));');
    const error = await refusal(replayAlone(await worldWith(hoard), { memoryMb: 64 }));
    expect([error.code, error.what]).toEqual(['code_failed', expect.stringMatching(/its process ended|of memory/)]);
  });

  deep('hostile code: memory', () => {
    it.runIf(process.platform !== 'win32').each([
      ['buffers', 'const all = []; for (;;) all.push(new Uint8Array(2 ** 20).fill(1));'],
      [
        'buffers that grow',
        'let one = new ArrayBuffer(1, { maxByteLength: 2 ** 30 }); one.resize(2 ** 30); new Uint8Array(one).fill(1); for (;;);',
      ],
      ['one buffer', 'const one = new Uint8Array(2 ** 30).fill(1); for (;;) one[0]++;'],
      ['texts', "const all = []; for (let n = 0; ; n++) all.push(Array.from('x'.repeat(9e5) + n).join());"],
    ])(
      'code is ended when its %s take more than their share of memory, and before they take twice as much',
      async (_, line) => {
        const before = new Set(nodes().keys());
        const peak = { mb: 0 };
        const watch = setInterval(() => {
          for (const [pid, mb] of nodes()) if (!before.has(pid)) peak.mb = Math.max(peak.mb, mb);
        }, 5);
        const error = await refusal(replayAlone(await worldWith(forged(line)), { memoryMb: 256, silentMs: 150_000 }));
        clearInterval(watch);
        expect([error.code, error.what]).toEqual([
          'code_failed',
          expect.stringMatching(/its process ended|of memory|allocation failed/),
        ]);
        if (process.platform === 'linux') expect(peak.mb).toBeLessThan(700);
      },
    );
  });
});

/** The sandboxes of this machine by process id, with the most memory that each took, in MiB. */
function nodes(): Map<string, number> {
  const found = new Map<string, number>();
  for (const pid of existsSync('/proc') ? readdirSync('/proc') : []) {
    try {
      if (!/^[0-9]+$/.test(pid) || !readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('--frozen-intrinsics'))
        continue;
      found.set(pid, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024);
    } catch {
      // It is over.
    }
  }
  return found;
}

/** The process that started a process; undefined when it is over. */
function parentOf(pid: string): number | undefined {
  try {
    return Number(/PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
  } catch {
    return undefined;
  }
}

describe('the process of a sandbox', () => {
  it.runIf(process.platform === 'linux')(
    'the process of a sandbox ends with its owner, also when the owner is killed and the code never pauses',
    async () => {
      const before = new Set(nodes().keys());
      const owner = spawn(process.execPath, [OWNER], {
        stdio: 'ignore',
      });
      // Other sandboxes may begin on this machine meanwhile: those of other test files.
      const own = () => [...nodes().keys()].filter((pid) => !before.has(pid) && parentOf(pid) === owner.pid);
      await expect.poll(() => own().length).toBeGreaterThan(0);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const seen = own();
      expect(seen).not.toEqual([]);
      owner.kill('SIGKILL');
      await expect.poll(() => seen.filter((pid) => nodes().has(pid))).toEqual([]);
    },
  );
});

describe('the process of a sandbox under the control of its code', () => {
  const run = async (program: string) => {
    const args = [...withholding(64), '--eval', program];
    return (await promisify(execFile)(process.execPath, args, { env: {} })).stdout.trim();
  };
  const failing = (line: string) =>
    `try { ${line}; console.log('done') } catch (error) { console.log(error.code ?? error.name) }`;

  it.each([
    ['read', `require('fs').readFileSync(${JSON.stringify(import.meta.filename)})`, 'ERR_ACCESS_DENIED'],
    ['write', `require('fs').writeFileSync(${JSON.stringify(MARK)}, 'x')`, 'ERR_ACCESS_DENIED'],
    ['start a process', `require('child_process').spawnSync('ls')`, 'ERR_ACCESS_DENIED'],
    ['start a thread', `new (require('worker_threads').Worker)('1', { eval: true })`, 'ERR_ACCESS_DENIED'],
    ['make code of text', `Function('return 1')`, 'EvalError'],
    ['see the environment', `if (Object.keys(process.env).length === 0) throw new Error('empty')`, 'Error'],
    ['change the language', `'use strict'; (() => { 'use strict'; Array.prototype.push = 1; })()`, 'TypeError'],
  ])('the operating system denies the process of a sandbox to %s [RPL-25]', async (_, line, code) => {
    expect(await run(failing(line))).toBe(code);
    expect(existsSync(MARK)).toBe(false);
  });

  it('without its restrictions the process could do all of that [RPL-25]', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--eval',
      failing(`require('fs').readdirSync('.')`),
    ]);
    expect(stdout.trim()).toBe('done');
  });
});
