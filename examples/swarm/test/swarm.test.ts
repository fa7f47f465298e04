/** The swarm as a person uses it: a real process, a real folder, signals. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program } from '../../../scripts/lib/program.js';

const MAIN = await program(new URL('../src/main.ts', import.meta.url));
let home = '';
const started = new Set<ChildProcessWithoutNullStreams>();

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'reprise-swarm-'));
  mkdirSync(path.join(home, 'shop'));
  mkdirSync(path.join(home, 'empty'));
  writeFileSync(path.join(home, 'shop/README.md'), '# Shop\n');
  writeFileSync(path.join(home, 'shop/order.ts'), `// TODO: print orders\nexport const all = '${'x'.repeat(130)}';\n`);
});

afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  started.clear();
  rmSync(home, { recursive: true, force: true });
});

function start(...args: readonly string[]) {
  const env = { ...process.env, XDG_STATE_HOME: path.join(home, 'state') };
  const argv = [MAIN, ...args];
  const child = spawn(process.execPath, argv, { env, cwd: home });
  started.add(child);
  const seen = { out: '', err: '' };
  child.stderr.on('data', (piece) => {
    seen.err += String(piece);
  });
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, ...seen })),
  );
  const until = (text: string) =>
    new Promise<void>((resolve) => {
      child.stdout.on('data', () => void (seen.out.includes(text) && resolve()));
      void ended.then(() => resolve());
    });
  child.stdout.on('data', (piece) => {
    seen.out += String(piece);
  });
  return { child, ended, until };
}

/** What every report of the sample says. */
const EXPECTED = [
  'ada  README.md:1: # Shop',
  'ben  order.ts:1: // TODO: print orders',
  'ada  order.ts:2: export const all',
  'cleo README.md:9001: There are no errors.',
  'led by cleo: it lost its lead',
  '0.59 low (2)',
  'llm.generate@2 ended with cap_denied/revoked',
];

describe('the research of a folder', () => {
  it('the report names what was found by file and line, who lost its trust, and what was ended', async () => {
    const { code, out, err } = await start('shop').ended;
    expect([code, err]).toEqual([0, '']);
    for (const words of EXPECTED) expect(out).toContain(words);
    // The first thing that is said, before anything is written there.
    expect(out.split('\n', 1)).toEqual([`The research is kept in ${/frames in (.*)/.exec(out)?.[1]}.`]);
    expect(out).toMatch(/^reader [0-9a-f]{6} shares group:begin-ada#1$/m);
    expect(out).toMatch(/^reader [0-9a-f]{6} shares group:unfinished-ben#3$/m);
    const report = out.slice(out.indexOf('What was found'), out.indexOf(' frames in '));
    expect(report.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it.each(['SIGKILL', 'SIGINT'] as const)(
    'a research that is ended by %s goes on with the same command',
    async (signal) => {
      const first = start('shop', '--pace', '40');
      await first.until('swarm unfinished-ben is executing');
      first.child.kill(signal);
      const killed = await first.ended;
      expect(killed.out).not.toContain('What was found');
      if (signal === 'SIGINT') expect([killed.code, killed.err]).toEqual([130, expect.stringContaining('continues')]);
      const { code, out, err } = await start('shop').ended;
      expect([code, err]).toEqual([0, '']);
      for (const words of EXPECTED) expect(out).toContain(words);
    },
  );

  it.each<readonly [string, readonly string[], string]>([
    ['a folder that does not exist', ['nowhere'], 'there is no folder'],
    ['a file', ['shop/README.md'], 'is a file, not a folder'],
    ['an empty folder', ['empty'], 'is empty'],
    ['two folders', ['shop', 'empty'], 'one folder is researched at a time'],
    ['an unknown option', ['--colour'], "Unknown option '--colour'"],
    ['a pace that is no number', ['--pace', 'slow'], '--pace takes milliseconds'],
  ])('%s is refused with words, and the exit code is 2', async (_what, args, words) => {
    const { code, err } = await start(...args).ended;
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  });
});
