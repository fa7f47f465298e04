/** Skill files of other tools, by the kinds of front matter that exist. Long form: `SKILL_FILES=20000`. */

import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { folder, isSkill, parseSkill } from '../../src/skills/index.js';

const files = Number(process.env.SKILL_FILES ?? 500);
const AT = 'skills/demo/SKILL.md';
const SINGLE = 'skills/demo.md';
/** What a single file has, and what means something else, or must be otherwise, in one. */
const OF_SINGLE = 'triggers: [demo]\ntools: [Read]';
const NOT_IN_SINGLE = /^(?:tools|model|triggers):/;

/** Fields of other tools, each as one or more lines. */
const OTHERS = [
  'version: 1.0.0',
  'disable-model-invocation: true',
  'user-invocable: false',
  'argument-hint: "[file]"',
  'argument-hint: [file] [count]',
  'model: sonnet',
  'color: "#ff8800"',
  'tools: Read, Grep, Bash',
  'tags: [writing, review]',
  'keywords:\n  - a\n  - b',
  'author: Ann Example <ann@example.com>',
  'homepage: https://example.com/a#b',
  'hooks:\n  PreToolUse:\n    - matcher: Bash\n      command: ./check.sh',
  'allowed-tools: Bash(git:*), Read',
  'allowed-tools:\n  - Read\n  - Bash(npm run test:*)',
  'license: MIT',
  'metadata:\n  author: ann\n  version: "1.0"',
  '# a comment',
  'context: fork',
  'globs: "*.ts"',
  'globs: *.ts',
  'created: 2026-01-01',
  'updated: 2026-01-01T10:00:00Z',
  'deprecated: null',
  'nested: {a: [1, {b: c}], d: ~}',
  'notes: |\n  one\n  ---\n  two',
  'summary: >-\n  folded\n\n  text',
  'ключ: значение',
  '🎉: yes',
  'empty:',
  '"quoted key": 1',
  'octal: 0o17',
  'tabs:\tafter a colon',
  'when_to_use: Use it: always',
];

/** Descriptions as they are written. */
const DESCRIPTIONS = [
  'description: Does a thing.',
  'description: Use it for any work: writing or improving.',
  'description: "Does: a thing."',
  "description: 'It''s a thing.'",
  'description: >\n  Does a thing\n  and more.',
  'description: >-\n  Does a thing: always.',
  'description: |\n  Does a thing.\n\n  Use: often.',
  'description: Does a thing\n  over two lines.',
  'description: Größe 😀 — a thing',
  'description: Use when the user says "do it": it does',
  'description: Note: this, that: those',
  'description: [Beta] does a thing',
  'description: `demo` runs a thing',
  'description: @demo does a thing',
  'description: 50% of a thing',
];

/** Faults, with the rule and the line that a refusal names when they stand behind the name. */
const FAULTS: readonly (readonly [string, string])[] = [
  ['name: other', 'yaml_key'],
  ['a: &x 1', 'yaml_alias'],
  ['a: !!js/function x', 'yaml_tag'],
  ['<<: {a: 1}', 'unknown_key'],
  ['compatibility: 17', 'compatibility'],
  ['a: "open', 'yaml'],
  ['a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]', 'yaml_alias'],
  ['version: 1\nversion: 2', 'yaml_key'],
  ['a:\n  b: 1\n  b: 2', 'yaml_key'],
  ['a:\n\tb: 1', 'yaml'],
  ['? [a]\n: b', 'yaml_key'],
  ['__proto__: 1', 'yaml_key'],
  [`a: ${'['.repeat(40)}${']'.repeat(40)}`, 'yaml_nesting'],
  ['a: !!binary aGk=', 'yaml_tag'],
  ['just words', 'yaml'],
];

const shapes = fc.record({
  description: fc.constantFrom(...DESCRIPTIONS),
  others: fc.uniqueArray(fc.constantFrom(...OTHERS), { maxLength: 6, selector: (one) => one.split(':')[0] }),
  isFirst: fc.boolean(),
  isSingle: fc.boolean(),
  body: fc.constantFrom('# Demo\n\nDo it.', '', '---\nname: other\n---', '<!-- a comment -->', 'x'.repeat(100_000)),
  end: fc.constantFrom('\n', '\r\n', '\r'),
  mark: fc.constantFrom('', '\ufeff'),
  fault: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom(...FAULTS) }),
});

it(`a file in a shape that is found in the wild is a skill, or refused with its line and in words (seed 12) [SPEC-53]`, () => {
  let loaded = 0;
  fc.assert(
    fc.property(shapes, ({ description, others: all, isFirst, isSingle, body, end, mark, fault }) => {
      const others = isSingle ? [...all.filter((one) => !NOT_IN_SINGLE.test(one)), OF_SINGLE] : all;
      const fields = [...(isFirst ? others : []), description, ...(isFirst ? [] : others)];
      const front = ['name: demo', ...(fault === null ? [] : [fault[0]]), ...fields].join('\n');
      const text = `${mark}---\n${front}\n---\n${body}\n`.replaceAll('\n', end);
      const read = parseSkill(text, isSingle ? SINGLE : AT);
      if (fault === null) {
        expect(read).toMatchObject({ name: 'demo', body });
        if (isSkill(read)) expect(read.description.length).toBeGreaterThan(8);
        loaded += 1;
        return;
      }
      expect(isSkill(read)).toBe(false);
      expect(read.problems.length).toBeGreaterThan(0);
      for (const { line, message } of read.problems) {
        expect(line).toBeGreaterThanOrEqual(1);
        expect(line).toBeLessThanOrEqual(text.split(end).length);
        expect(message).toMatch(/\w+ \w+/);
      }
      expect(read.problems.map(({ rule }) => rule)).toContain(fault[1]);
    }),
    { numRuns: files, seed: 12 },
  );
  expect(loaded).toBeGreaterThan(files / 2);
});

it.each([
  ['a blank line before the front matter', '\n---\nname: demo\ndescription: x\n---\n', '1 front_matter'],
  ['a comment before the front matter', '<!-- x -->\n---\nname: demo\ndescription: x\n---\n', '1 front_matter'],
  ['no line that ends the front matter', '---\nname: demo\ndescription: x\n', '1 front_matter'],
  ['front matter of another kind', '+++\nname = "demo"\n+++\n', '1 front_matter'],
  ['a list as its name', '---\nname: [demo]\ndescription: x\n---\n', '2 name'],
  ['a name with other letters', '---\nname: démo\ndescription: x\n---\n', '2 name'],
  ['the name of another folder', '---\nname: other\ndescription: x\n---\n', '2 name_differs'],
  ['a map as its description', '---\nname: demo\ndescription:\n  a: b\n---\n', '3 description'],
  ['a description of nothing', '---\nname: demo\ndescription:\n---\n', '3 description'],
  ['more bytes than are read', `---\nname: demo\ndescription: x\n---\n${'x'.repeat(300_000)}`, '1 file_bytes'],
])('a file with %s is refused with its line, in a folder and alone [SPEC-31]', (_what, text, expected) => {
  const single = text.replace(/^description/m, 'triggers: [a]\ntools: []\ndescription');
  const more = expected.startsWith('3') ? expected.replace('3', '5') : expected;
  for (const [one, at, found] of [
    [text, AT, expected],
    [single, SINGLE, more],
  ] as const)
    expect(parseSkill(one, at).problems.map(({ line, rule }) => `${line} ${rule}`)).toContain(found);
});

it('a colon in the prose of a description is a part of it, and a warning names its line [SPEC-53]', () => {
  const read = parseSkill('---\nname: demo\ndescription: Use it for any work: writing.\nversion: 2\n---\nbody\n', AT);
  expect(read).toMatchObject({
    description: 'Use it for any work: writing.',
    warnings: [
      { line: 3, rule: 'plain_text' },
      { line: 4, rule: 'unknown_key' },
    ],
  });
});

it('what a folder outside holds is never read while links to it are swapped in and out [SPEC-54]', async () => {
  const base = mkdtempSync(join(tmpdir(), 'swapped-'));
  const [inside, outside] = [join(base, 'in'), join(base, 'out')];
  const text = (words: string) => `---\nname: race\ndescription: ${words}\n---\nx`;
  for (const [at, words] of [
    [join(inside, 'race'), 'fine'],
    [join(outside, 'race'), 'SECRET'],
  ] as const) {
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, 'SKILL.md'), text(words));
  }
  symlinkSync(join(outside, 'race'), join(base, 'link'));
  renameSync(join(base, 'link'), join(inside, '_link'));
  const swapping = new Worker(
    `const { renameSync: to } = require('node:fs'); const { join } = require('node:path'); const d = ${JSON.stringify(inside)};
     const [race, kept, link] = ['race', '_kept', '_link'].map((one) => join(d, one));
     for (;;) try { to(race, kept); to(link, race); to(race, link); to(kept, race); } catch {}`,
    { eval: true },
  );
  try {
    const source = folder(inside);
    const found = new Set<string>();
    for (let n = 0; n < 1_500; n++) {
      const { parsed } = (await source.read('race')) ?? {};
      if (parsed !== undefined && isSkill(parsed)) found.add(parsed.description);
    }
    expect([...found].filter((words) => words !== 'fine')).toEqual([]);
  } finally {
    await swapping.terminate();
    rmSync(base, { recursive: true, force: true });
  }
});
