/** Where skills come from: folders of files, and code. */
import type { Skill, SkillProblem, SkillProblems } from './skill.js';

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
