/** Skills in code, for apps without a folder. They obey the rules of files. */
import { type Duration, durationMs } from '@reprise/agent';
import { isRepriseError, RepriseError, requireArgument, requireKnownOptions } from '@reprise/contracts';
import { SKILL_BOUNDS } from '../pure/contracts/skills.js';
import { digestOf } from './digest.js';
import { parseSkill } from './parse.js';
import { type FoundSkill, isSkill, type Skill, type SkillSource } from './skill.js';

/** A skill that is stated in code, without a file. */
export interface SkillSpec {
  readonly name: string;
  readonly description: string;
  /** The tools that it may use; an empty list means none. */
  readonly tools: readonly string[];
  /** The instructions, for the specialist alone. */
  readonly body: string;
  readonly triggers?: readonly string[];
  /** The alias of a model; the team's default when absent. */
  readonly model?: string;
  readonly timeout?: Duration;
}

const OPTIONS: Readonly<Record<keyof SkillSpec, true>> = {
  name: true,
  description: true,
  tools: true,
  body: true,
  triggers: true,
  model: true,
  timeout: true,
};

/**
 * A skill in code. A file of the same name wins over it.
 *
 * @throws RepriseError `invalid_definition` that names the first rule that it breaks; `invalid_argument` for an unknown option
 * @example skill({ name: 'summarize', description: 'Sums a text up', tools: [], body: 'Sum it up in three sentences.' })
 */
export function skill(spec: SkillSpec): SkillSource {
  requireKnownOptions(spec, OPTIONS, 'skill');
  requireArgument(typeof spec.name === 'string', 'skill(spec.name)', 'the name of the skill', spec.name);
  requireArgument(typeof spec.description === 'string', 'skill(spec.description)', 'text', spec.description);
  requireArgument(typeof spec.body === 'string', 'skill(spec.body)', 'the instructions as text', spec.body);
  const text = textOf(spec);
  const parsed = parseSkill(text);
  const [problem] = parsed.problems;
  if (!isSkill(parsed) || problem !== undefined)
    throw new RepriseError('invalid_definition', `invalid skill: ${problem?.message ?? 'it cannot be read'}`, {
      where: `skill ${String(spec.name)}`,
      rule: problem?.rule,
    });
  const timeoutMs = spec.timeout === undefined ? null : timeoutOf(spec.timeout, spec.name);
  const found: FoundSkill = {
    name: parsed.name,
    at: 'code',
    digest: digestOf(new TextEncoder().encode(`${text}\n${timeoutMs}`)),
    parsed: { ...parsed, form: 'code', body: spec.body.trim(), timeoutMs } satisfies Skill,
  };
  return {
    kind: 'code',
    at: 'code',
    list: async () => ({ skills: [found], warnings: [] }),
    read: async (name) => (name === found.name ? found : undefined),
  };
}

/** The skill as a file would write it: JSON is YAML. */
function textOf({ name, description, tools, triggers = [], model, body }: SkillSpec): string {
  const fields = { name, description, triggers, tools, ...(model === undefined ? {} : { model }) };
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value) ?? ''}`);
  return `---\n${lines.join('\n')}\n---\n${body}`;
}

function timeoutOf(timeout: Duration, name: string): number {
  const ms = durationOf(timeout, name);
  if (ms <= SKILL_BOUNDS.timeout_seconds * 1_000) return ms;
  throw invalidTimeout(timeout, name);
}

function durationOf(timeout: Duration, name: string): number {
  try {
    return durationMs(timeout, 'timeout');
  } catch (error) {
    if (isRepriseError(error, 'invalid_argument')) throw invalidTimeout(timeout, name);
    throw error;
  }
}

function invalidTimeout(timeout: unknown, name: string): RepriseError {
  return new RepriseError('invalid_definition', 'invalid skill: its timeout is not a time up to 7 days', {
    where: `skill ${name}`,
    rule: 'timeout',
    actual: timeout,
  });
}
