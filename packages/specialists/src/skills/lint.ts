/** Checks a valid skill against a team: its catalog of tools and the models of its world. */
import { isFields, requireArgument } from '@reprise/contracts';
import { isMemoryTool } from '@reprise/org/contracts';
import { COORDINATOR_TOOLS, WORKER_TOOLS } from '../pure/index.js';
import type { Skill, SkillProblem } from './skill.js';

/** What a team knows, for the rules that need it. */
export interface KnownToTeam {
  /** The names of the catalog. */
  readonly tools: readonly string[];
  /** The aliases of the models. */
  readonly models: readonly string[];
  /** Whether the team names this skill as a planner. */
  readonly planner?: boolean;
  /** The tools of the catalog that the rights of a project do not cover; none when absent. */
  readonly denied?: readonly string[];
}

/** The tool of a project that only a planner may list. */
const FOR_PLANNERS = 'plan_write';
/** Whether a tool is one of the coordinator: no skill may list it, unless it is its own, or the catalog has one of the name. */
function isReserved(tool: string): boolean {
  return COORDINATOR_TOOLS.some((one) => one === tool) || isMemoryTool(tool);
}

/**
 * The problems of a skill in a team, its own included: tools that the catalog lacks, that only the coordinator may have
 * or that the project may not use, a model that the world does not have.
 */
export function lintSkill(skill: Skill, known: KnownToTeam): readonly SkillProblem[] {
  requireArgument(
    isFields(skill) && isFields(skill.lines),
    'lintSkill(skill)',
    'a skill, from parseSkill or skill()',
    skill,
  );
  requireArgument(
    isFields(known) && Array.isArray(known.tools) && Array.isArray(known.models),
    'lintSkill(known)',
    'an object with tools and models',
    known,
  );
  const line = (field: 'tools' | 'model'): number => skill.lines[field] ?? 1;
  const problems = [...skill.problems];
  for (const tool of skill.tools ?? []) {
    if (known.denied?.includes(tool))
      problems.push({ line: line('tools'), rule: 'tool_denied', message: `the project may not use the tool ${tool}` });
    if (known.tools.includes(tool) || isOwn(tool, known.planner === true)) continue;
    if (isReserved(tool) || tool === FOR_PLANNERS) {
      const whose = tool === FOR_PLANNERS ? 'skills that the team names as planners' : 'the coordinator';
      problems.push({ line: line('tools'), rule: 'tool_reserved', message: `${tool} is for ${whose}` });
    } else problems.push({ line: line('tools'), rule: 'tool_unavailable', message: `the catalog has no tool ${tool}` });
  }
  if (skill.model !== null && !known.models.includes(skill.model))
    problems.push({
      line: line('model'),
      rule: 'unknown_model',
      message: `the world has no model ${skill.model}; it has ${known.models.join(', ').slice(0, 120)}`,
    });
  return problems;
}

/** The tools of a skill that mean tools of the project: the catalog has none of the name. */
export function projectToolsOf(tools: readonly string[], { tools: catalog, planner }: KnownToTeam): readonly string[] {
  return tools.filter((tool) => !catalog.includes(tool) && isOwn(tool, planner === true));
}

function isOwn(tool: string, planner: boolean): boolean {
  return WORKER_TOOLS.some((one) => one === tool) && (planner || tool !== FOR_PLANNERS);
}
