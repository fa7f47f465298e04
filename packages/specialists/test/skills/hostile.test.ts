/** Front matter of strangers: it is refused with line and rule, it runs nothing, and reading it takes bounded time. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../../../scripts/lib/cpu.js';
import { isSkill, parseSkill } from '../../src/skills/index.js';
import { SKILL_RULES } from '../../src/skills/skill.js';

/** The CPU time that reading one file may take, in milliseconds; a machine that stands still adds nothing to it. */
const CPU_MS_MAX = 3_000;

const BOMB = `a: &a ["lol","lol"]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]
name: *d`;

const NAMED: readonly (readonly [words: string, frontMatter: string, line: number, rule: string])[] = [
  ['a bomb of aliases', BOMB, 2, 'yaml_alias'],
  ['a tag of JavaScript', 'name: !!js/function "function () { globalThis.ran = true }"', 2, 'yaml_tag'],
  ['a constructor by tag', 'name: a\ndescription: !!python/object/apply:os.system ["true"]', 3, 'yaml_tag'],
  ['a tag of the core schema', 'name: !!str a', 2, 'yaml_tag'],
  ['a directive', '%TAG ! tag:example.com,2026:\nname: a', 2, 'yaml_tag'],
  ['a key __proto__', 'name: a\n__proto__:\n  tools: [Bash]', 3, 'yaml_key'],
  ['a key __proto__ deep down', 'name: a\nmetadata:\n  __proto__: x', 4, 'yaml_key'],
  ['a key that stands twice', 'name: a\ndescription: b\ntools: []\ntools: [Bash]', 5, 'yaml_key'],
  ['a key that stands twice in a map below', 'name: a\nmetadata:\n  x: "1"\n  x: "2"', 5, 'yaml_key'],
  ['a merge key', 'name: a\ndescription: b\n<<: {tools: [Bash]}', 4, 'unknown_key'],
  ['a list as a key', '? [a]\n: b', 2, 'yaml_key'],
  ['a tab as indentation', 'name: a\nmetadata:\n\tx: "1"', 4, 'yaml'],
  ['an open quote', 'name: "a', 2, 'yaml'],
  ['two documents', 'name: a\n...\nname: b', 2, 'yaml_map'],
  ['lists 16,000 deep', '['.repeat(16_000), 2, 'yaml_nesting'],
  ['lists of lines 5,000 deep', '- '.repeat(5_000), 2, 'yaml_nesting'],
  ['maps 5,000 deep', '{a: '.repeat(4_000), 2, 'yaml_nesting'],
  ['16 KiB of front matter and more', `name: a\ndescription: ${'x'.repeat(16_384)}`, 2, 'front_matter_bytes'],
  ['1 MB', `name: a\ndescription: ${'x'.repeat(1_000_000)}`, 1, 'file_bytes'],
  ['a list in place of a map', '- name\n- a', 2, 'yaml_map'],
  ['nothing', '', 2, 'yaml_map'],
];

describe('hostile front matter', () => {
  it.each(NAMED)(
    '%s is refused, with line and rule, and nothing runs [SPEC-31] [SPEC-33]',
    (_words, yaml, line, rule) => {
      const started = cpuMs();
      const parsed = parseSkill(`---\n${yaml}\n---\nBody\n`, 'skills/a/SKILL.md');
      expect(cpuMs() - started).toBeLessThan(CPU_MS_MAX);
      expect(isSkill(parsed)).toBe(false);
      expect(parsed.problems.map((problem) => `${problem.line} ${problem.rule}`)).toContain(`${line} ${rule}`);
      expect(globalThis).not.toHaveProperty('ran');
      expect({}).not.toHaveProperty('tools');
    },
  );

  const piece = fc.constantFrom(
    ...['&a ', '*a', '!!js/undefined ', '!<x> ', '%YAML 1.1\n', '__proto__: ', 'constructor: ', '<<: ', '? ', ': '],
    ...[
      '- ',
      '[',
      ']',
      '{',
      '}',
      ',',
      '"',
      "'",
      '|',
      '>-\n',
      '\t',
      '\n',
      '\n  ',
      '\r\n',
      '#',
      '---',
      '...',
      '~',
      '\\u0000',
    ],
    ...[
      'name: a\n',
      'description: b\n',
      'tools: [Read]\n',
      'triggers: [x]\n',
      'metadata:\n  a: b\n',
      '0x1F',
      '\u2028',
      'é',
    ],
  );
  const text = fc.array(fc.oneof({ weight: 6, arbitrary: piece }, fc.string({ maxLength: 6 })), { maxLength: 120 });
  const seed = 20_261_123;

  it(`texts of YAML's marks are read in bounded time, as a skill or as problems with line and rule [SPEC-31] [SPEC-33] (seed ${seed})`, () => {
    let [skills, refused] = [0, 0];
    fc.assert(
      fc.property(text, fc.boolean(), (pieces, asFile) => {
        const yaml = pieces.join('');
        const started = cpuMs();
        const parsed = parseSkill(`---\n${yaml}\n---\nBody\n`, asFile ? 'skills/a.md' : 'skills/a/SKILL.md');
        expect(cpuMs() - started).toBeLessThan(CPU_MS_MAX);
        const lines = `---\n${yaml}\n---\nBody\n`.split('\n').length;
        for (const { line, rule, message } of parsed.problems) {
          expect(line).toBeGreaterThanOrEqual(1);
          expect(line).toBeLessThanOrEqual(lines);
          expect(Object.hasOwn(SKILL_RULES, rule)).toBe(true);
          expect(message).toMatch(/^[^\n]{1,240}$/);
        }
        if (isSkill(parsed)) skills += 1;
        else {
          refused += 1;
          expect(parsed.problems.length).toBeGreaterThan(0);
        }
        expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(12);
      }),
      { seed, numRuns: 1_500 },
    );
    expect(refused).toBeGreaterThan(1_000);
    expect(skills + refused).toBe(1_500);
  });
});
