/**
 * The skills of a team: those of all its sources, one for each name, with what keeps each from being spawned.
 *
 * Invariants
 * L1  One name is one skill: the first folder wins, and a file wins over a skill in code. The others are warnings.
 * L2  Nothing here depends on the order in which files were read.
 */
import { shortText } from '@reprise/contracts';
import { SKILL_BOUNDS, SKILL_REFUSALS, type SkillRefusal, type SkillRow } from '../pure/contracts/skills.js';
import { type KnownToTeam, lintSkill, projectToolsOf } from './lint.js';
import { type FoundSkill, isSkill, type SkillProblem, type SkillSource, type SkillWarning } from './skill.js';

/** What a team knows besides its skills. */
export interface TeamFacts {
  readonly tools: readonly string[];
  readonly models: readonly string[];
  /** The names of the skills that may write plans. */
  readonly planners: readonly string[];
  /** The tools of the catalog that the rights of the project do not cover. */
  readonly denied: readonly string[];
}

interface SkillIndex {
  /** The skills, sorted by their names. */
  readonly rows: readonly SkillRow[];
  readonly warnings: readonly SkillWarning[];
}

/** The skills of a team. */
export interface SkillLibrary {
  /** Looks at all sources. It never rejects. */
  index(team: TeamFacts): Promise<SkillIndex>;
  /** Reads a skill of now, with its row: for the preparation of a job, which has the last word. */
  read(name: string, team: TeamFacts): Promise<{ readonly found: FoundSkill; readonly row: SkillRow } | undefined>;
  /** Calls a function soon after files of watched folders changed. @returns stops that */
  watch(changed: () => void): () => void;
}

/** The skills of these sources. */
export function skillLibrary(sources: readonly SkillSource[]): SkillLibrary {
  const ordered = [
    ...sources.filter(({ kind }) => kind === 'folder'),
    ...sources.filter(({ kind }) => kind === 'code'),
  ];
  return {
    index: async (team) => {
      const { skills, warnings } = await listSkills(ordered);
      return { rows: skills.map((found) => rowOf(found, team)), warnings };
    },
    read: async (name, team) => {
      for (const source of ordered) {
        const found = await source.read(name);
        if (found !== undefined) return { found, row: rowOf(found, team) };
      }
      return undefined;
    },
    watch: (changed) => {
      const stops = ordered.map((source) => source.watch?.(changed));
      return () => {
        for (const stop of stops) stop?.();
      };
    },
  };
}

/** The skills of all sources, one for each name (L1), and what a person should know. */
export async function listSkills(
  sources: readonly SkillSource[],
): Promise<{ readonly skills: readonly FoundSkill[]; readonly warnings: readonly SkillWarning[] }> {
  const listings = await Promise.all(sources.map((source) => source.list()));
  const skills = new Map<string, FoundSkill>();
  const warnings = listings.flatMap(({ warnings }) => warnings);
  for (const found of listings.flatMap(({ skills }) => skills)) {
    const first = skills.get(found.name);
    if (first !== undefined) warnings.push(about(found.at, 'shadowed', `${found.name} is taken: ${first.at} wins`));
    else if (skills.size >= SKILL_BOUNDS.skills)
      warnings.push(about(found.at, 'too_many', `there are more than ${SKILL_BOUNDS.skills} skills`));
    else skills.set(found.name, found);
  }
  return { skills: [...skills.values()].toSorted(byName), warnings };
}

function byName(a: FoundSkill, b: FoundSkill): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function about(at: string, rule: SkillProblem['rule'], message: string): SkillWarning {
  return { at, line: 1, rule, message };
}

/** What a project knows of a skill. */
function rowOf({ name, digest, parsed }: FoundSkill, team: TeamFacts): SkillRow {
  const planner = team.planners.includes(name);
  if (!isSkill(parsed))
    return {
      ...{ name, digest, description: '', triggers: [], tools: null, project_tools: [], model: null, timeout_ms: null },
      ...{ planner, state: 'invalid', refusal: 'skill_invalid', problems: recorded(parsed.problems) },
    };
  const known: KnownToTeam = { ...team, planner };
  const problems = lintSkill(parsed, known);
  const { description, triggers, tools, model, timeoutMs } = parsed;
  return {
    ...{ name, digest, description, model, planner, timeout_ms: timeoutMs },
    triggers: [...triggers],
    tools: tools === null ? null : [...tools],
    project_tools: [...projectToolsOf(tools ?? [], known)],
    state: problems.length === 0 ? 'ready' : 'unfit',
    refusal: refusalOf(problems),
    problems: recorded(problems),
  };
}

/** The code of the first problem; those of the file come before those of the team. */
function refusalOf(problems: readonly SkillProblem[]): SkillRefusal | null {
  const [first] = problems;
  if (first === undefined) return null;
  return SKILL_REFUSALS.find((refusal) => refusal === first.rule) ?? 'skill_invalid';
}

function recorded(problems: readonly SkillProblem[]): SkillRow['problems'] {
  return problems
    .slice(0, SKILL_BOUNDS.problems)
    .map(({ line, rule, message }) => ({ line, rule, message: shortText(message, 240) }));
}
