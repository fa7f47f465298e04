/** Starts every program of the ladder in an empty folder, and checks what it prints and which worlds it leaves. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { defineAgent } from 'reprise';
import { verifyStore } from 'reprise/kernel';
import { appOf } from 'reprise/org';
import { sqlite } from 'reprise/sqlite';
import { trees } from 'reprise/tree';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nativeDriver, ONE_FILE } from '../../../conformance/bundle.js';
import { ownAddress } from '../../../scripts/lib/own-address.js';

const LADDER = path.resolve(import.meta.dirname, '..');
const scratch = mkdtempSync(path.join(tmpdir(), 'reprise-ladder-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** The program that is killed at its first start. */
const DYING = '06-after-a-crash';

const programs = readdirSync(path.join(LADDER, 'src')).map((file) => path.basename(file, '.ts'));

/** The outputs on the page, by program: those of its first start, its second, and so on. */
function promises(page: string): Map<string, readonly string[]> {
  const [, ...sections] = page.split(/^## \[/m);
  return new Map(
    sections.map((section) => {
      const outputs = [...section.matchAll(/^```output\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
      return [section.slice(0, section.indexOf(']')), outputs];
    }),
  );
}

const promised = promises(readFileSync(path.join(LADDER, 'README.md'), 'utf8'));

/** All programs at once, as plain JavaScript: starting one costs a fraction of starting its sources. */
beforeAll(() =>
  build({
    ...ONE_FILE,
    entryPoints: programs.map((program) => path.join(LADDER, 'src', `${program}.ts`)),
    outdir: path.join(scratch, 'programs'),
    outExtension: { '.js': '.mjs' },
    splitting: true,
    external: ['esbuild', 'typescript', 'tsx', 'tsx/*'],
    logLevel: 'error',
    plugins: [nativeDriver, ownAddress()],
  }),
);

function start(program: string, folder: string) {
  const file = path.join(scratch, 'programs', `${program}.mjs`);
  const { FORCE_COLOR: _, ...env } = process.env;
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, [file], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...env, NO_COLOR: '1' },
  });
  return { stdout, stderr, ended: signal ?? status };
}

const any = defineAgent({ name: 'any', model: 'main', instructions: '' });
/** Sessions and trees: what the programs' worlds are made of. */
const app = appOf([trees({ agents: [any] })]);

/** Verifies each world in a folder, as `reprise verify` does; returns their number. */
async function verifyWorlds(folder: string): Promise<number> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.db'));
  for (const file of files) {
    const store = await sqlite(path.join(folder, file)).openReadonly();
    const { replayed, unverified, frames } = await verifyStore(store, { app });
    await store.close();
    expect({ replayed, unverified }).toEqual({ replayed: frames, unverified: 0 });
  }
  return files.length;
}

describe('the ladder', () => {
  it('every program has a place on the page of the ladder', () => {
    expect([...promised.keys()]).toEqual(programs);
  });

  it.each(programs)(
    'the program %s prints the output on its page, and leaves a world that replays',
    async (program) => {
      const folder = path.join(scratch, program);
      mkdirSync(folder);
      const outputs = promised.get(program) ?? [];
      expect(outputs.length).toBeGreaterThan(0);
      for (const [i, stdout] of outputs.entries()) {
        const ended = program === DYING && i === 0 ? 'SIGKILL' : 0;
        expect(start(program, folder)).toEqual({ stdout, stderr: '', ended });
      }
      expect(await verifyWorlds(folder)).toBe(1);
    },
  );

  it('a payment happens once, although the process dies while it pays', () => {
    expect(readFileSync(path.join(scratch, DYING, 'payments.txt'), 'utf8')).toBe('invoice 7\n');
  });

  it.each(programs)('%s fits on a screen or two, and ends by verifying its world', (program) => {
    const lines = readFileSync(path.join(LADDER, 'src', `${program}.ts`), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.at(-1)).toBe('await world.verify();');
    expect(lines.length).toBeLessThanOrEqual(80);
  });
});
