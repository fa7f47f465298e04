/** What a project is told of its team and of the skills: recorded, so that replay reads no file. */
import { adopted } from '@reprise/agent/contracts';
import { address } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { DISPATCHES, ON_FAILED } from './names.js';
import { skillName } from './rows.js';

/** The name of a team. */
export const teamName = z.string().regex(/^[a-z0-9._-]{1,40}$/);

/** Why a skill cannot be spawned. */
export const SKILL_PROBLEMS = [
  'skill_invalid',
  'tool_unavailable',
  'tool_reserved',
  'unknown_model',
  'no_price',
] as const;

/** What a project knows of a skill: never its body. */
export const skillRow = z.strictObject({
  /** `sha256:…` of the bytes of its file. */
  digest: z.string().max(80),
  /** In one line. */
  description: z.string().max(1_024),
  tools: z.array(z.string().min(1).max(64)).max(64),
  /** The alias of its model; null for that of the team. */
  model: z.nullable(z.string().max(128)),
  timeout_ms: z.nullable(z.int().min(1)),
  /** Whether the team lets it write plans. */
  planner: z.boolean(),
  /** Why it cannot be spawned; null when it can. */
  problem: z.nullable(z.strictObject({ code: z.enum(SKILL_PROBLEMS), text: z.string().max(600) })),
});

/** What a project knows of a skill. */
export type SkillRow = z.infer<typeof skillRow>;

/** What bounds the use of a project's agents, all together; null for no bound. */
export const projectBudget = z.nullable(
  z.strictObject({ unit: z.enum(['tokens', 'micro_money']), amount: z.int().min(1) }),
);

/** A team as a project knows it. */
export const teamRow = z.strictObject({
  name: teamName,
  /** The coordinator, as its session adopts it. */
  coordinator: adopted,
  /** The names of the tools by which agents of the team call the app's cell. */
  app_tools: z.array(z.string().min(1).max(64)).max(64),
  calls: z.nullable(address),
  default_model: z.string().max(128),
  /** The aliases of models, and whether each has a price. */
  models: z.array(z.strictObject({ name: z.string().max(128), priced: z.boolean() })).max(64),
  timeout_ms: z.int().min(1),
  dispatch: z.enum(DISPATCHES),
  on_failed: z.enum(ON_FAILED),
  budget: projectBudget,
});

/** A team as a project knows it. */
export type TeamRow = z.infer<typeof teamRow>;

/** What has changed in a team and its skills since a version; without a team nothing has. */
export const teamNews = z.strictObject({
  /** The version that the project now knows: a digest of the team and all skills. */
  version: z.string().max(80),
  team: z.exactOptional(teamRow),
  changed: z.array(z.strictObject({ name: skillName, skill: skillRow })).max(16),
  removed: z.array(skillName).max(256),
  /** Whether more has changed than fits; it is read with the version that this receipt names. */
  more: z.boolean(),
});

/** What has changed in a team and its skills. */
export type TeamNews = z.infer<typeof teamNews>;
