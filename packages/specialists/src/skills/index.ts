/** Skills as files: reading, checking, listing, watching, and the index that a project has of them. */
export { lookAtSkills } from './adapter.js';
export { type SkillSpec, skill } from './code.js';
export { type FolderOptions, folder } from './folder.js';
export { listSkills, type SkillLibrary, skillLibrary, type TeamFacts } from './library.js';
export { lintSkill } from './lint.js';
export { parseSkill } from './parse.js';
export { rankSkills } from './rank.js';
export {
  type FoundSkill,
  isSkill,
  type Skill,
  type SkillProblem,
  type SkillProblems,
  type SkillSource,
  type SkillWarning,
} from './skill.js';
