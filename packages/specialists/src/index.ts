/** Teams of specialists: a coordinator, a plan of tasks, and skills as files. */
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
