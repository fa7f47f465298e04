/** What a program of a user can export: TypeScript can write its declarations by the names of the entries alone. */
import path from 'node:path';
import { expect, it } from 'vitest';
import { readEntries } from '../api/entries.js';
import { unnameable } from '../api/nameable.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Types that a program has to name itself, each with the reason why no entry offers them. */
const NAMED_BY_NOBODY: Readonly<Record<string, string>> = {
  '@reprise/agent Deferral': 'a tool returns it where it is made',
  '@reprise/agent ToolError': 'a tool returns it where it is made',
  '@reprise/agent UnknownOutcome': 'a tool returns it where it is made',
  ...Object.fromEntries(
    ['Absent', 'AnySchema', 'BuiltSchema', 'Choice', 'Defaulted', 'List', 'Listed', 'Num', 'Obj', 'OrNull', 'Text'].map(
      (name) => [
        `@reprise/contracts/schema ${name}`,
        'schemas of the kit: a program lists them, and has no others to export',
      ],
    ),
  ),
};

const own = readEntries(ROOT).filter(({ specifier }) => /^reprise(\/|$)/.test(specifier));

it('what every function of an entry returns can be exported by a program with declarations', () => {
  expect(unnameable(ROOT, own)).toEqual(Object.keys(NAMED_BY_NOBODY));
});

it('a name that no entry offers any more is missed where a program exports what it stands for', () => {
  const [main] = own.filter(({ specifier }) => specifier === 'reprise');
  expect(unnameable(ROOT, main === undefined ? [] : [main])).toContain('@reprise/kernel App');
});
