/** The prompts of both roles: what each may hold, their bounds, and that their heads stay the same bytes. */
import { describe, expect, it } from 'vitest';
import { coordinatorContext, coordinatorInstructions } from '../../src/prompts/coordinator.js';
import { specialistInstructions, taskText } from '../../src/prompts/specialist.js';
import { isSkill, parseSkill, type Skill } from '../../src/skills/index.js';

const STATE = {
  status: 'working',
  counts: { pending: 1, blocked: 0, running: 2, completed: 3, failed: 0, skipped: 0, cancelled: 0 },
  jobs: 2,
  unprocessed: 1,
} as const;

const NONE = { skills: [], hints: [], narrative: [], state: STATE };

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** A skill of a file, with a body that only it has. */
function skillOf(name: string): Skill {
  const text = `---\nname: ${name}\ndescription: Does ${name}\ntriggers: [${name}]\ntools: [Read]\n---\nBODY-OF-${name}: first, look.\n`;
  const parsed = parseSkill(text, `skills/${name}.md`);
  if (!isSkill(parsed)) throw new Error(JSON.stringify(parsed));
  return parsed;
}

const SKILLS = ['zeta', 'alpha', 'mid'].map(skillOf);

/** The bodies of skills that stand in a text. */
function leaks(text: string): readonly string[] {
  return SKILLS.filter(({ body }) => text.includes(body) || text.includes(body.slice(0, 12))).map(({ name }) => name);
}

describe('the prompt of a coordinator', () => {
  it('name and description of every skill stand in it, by name, and no body [SPEC-4, SPEC-5]', () => {
    const text = coordinatorContext({ ...NONE, skills: SKILLS });
    expect(text).toContain('# Skills\n\n- alpha — Does alpha\n- mid — Does mid\n- zeta — Does zeta\n\n');
    expect(leaks(text)).toEqual([]);
    expect(coordinatorContext({ ...NONE, skills: SKILLS.toReversed() })).toBe(text);
  });

  it('an index with one body in place of a description is found out [SPEC-5]', () => {
    const leaking = SKILLS.map((skill) => (skill.name === 'mid' ? { ...skill, description: skill.body } : skill));
    expect(leaks(coordinatorContext({ ...NONE, skills: leaking }))).toEqual(['mid']);
  });

  it('an index beyond 8 KiB holds the names of all, and no description [SPEC-4]', () => {
    const many = Array.from({ length: 200 }, (_, i) => ({ name: `skill-${i}`, description: 'ü'.repeat(30) }));
    const text = coordinatorContext({ ...NONE, skills: many });
    for (const { name } of many) expect(text).toMatch(new RegExp(`\\b${name}\\b`));
    expect(text).not.toContain('ü');
    const few = many.slice(0, 80);
    const whole = coordinatorContext({ ...NONE, skills: few });
    expect(whole).toContain('- skill-0 — ü');
    expect(bytesOf(whole.slice(0, whole.indexOf('# The project')))).toBeLessThan(8_300);
  });

  it('the newest entries of the narrative stand in it, as many as 4 KiB hold, the oldest of them first', () => {
    const narrative = Array.from({ length: 12 }, (_, i) => ({ n: i + 1, text: `Entry ${i + 1}. ${'x'.repeat(900)}` }));
    const text = coordinatorContext({ ...NONE, narrative });
    const shown = [...text.matchAll(/^<said by="narrative (\d+)">\nEntry/gm)].map(([, n]) => Number(n));
    expect(shown).toEqual([9, 10, 11, 12]);
    const story = text.slice(text.indexOf('# The story'), text.indexOf('# The project'));
    expect(bytesOf(story)).toBeLessThanOrEqual(4_096 + 32);
  });

  it('skills that the last message hints at are named behind the index, and a team without skills is said to have none', () => {
    const text = coordinatorContext({ ...NONE, skills: SKILLS, hints: ['zeta', 'mid'] });
    expect(text).toMatch(/- zeta — Does zeta\n\n[^\n]*: zeta, mid\n/);
    expect(coordinatorContext(NONE)).toContain('no skills yet');
  });

  it('the head of a coordinator’s prompt is the same bytes for each run, and depends on the identity alone', () => {
    expect(coordinatorInstructions('You lead.')).toBe(coordinatorInstructions(' You lead.\n'));
    expect(coordinatorInstructions('You lead.').startsWith('You lead.\n\n')).toBe(true);
    expect(leaks(coordinatorInstructions('You lead.'))).toEqual([]);
  });
});

describe('the prompt of a specialist', () => {
  it('rules, name and body of its own skill stand in it, and no other skill [SPEC-8]', () => {
    for (const skill of SKILLS) {
      const text = specialistInstructions(skill);
      expect(leaks(text)).toEqual([skill.name]);
      expect(text.endsWith(`<said by="skill: ${skill.name}">\n${skill.body.trim()}\n</said>`)).toBe(true);
      for (const { name, description } of SKILLS.filter((one) => one !== skill))
        expect({ name, stands: text.includes(description) }).toEqual({ name, stands: false });
    }
  });

  it('no line of the coordinator’s instructions stands in it, and its head is the same bytes for all skills [SPEC-17]', () => {
    const [first = '', second = ''] = SKILLS.map(specialistInstructions);
    const head = first.slice(0, first.indexOf('# Your skill'));
    expect(second.startsWith(head)).toBe(true);
    const lines = coordinatorInstructions('You lead.')
      .split('\n')
      .filter((line) => line.trim() !== '');
    for (const line of lines) expect(`${first}\n${second}`).not.toContain(line);
    expect(head).not.toMatch(/spawn_agent|memory_store|task_graph/);
  });

  it('the task is told with the note of a retry, and a title stands in for a missing text', () => {
    const none = { title: 'Fix it', task: null, note: null, context: ' ' };
    expect(taskText(none)).toBe('# Your task\n\n<said by="your task">\nFix it\n</said>');
    expect(taskText({ ...none, task: 'Fix all of it', note: 'Smaller.' })).toBe(
      '# Your task\n\n<said by="your task">\nFix all of it\n</said>\n\n' +
        '# For this try\n\n<said by="note on this try">\nSmaller.\n</said>',
    );
  });

  it('neither builder takes what the other is given', () => {
    // @ts-expect-error a coordinator is given no body
    const coordinator = () => coordinatorContext({ name: 'alpha', body: 'BODY' });
    // @ts-expect-error a specialist is given no index, narrative or state
    const specialist = () => specialistInstructions(NONE);
    expect([typeof coordinator, typeof specialist]).toEqual(['function', 'function']);
  });
});
