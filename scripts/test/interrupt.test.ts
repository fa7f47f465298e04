/** Ctrl-C ends a command that runs several programs, not only the program that is running, and ends an installation. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const RUN_EACH = fileURLToPath(new URL('../lib/run-each.mjs', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'reprise-run-each-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Programs that wait; one of them ends by itself at a signal, as if nothing had happened. */
const PROGRAMS = {
  first: `process.on('SIGINT', () => process.exit(0)); console.log('waits'); setInterval(() => {}, 1000);`,
  second: `console.log('second runs');`,
};

describe('programs that run one after the other', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s ends the current program and starts no other', async (signal) => {
    const items = Object.entries(PROGRAMS).map(([name, text]) => {
      const file = path.join(folder, `${name}.ts`);
      writeFileSync(file, text);
      return { name, file };
    });
    const text = `import { runEach } from ${JSON.stringify(RUN_EACH)}; await runEach(${JSON.stringify(items)}, []);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (bytes: Buffer) => {
      out += bytes;
      if (out.endsWith('waits\n')) child.kill(signal);
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, out }).toEqual({ code: signal === 'SIGINT' ? 130 : 143, out: '== first\nwaits\n' });
  });
});

describe('an installation', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s ends setup soon, although npm wants to tidy up', async (signal) => {
    const clone = path.join(folder, `clone-${signal}`);
    const scripts = fileURLToPath(new URL('..', import.meta.url));
    for (const part of ['lib', 'setup.mjs'])
      cpSync(path.join(scripts, part), path.join(clone, 'scripts', part), { recursive: true });
    writeFileSync(
      path.join(clone, 'package-lock.json'),
      '{ "packages": { "node_modules/a": { "version": "1.0.0" } } }',
    );
    const npm = path.join(clone, 'npm/npm-cli.js'); // stands in for an npm that takes long
    mkdirSync(path.dirname(npm));
    writeFileSync(npm, `process.on('${signal}', () => {}); console.log('waits'); setInterval(() => {}, 1000);`); // it never ends
    const child = spawn(process.execPath, [path.join(clone, 'scripts/setup.mjs')], {
      env: { ...process.env, npm_execpath: npm },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let err = '';
    child.stderr.on('data', (bytes: Buffer) => {
      err += bytes;
    });
    child.stdout.on('data', (bytes: Buffer) => {
      if (!bytes.toString().includes('waits')) return;
      child.kill(signal);
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, err }).toEqual({
      code: signal === 'SIGINT' ? 130 : 143,
      err: '\nsetup: interrupted. Run the same command again: it begins the installation anew.\n',
    });
  });
});
