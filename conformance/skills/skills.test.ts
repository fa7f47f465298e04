/** Skill files in the form of the Agent Skills standard are judged as they were meant. */
import { isSkill, parseSkill } from '@reprise/specialists';
import { describe, expect, it } from 'vitest';
import { makeSkills } from './make.js';

describe('generated skill files in the standard form', () => {
  it('half of 2,000 random skill files are valid and half invalid, each as it was made (seeds 1 to 10) [SPEC-31]', () => {
    const whats = new Set<string>();
    for (let seed = 1; seed <= 10; seed++)
      for (const { folder, valid, isOdd = false, what, files } of makeSkills(200, seed)) {
        whats.add(what);
        const [file] = Object.keys(files).filter((one) => /^skill\.md$/i.test(one));
        const parsed = file === undefined ? undefined : parseSkill(files[file] ?? '', `${folder}/${file}`);
        const found = parsed !== undefined && isSkill(parsed);
        expect({ seed, folder, what, valid: found }).toEqual({ seed, folder, what, valid });
        if (parsed === undefined) continue;
        if (!isSkill(parsed)) expect(parsed.problems.length).toBeGreaterThan(0);
        else expect({ what, warned: (parsed.warnings ?? []).length > 0 }).toEqual({ what, warned: isOdd });
      }
    expect(whats.size).toBeGreaterThan(45);
  });

  it('a judge that overlooks one rule is found out by the generated files', () => {
    for (const overlooked of ['name', 'name_differs', 'description', 'compatibility', 'yaml', 'yaml_key']) {
      const missed = makeSkills(200, 1).filter(({ folder, valid, files }) => {
        const parsed = parseSkill(files['SKILL.md'] ?? '', `${folder}/SKILL.md`);
        return (
          !valid &&
          !isSkill(parsed) &&
          parsed.problems.every(({ rule }) => rule === overlooked || rule === 'tools_missing')
        );
      });
      expect({ overlooked, missed: missed.length > 0 }).toEqual({ overlooked, missed: true });
    }
  });
});
