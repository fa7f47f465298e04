/** Teams of specialists: a coordinator, a plan of tasks, and skills as files. */
export {
  defineTeam,
  type NarrativeEntry,
  type PlannedTask,
  Project,
  type ProjectBy,
  type ProjectQuery,
  type ProjectRow,
  type Projects,
  projectRows,
  type ResultRow,
  type RetryChange,
  type TaskRow,
  type Team,
  type TeamOptions,
} from './api/index.js';
export * from './pure/index.js';
export {
  type FolderOptions,
  folder,
  isSkill,
  lintSkill,
  parseSkill,
  SKILL_RULES,
  type Skill,
  type SkillProblem,
  type SkillProblems,
  type SkillSource,
  type SkillSpec,
  skill,
} from './skills/index.js';
