/** Skill files are read in two forms, and each fault names its line and the rule that it breaks. */
import { describe, expect, it } from 'vitest';
import { isSkill, lintSkill, parseSkill, type Skill, type SkillProblems } from '../../src/skills/index.js';

const SEED = `---
name: code-review
description: Review code changes for correctness and style
triggers:
  - review
  - code review
tools:
  - Read
  - Grep
model: opus
---

# Review

Read the change.
`;

const STANDARD = `---
name: code-review
description: >
  Review code changes
  for correctness
license: Apache-2.0
compatibility: any agent
allowed-tools: Bash(git:*) Write
metadata:
  author: ann
  version: "1.0"
  reprise-triggers: "code review; PR review"
  reprise-tools: "Read Grep"
  reprise-model: opus
  reprise-timeout: "90"
---
Read the change.
`;

function valid(text: string, at?: string): Skill {
  const parsed = parseSkill(text, at);
  if (!isSkill(parsed)) throw new Error(JSON.stringify(parsed.problems));
  return parsed;
}

/** Line and rule of each problem of an invalid file. */
function faults(text: string, at?: string): readonly string[] {
  const parsed = parseSkill(text, at);
  expect(isSkill(parsed)).toBe(false);
  return linesOf(parsed);
}

function linesOf({ problems }: Skill | SkillProblems): readonly string[] {
  return problems.map(({ line, rule }) => `${line} ${rule}`);
}

/** A file of the seed's form with other lines in place of some. */
function seed(changes: Readonly<Record<string, string | null>>, at = 'skills/code-review.md'): readonly string[] {
  const fields: Record<string, string | null> = {
    name: 'name: code-review',
    description: 'description: Reviews',
    triggers: 'triggers: [review]',
    tools: 'tools: [Read]',
    ...changes,
  };
  const lines = Object.values(fields).filter((line) => line !== null);
  return faults(`---\n${lines.join('\n')}\n---\nBody\n`, at);
}

describe('the forms of a skill file', () => {
  it('a single file gives name, description, triggers, tools, model and body [SPEC-31]', () => {
    expect(valid(SEED, 'skills/code-review.md')).toMatchObject({
      name: 'code-review',
      description: 'Review code changes for correctness and style',
      form: 'seed',
      triggers: ['review', 'code review'],
      tools: ['Read', 'Grep'],
      model: 'opus',
      timeoutMs: null,
      body: '# Review\n\nRead the change.',
      problems: [],
    });
  });

  it('a file of the Agent Skills standard gives the same from its metadata, and allowed-tools widens nothing [SPEC-31]', () => {
    expect(valid(STANDARD, 'skills/code-review/SKILL.md')).toMatchObject({
      name: 'code-review',
      description: 'Review code changes for correctness',
      form: 'standard',
      triggers: ['code review', 'PR review'],
      tools: ['Read', 'Grep'],
      model: 'opus',
      timeoutMs: 90_000,
      body: 'Read the change.',
      problems: [],
    });
  });

  it('a file with CRLF and a byte order mark gives what the plain file gives [SPEC-31]', () => {
    const odd = `\ufeff${SEED.replaceAll('\n', '\r\n')}`;
    expect(valid(odd, 'skills/code-review.md')).toEqual(valid(SEED, 'skills/code-review.md'));
  });

  it('a text without a path is read in the form that its fields belong to', () => {
    expect(valid(SEED).form).toBe('seed');
    expect(valid(STANDARD).form).toBe('standard');
  });

  it('an empty list of tools means none, and is not a missing one', () => {
    expect(valid(SEED.replace('tools:\n  - Read\n  - Grep', 'tools: []')).tools).toEqual([]);
    const none = valid(STANDARD.replace('"Read Grep"', '""'), 'skills/code-review/SKILL.md');
    expect([none.tools, none.problems]).toEqual([[], []]);
  });

  it('a description with line breaks and control characters is shown in one line', () => {
    const text = SEED.replace(/^description: .*$/m, 'description: "Reviews\\n\\u0007 code\\u2028 well "');
    expect(valid(text).description).toBe('Reviews code well');
  });
});

describe('the faults of a single file', () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string | null>>, readonly string[]])[] = [
    ['without a name', { name: null }, ['1 name']],
    ['with capitals in its name', { name: 'name: Code-Review' }, ['2 name']],
    ['with a double hyphen in its name', { name: 'name: code--review' }, ['2 name']],
    ['with a hyphen at the edge of its name', { name: 'name: -code' }, ['2 name']],
    ['with a name of 65 characters', { name: `name: ${'a'.repeat(65)}` }, ['2 name']],
    ['with a name that differs from that of the file', { name: 'name: review' }, ['2 name_differs']],
    ['with a list as its name', { name: 'name: [a]' }, ['2 name']],
    ['without a description', { description: null }, ['1 description']],
    ['with an empty description', { description: 'description: ""' }, ['3 description']],
    ['with a description of 1,025 characters', { description: `description: ${'a'.repeat(1_025)}` }, ['3 description']],
    ['without triggers', { triggers: null }, ['1 triggers']],
    ['with a text in place of triggers', { triggers: 'triggers: review' }, ['4 triggers']],
    ['with an empty trigger', { triggers: 'triggers:\n  - review\n  - ""' }, ['6 triggers']],
    ['without tools', { tools: null }, ['1 tools_missing']],
    ['with a text in place of tools', { tools: 'tools: Read' }, ['5 tools']],
    ['with a map among its tools', { tools: 'tools:\n  - Read\n  - a: b' }, ['7 tools']],
    ['with a tool that stands twice', { tools: 'tools:\n  - Read\n  - Grep\n  - Read' }, ['8 tools']],
    ['with 65 tools', { tools: `tools: [${Array.from({ length: 65 }, (_, i) => `t${i}`).join(', ')}]` }, ['5 tools']],
    ['with a name that no tool can have', { tools: 'tools: ["Read, Grep"]' }, ['5 tools']],
    ['with a model that is a list', { model: 'model: [opus]' }, ['6 model']],
    ['with a merge', { other: '<<: {tools: [Read]}' }, ['6 unknown_key']],
    ['with a misspelled field in the place of its tools', { tools: 'tool: [Read]' }, ['1 tools_missing']],
  ];
  it.each(cases)('a file %s is invalid, with the line and the rule [SPEC-31]', (_words, changes, expected) => {
    expect(seed(changes)).toEqual(expected);
  });

  it('all faults of a file are listed at once, by line [SPEC-31]', () => {
    expect(seed({ name: 'name: Bad', description: null, tools: 'tools: Read', other: 'other: 1' })).toEqual([
      '1 description',
      '2 name',
      '4 tools',
    ]);
  });

  it('fields of other tools have no effect but a warning with their line [SPEC-53]', () => {
    const { warnings = [] } = valid(
      `---\nname: code-review\n${'description: x'}\ntriggers: [a]\ntools: []\ntimeout: 30\ntool: [Read]\n---\n`,
      'code-review.md',
    );
    expect(warnings.map(({ line, rule }) => `${line} ${rule}`)).toEqual(['6 unknown_key', '7 unknown_key']);
  });
});

describe('the faults of a file of the standard', () => {
  const at = 'skills/code-review/SKILL.md';

  it('fields of the other form have no effect, and a warning names the place where they belong [SPEC-53]', () => {
    const { tools, warnings = [], ...found } = valid(SEED, at);
    expect([tools, linesOf(found as Skill)]).toEqual([null, ['1 tools_missing']]);
    expect(warnings.map(({ line, rule }) => `${line} ${rule}`)).toEqual([
      '4 unknown_key',
      '7 unknown_key',
      '10 unknown_key',
    ]);
    expect(warnings[1]?.message).toContain('write metadata.reprise-tools');
  });

  it('compatibility is a text of at most 500 characters [SPEC-31]', () => {
    expect(faults(STANDARD.replace('any agent', '17'), at)).toEqual(['7 compatibility']);
    expect(faults(STANDARD.replace('any agent', 'x'.repeat(501)), at)).toEqual(['7 compatibility']);
  });

  it('a valid file without reprise-tools is a skill that cannot be spawned, whatever allowed-tools says [SPEC-31]', () => {
    const found = valid(STANDARD.replace('  reprise-tools: "Read Grep"\n', ''), at);
    expect([found.tools, linesOf(found)]).toEqual([null, ['9 tools_missing']]);
  });

  it('what metadata says wrongly keeps a valid file from being spawned [SPEC-31]', () => {
    for (const [from, to, expected] of [
      ['reprise-timeout: "90"', 'reprise-timeout: "0"', '15 timeout'],
      ['reprise-timeout: "90"', 'reprise-timeout: "-5"', '15 timeout'],
      ['reprise-timeout: "90"', 'reprise-timeout: "604801"', '15 timeout'],
      ['reprise-timeout: "90"', 'reprise-timeout: 5m', '15 timeout'],
      ['reprise-model: opus', 'reprise-modle: opus', '14 unknown_key'],
      ['reprise-tools: "Read Grep"', 'reprise-tools: [Read]', '13 tools'],
    ] as const)
      expect(linesOf(valid(STANDARD.replace(from, to), at))).toEqual([expected]);
    const flat = STANDARD.replace(/metadata:[\s\S]*(?=\n---)/, 'metadata: none');
    expect(linesOf(valid(flat, at))).toEqual(['9 metadata', '9 tools_missing']);
  });
});

describe('lintSkill', () => {
  const known = { tools: ['Read', 'Grep'], models: ['main', 'opus'] };
  const skill = (tools: string, model = 'opus') =>
    valid(SEED.replace('tools:\n  - Read\n  - Grep', `tools: [${tools}]`).replace('opus', model));

  it('a tool outside the catalog, one of the coordinator and an unknown model are problems with their lines [SPEC-31]', () => {
    expect(lintSkill(skill('Read, Grep'), known)).toEqual([]);
    const found = lintSkill(skill('Read, Write, spawn_agent, plan_write', 'gpt'), known);
    expect(found.map(({ line, rule }) => `${line} ${rule}`)).toEqual([
      '7 tool_unavailable',
      '7 tool_reserved',
      '7 tool_reserved',
      '8 unknown_model',
    ]);
  });

  it('any skill may read results and memory, and only a planner may write plans [SPEC-11] [SPEC-17]', () => {
    const found = skill('result_read, memory_query, plan_write');
    expect(lintSkill(found, known).map(({ rule }) => rule)).toEqual(['tool_reserved']);
    expect(lintSkill(found, { ...known, planner: true })).toEqual([]);
  });

  it("an app's own tool with a reserved name is the app's tool", () => {
    expect(lintSkill(skill('spawn_agent'), { ...known, tools: ['spawn_agent'] })).toEqual([]);
  });
});
