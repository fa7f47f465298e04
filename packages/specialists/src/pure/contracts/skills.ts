/** Skills as a project knows them: rows of facts about each, and the effect that looks at them. Bodies stay outside. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';

/** The bounds of skill files and of their fields. */
export const SKILL_BOUNDS = {
  /** The bytes of a skill file. */
  file_bytes: 262_144,
  /** The bytes of its front matter. */
  front_matter_bytes: 16_384,
  /** How deep lists and maps of the front matter are nested. */
  nesting: 16,
  /** The characters of a name. */
  name: 64,
  /** The characters of a description. */
  description: 1_024,
  /** The characters of the field `compatibility`. */
  compatibility: 500,
  triggers: 32,
  /** The characters of a trigger. */
  trigger: 64,
  tools: 64,
  /** The longest time of a job, in seconds: 7 days. */
  timeout_seconds: 604_800,
  /** The problems of one file that are listed. */
  problems: 8,
  /** The skills of a team. */
  skills: 1_024,
  /** The bytes of changed rows in one receipt. */
  rows_bytes: 32_768,
  /** The bytes of the index in the coordinator's prompt; beyond them it holds names alone. */
  index_bytes: 8_192,
} as const;

/** The name of a skill: lower-case letters and digits in words that single hyphens join. */
export const SKILL_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Whether a skill can be spawned: `ready`; `unfit`, a valid file that cannot be spawned in this team; `invalid`. */
export const SKILL_STATES = ['ready', 'unfit', 'invalid'] as const;

/** The codes with which a spawn of a skill that is not ready is refused. */
export const SKILL_REFUSALS = [
  'skill_invalid',
  'tool_unavailable',
  'tool_reserved',
  'tool_denied',
  'unknown_model',
] as const;

/** Why a spawn of a skill is refused. */
export type SkillRefusal = (typeof SKILL_REFUSALS)[number];

/** A problem of a skill, as it is recorded. */
export const skillProblemRow = z.strictObject({
  line: z.int().min(1),
  rule: z.string().min(1).max(64),
  message: z.string().max(240),
});

/** What a project knows of a skill. */
export const skillRow = z.strictObject({
  name: z.string().min(1).max(SKILL_BOUNDS.name),
  /** The digest of its bytes: 64 hex digits. */
  digest: z.string().max(80),
  /** What it is for, in one line. */
  description: z.string().max(SKILL_BOUNDS.description),
  triggers: z.array(z.string().max(SKILL_BOUNDS.trigger)).max(SKILL_BOUNDS.triggers),
  /** The tools that it lists; null when it lists none, not even an empty list. */
  tools: z.nullable(z.array(z.string().max(64)).max(SKILL_BOUNDS.tools)),
  /** Those of them that mean a tool of the project, since the app has no tool of that name. */
  project_tools: z.array(z.string().max(64)).max(8),
  model: z.nullable(z.string().max(128)),
  timeout_ms: z.nullable(z.int().min(1)),
  planner: z.boolean(),
  state: z.enum(SKILL_STATES),
  /** Why a spawn is refused; null when it is ready. */
  refusal: z.nullable(z.enum(SKILL_REFUSALS)),
  problems: z.array(skillProblemRow).max(SKILL_BOUNDS.problems),
});

/** What a project knows of a skill. */
export type SkillRow = z.infer<typeof skillRow>;

/**
 * What a look at the skills found: the rows that differ from the known ones. While `more` is set, the rows did not fit
 * into one receipt: the same effect with the new version gives the rest.
 */
export const skillsSeen = z.strictObject({
  /** The index after these changes, as content: the version that the next look names. */
  version: ref(),
  changed: z.array(skillRow),
  removed: z.array(z.string().max(SKILL_BOUNDS.name)).max(SKILL_BOUNDS.skills),
  more: z.boolean(),
  /** The known version could not be read: everything that the project has gives way to these rows. */
  afresh: z.boolean(),
  /** The models of the world that a skill or spawn may name. */
  models: z.array(z.string().max(128)).max(256),
  /** How many skills of the index are not ready. */
  invalid: z.int().min(0),
});

/** What a look at the skills found. */
export type SkillsSeen = z.infer<typeof skillsSeen>;
