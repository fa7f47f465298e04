/** Reads the text of a skill file. It evaluates nothing, and reads nothing but the text. */
import { isFilled, requireArgument } from '@reprise/contracts';
import { SKILL_BOUNDS } from '../pure/contracts/skills.js';
import { readFields } from './fields.js';
import { splitFile } from './front-matter.js';
import { readAsMeant } from './quote-plain.js';
import type { Skill, SkillProblem, SkillProblems } from './skill.js';
import { isProblems, type YamlEntries } from './yaml.js';

/**
 * Reads a skill file, in the form of the Agent Skills standard or as a single file.
 *
 * A valid skill may still have problems that keep it from being spawned, such as a missing list of tools.
 *
 * @param at the path of the file: `<name>/SKILL.md` is the standard's form, `<name>.md` a single file. Without it the
 *   fields decide which form is meant, and the name is not compared
 * @returns the skill, or its problems, each with line and rule
 * @example parseSkill(text, 'skills/security-review/SKILL.md')
 */
export function parseSkill(text: string, at?: string): Skill | SkillProblems {
  requireArgument(typeof text === 'string', 'parseSkill(text)', 'the text of a skill file', text);
  requireArgument(at === undefined || isFilled(at), 'parseSkill(at)', 'the path of the file', at);
  const parts = splitFile(text);
  if ('rule' in parts) return { problems: [parts] };
  const { map, quoted } = readAsMeant(parts.frontMatter);
  if (isProblems(map)) return { problems: sorted(map) };
  const place = at === undefined ? undefined : placeOf(at);
  const form = place?.form ?? formOf(map);
  const { invalid, unfit, warnings: unknown, ...fields } = readFields(map, form, place?.name);
  if (invalid.length > 0) return { problems: sorted([...invalid, ...unfit]) };
  const warnings = sorted([...unknown, ...quoted]);
  return { ...fields, form, body: parts.body, problems: sorted(unfit), ...(warnings.length === 0 ? {} : { warnings }) };
}

/** The form of a file and the name that it must have, by its path. */
function placeOf(at: string): { readonly form: 'standard' | 'seed'; readonly name?: string } | undefined {
  const steps = at.split(/[/\\]/).filter((step) => step !== '');
  const file = steps.at(-1) ?? '';
  const folder = steps.at(-2);
  if (/^skill\.md$/i.test(file)) return { form: 'standard', ...(folder === undefined ? {} : { name: folder }) };
  return file.endsWith('.md') ? { form: 'seed', name: file.slice(0, -'.md'.length) } : undefined;
}

/** The form that the fields belong to, for a text without a path. */
function formOf({ entries }: YamlEntries): 'standard' | 'seed' {
  return entries.some(({ key }) => key === 'tools' || key === 'triggers' || key === 'model') ? 'seed' : 'standard';
}

/** Problems in the order of their lines, no more than a reader wants. */
function sorted(problems: readonly SkillProblem[]): readonly SkillProblem[] {
  return problems.toSorted((a, b) => a.line - b.line).slice(0, SKILL_BOUNDS.problems);
}
