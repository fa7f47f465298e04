/** A skill, the problems that a file may have with the rules that they name, and where skills come from: folders and code. */
import { requireFields } from '@reprise/contracts';

/** The rules of skill files. `docs/reference/skill-files.md` lists them with what to do. */
export const SKILL_RULES = {
  file_bytes: 'a file has at most 256 KiB',
  file_kind: 'a skill is a regular file inside its folder',
  file_missing: 'a folder of a skill holds a file SKILL.md',
  file_unreadable: 'the file can be read',
  utf8: 'the text is UTF-8',
  front_matter: 'the file begins with front matter between two lines of ---',
  front_matter_bytes: 'the front matter has at most 16 KiB',
  yaml: 'the front matter is YAML 1.2',
  yaml_map: 'the front matter is a map',
  yaml_nesting: 'lists and maps are nested at most 16 deep',
  yaml_alias: 'there are no anchors and aliases',
  yaml_tag: 'there are no tags and directives',
  yaml_key: 'each key is a text, and stands once',
  unknown_key: 'fields of other tools are kept and have no effect',
  plain_text: 'a text that is not YAML is quoted',
  name: 'the name has 1 to 64 characters: lower-case letters, digits, single hyphens between them',
  name_differs: 'the name is that of the folder or file',
  description: 'the description is a text of 1 to 1,024 characters',
  compatibility: 'compatibility is a text of at most 500 characters',
  metadata: 'metadata is a map of texts',
  triggers: 'triggers are at most 32 texts of 1 to 64 characters',
  tools_missing: 'a skill lists its tools; an empty list means none',
  tools: 'tools are at most 64 different names',
  model: 'the model is the alias of a model',
  timeout: 'the timeout is a whole number of seconds up to 7 days',
  tool_unavailable: 'each tool is in the catalog of the team',
  tool_reserved: "a tool of the coordinator is no specialist's",
  tool_denied: 'the rights of the project cover each tool',
  unknown_model: 'the world has the model',
  shadowed: 'one name is one skill: the first folder wins',
  too_many: 'a team has at most 1,024 skills',
} as const;

/** The name of a rule of skill files. */
export type SkillRule = keyof typeof SKILL_RULES;

/** A problem of a skill file. */
export interface SkillProblem {
  /** The line of the file, from 1; 1 for the file as a whole. */
  readonly line: number;
  readonly rule: SkillRule;
  /** What was found, in a sentence of one line. */
  readonly message: string;
}

/** How a skill was written: as a folder of the Agent Skills standard, as a single file, or in code. */
type SkillForm = 'standard' | 'seed' | 'code';

/** The fields of a skill with the line at which each stands. */
export type SkillField = 'name' | 'description' | 'triggers' | 'tools' | 'model' | 'timeout';

/** A skill whose file keeps all rules. */
export interface Skill {
  readonly name: string;
  /** What it is for, in one line. */
  readonly description: string;
  readonly form: SkillForm;
  readonly triggers: readonly string[];
  /** The tools that it may use; null when it lists none: then it cannot be spawned. */
  readonly tools: readonly string[] | null;
  /** The alias of its model; null for the team's default. */
  readonly model: string | null;
  readonly timeoutMs: number | null;
  /** The instructions, for the specialist alone. */
  readonly body: string;
  /** What keeps this valid skill from being spawned. */
  readonly problems: readonly SkillProblem[];
  /** What has no effect, such as fields of other tools, or was read in its one possible meaning. */
  readonly warnings?: readonly SkillProblem[];
  readonly lines: Readonly<Partial<Record<SkillField, number>>>;
}

/** The problems of an invalid skill. */
export interface SkillProblems {
  readonly problems: readonly SkillProblem[];
}

/** Whether this is a valid skill, not the problems of an invalid one. */
export function isSkill(parsed: Skill | SkillProblems): parsed is Skill {
  requireFields(parsed, 'isSkill(parsed)', 'the result of parseSkill');
  return 'name' in parsed;
}

/** A skill as it was found: its bytes of now, their digest, and what they say. */
export interface FoundSkill {
  /** The name under which it was found: that of its folder or file. */
  readonly name: string;
  /** The path of its file, or `code`. */
  readonly at: string;
  /** The sha-256 of its bytes in hex. */
  readonly digest: string;
  readonly parsed: Skill | SkillProblems;
}

/** The skills that a source found. */
export interface SkillListing {
  /** The skills, sorted by their names. */
  readonly skills: readonly FoundSkill[];
  /** What is wrong beside single skills, such as a folder that is not there. */
  readonly warnings: readonly SkillWarning[];
}

/** Something that a person should know of a source of skills. */
export interface SkillWarning extends SkillProblem {
  readonly at: string;
}

/** A source of skills: `folder(…)` or `skill({ … })`. */
export interface SkillSource {
  readonly kind: 'folder' | 'code';
  /** The path of the folder, or `code`. */
  readonly at: string;
  /** Lists the skills of now. What cannot be read is a problem of its skill, or a warning; it never rejects. */
  list(): Promise<SkillListing>;
  /** Reads one skill of now; undefined when it is not there. */
  read(name: string): Promise<FoundSkill | undefined>;
  /** Calls a function soon after files changed. @returns stops that. Absent when nothing is watched */
  watch?(changed: () => void): () => void;
}
