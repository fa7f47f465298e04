/** Programs that tests start as one file: never older than what they are made from. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { program } from '../lib/program.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reprise-program-'));
});
afterEach(async () => {
  const dir = path.resolve(await made(), '../..');
  for (const place of [dir, folder]) rmSync(place, { recursive: true, force: true });
});

const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
const made = () => program(pathToFileURL(path.join(folder, 'main.ts')));
const printed = async () => execFileSync(process.execPath, [await made()], { encoding: 'utf8' });

it('a program is made once, made anew when a module of it changes, and made again when it changes back', async () => {
  write('main.ts', "import { part } from './part.js';\nprocess.stdout.write(part);\n");
  write('part.ts', "export const part: string = 'one';\n");
  const first = await made();
  const { mtimeMs } = statSync(first);
  expect(await printed()).toBe('one');
  expect(statSync(first).mtimeMs).toBe(mtimeMs);
  write('part.ts', "export const part: string = 'two';\n");
  expect(await printed()).toBe('two');
  write('part.ts', "export const part: string = 'one';\n");
  expect(await printed()).toBe('one');
  expect(await made()).toBe(first);
});

it('each module of a program keeps the address of its source', async () => {
  write('main.ts', "import { at } from './part.js';\nprocess.stdout.write([import.meta.url, at].join(' '));\n");
  write('part.ts', 'export const at = import.meta.filename;\n');
  const main = path.join(folder, 'main.ts');
  expect(await printed()).toBe(`${pathToFileURL(main).href} ${path.join(folder, 'part.ts')}`);
});
