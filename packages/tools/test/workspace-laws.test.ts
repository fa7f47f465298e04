/** Listings and searches of small random folders, compared with an oracle that does everything the plain way. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Tool, ToolContext } from '@reprise/agent';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { workspace } from '../src/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 20261123);
const RERUN = `REPRISE_SEED=${SEED} npx vitest run packages/tools/test/workspace-laws.test.ts`;

const IGNORED = 'node_modules';
const names = fc.constantFrom('a', 'b', 'ab', 'a.ts', 'B.ts', 'é', 'é.ts', '.hid', 'a b', '😀', 'z-1', IGNORED);
const paths = fc.array(names, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const texts = fc.array(fc.constantFrom('ab', 'needle', 'a needle in b', '', 'NEEDLE'), { maxLength: 4 });
const folders = fc.dictionary(paths, texts, { maxKeys: 12 });
const steps = fc.constantFrom(
  '**',
  '*',
  'a',
  'A*',
  '*.ts',
  '*b*',
  '{a,b}',
  '{a,é}.ts',
  '.',
  '**',
  'node_modules',
  '*-*1',
);
const patterns = fc.array(steps, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

/** Writes the files that can exist together: a file is no folder of another one. */
function made(files: Readonly<Record<string, readonly string[]>>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'reprise-law-'));
  for (const [name, lines] of Object.entries(files)) {
    try {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      writeFileSync(path.join(root, name), lines.join('\n'));
    } catch {
      // A file stands where a folder is needed, or the other way round.
    }
  }
  return root;
}

interface Found {
  readonly names: readonly string[];
  readonly isFile: boolean;
}

/** Every entry, breadth first, each folder by the bytes of the names, without entering ignored folders. */
function everything(root: string): Found[] {
  const all: Found[] = [];
  let level: string[][] = [[]];
  while (level.length > 0) {
    const next: string[][] = [];
    for (const folder of level) {
      const entries = readdirSync(path.join(root, ...folder), { withFileTypes: true });
      entries.sort((one, other) => Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)));
      for (const entry of entries) {
        all.push({ names: [...folder, entry.name], isFile: entry.isFile() });
        if (entry.isDirectory() && entry.name !== IGNORED) next.push([...folder, entry.name]);
      }
    }
    level = next;
  }
  return all;
}

/** Whether a pattern matches, by trying everything. */
function fits(names: readonly string[], steps: readonly string[]): boolean {
  const [step, ...rest] = steps;
  if (step === undefined) return names.length === 0;
  if (step === '.') return fits(names, rest);
  if (step === '**') return names.some((_, at) => fits(names.slice(at), rest)) || fits([], rest);
  const [name, ...others] = names;
  if (name === undefined) return false;
  const choices = step.match(/^\{(.*),(.*)\}(.*)$/);
  const plain = choices === null ? [step] : [`${choices[1]}${choices[3]}`, `${choices[2]}${choices[3]}`];
  const source = plain.map((one) => one.replace(/[.{}]/g, '\\$&').replaceAll('*', '.*')).join('|');
  const lower = (text: string): string => text.replace(/[A-Z]/g, (unit) => unit.toLowerCase());
  return new RegExp(`^(?:${lower(source)})$`, 's').test(lower(name)) && fits(others, rest);
}

const shown = (path: string): string => (/^[^\s"\\]+$/.test(path) ? path : JSON.stringify(path));

async function lines(root: string, name: string, args: object): Promise<string[]> {
  const tool = workspace({ root, readOnly: true }).find((one) => one.name === name) as Tool;
  const given = (tool.args as unknown as { parse(args: object): never }).parse(args);
  const context = { signal: new AbortController().signal } as ToolContext<never>;
  return String(await tool.run(given, context)).split('\n');
}

async function hold(property: fc.IAsyncProperty<[Record<string, string[]>, string]>): Promise<void> {
  const found = await fc.check(property, { seed: SEED, numRuns: 400 / stepOf(4) });
  if (!found.failed) return;
  throw new Error(`${String(found.errorInstance)}\nrerun: ${RERUN}\n${JSON.stringify(found.counterexample)}`);
}

/** Checks a law on random folders. */
function law(check: (root: string, pattern: string) => Promise<void>): Promise<void> {
  return hold(
    fc.asyncProperty(folders, patterns, async (files, pattern) => {
      const root = made(files);
      try {
        await check(root, pattern);
      } finally {
        rmSync(root, { recursive: true });
      }
    }),
  );
}

describe('small random folders', () => {
  it(`list_files shows what reading every folder shows, in the same order (seed ${SEED}) [TOOL-30]`, () =>
    law(async (root) => {
      const [heading, ...rest] = await lines(root, 'list_files', { depth: 32, limit: 1_000 });
      const all = everything(root);
      expect(rest.map((line) => line.split(' ').slice(3).join(' '))).toEqual(
        all.map(({ names }) => shown(names.join('/'))),
      );
      const ignored = all.filter(({ names, isFile }) => !isFile && names.at(-1) === IGNORED).length;
      expect(heading?.includes('ignored')).toBe(ignored > 0);
    }));

  it(`glob finds what trying every way to match finds, in the same order (seed ${SEED}) [TOOL-30]`, () =>
    law(async (root, pattern) => {
      const [heading, ...rest] = await lines(root, 'glob', { pattern, limit: 1_000 });
      const steps = pattern.split('/');
      const found = everything(root).filter(({ names, isFile }) => isFile && fits(names, steps));
      expect(rest).toEqual(found.map(({ names }) => shown(names.join('/'))));
      expect(heading).toMatch(new RegExp(`^${found.length} files`));
    }));

  it(`grep finds the lines that reading every file finds, in the same order (seed ${SEED}) [TOOL-30]`, () =>
    law(async (root, pattern) => {
      const ignore_case = pattern.length % 2 === 0;
      const regex = pattern.length % 3 === 0;
      const [heading, ...rest] = await lines(root, 'grep', { pattern: 'needle', ignore_case, regex, limit: 500 });
      const files = everything(root).filter(({ isFile }) => isFile);
      const found = files.flatMap(({ names }) =>
        readFileSync(path.join(root, ...names), 'utf8')
          .split('\n')
          .flatMap((line, at) => {
            const isHit = (ignore_case ? line.toLowerCase() : line).includes('needle');
            return isHit ? [`${shown(names.join('/'))}:${at + 1}: ${line}`] : [];
          }),
      );
      expect(rest).toEqual(found);
      expect(heading).toContain(`${found.length} matches`);
      expect(heading).toContain(`${files.length} files searched`);
    }));
});
