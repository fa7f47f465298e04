/** Teams of specialists: a coordinator, a plan of tasks, and skills as files. */
export * from './api/index.js';
export * from './pure/index.js';
export {
  type FolderOptions,
  type FoundSkill,
  folder,
  isSkill,
  lintSkill,
  listSkills,
  parseSkill,
  type Skill,
  type SkillProblem,
  type SkillProblems,
  type SkillSource,
  type SkillSpec,
  type SkillWarning,
  skill,
} from './skills/index.js';
