/** A small repository with faults at known lines. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "shop" }\n',
  'README.md': '# Shop\n\nSee [the guide](docs/guide.md) and [the rules](docs/rules.md).\n',
  'docs/guide.md':
    '# Guide\n\nTODO: say how to order.\n\nBack to [the start](../README.md), on to [an order](an%20order.md?plain=1#top).\n',
  'docs/an order.md': '# An order\n',
  'src/login.ts': [
    '/** Signs a user in. */',
    'export function login(name: string, given: any): boolean {',
    "  const apiKey = 'sk_live_0123456789abcdefghij';",
    '  return eval(given) === apiKey + name;',
    '}',
    '',
    'export function token(): string {',
    '  return String(Math.random());',
    '}',
    '',
    '// eval(this) in a comment, and a text:',
    "export const HELP = 'never call eval(text)';",
    '',
  ].join('\n'),
  'src/order.ts': [
    "import { execSync } from 'node:child_process';",
    '',
    '/** Prints an order. */',
    'export function print(file: string): void {',
    '  try {',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code of the sample
    '    execSync(`lpr ${file}`);',
    '  } catch (error) {}',
    '}',
    '',
  ].join('\n'),
  'test/login.test.ts': [
    "import { it } from 'vitest';",
    '',
    "it.only('signs in', () => undefined);",
    "it.skip('signs out', () => undefined);",
    '',
  ].join('\n'),
};

/** The findings that a review of the sample has, as they stand in the report. */
export const EXPECTED = [
  '`src/login.ts:3` — a credential in the source: read it from the environment',
  '`src/login.ts:4` — code is made of text: do not run what a text says',
  '`test/login.test.ts:3` — the other tests do not run',
  '`src/order.ts:6` — a command line is made of text: pass the arguments as a list',
  '`src/order.ts:7` — an error is swallowed',
  '`src/login.ts:2` — a type that says nothing',
  '`test/login.test.ts:4` — a test that does not run',
  '`docs/guide.md:3` — an unfinished page',
  '`README.md:3` — the link leads to docs/rules.md, which does not exist',
  '`src/login.ts:8` — this chance can be guessed: not for keys, names of files or identities',
  '`src/login.ts:7` — an exported function without a comment',
] as const;

/** Writes the sample. */
export function writeSample(folder: string): void {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}
