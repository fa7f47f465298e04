/** `reprise skills ls` and `reprise skills lint`: the skills of folders, and what is wrong with their files. */
import { statSync } from 'node:fs';
import { RepriseError } from '@reprise/contracts';
import {
  type FoundSkill,
  folder,
  isSkill,
  listSkills,
  type SkillProblem,
  type SkillWarning,
} from '@reprise/specialists';
import { EXIT, type ExitCode } from '../process/exit.js';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';

/** The options of both verbs. */
interface SkillsOptions {
  readonly json?: true;
}

/** The skills of folders, and what a person should know besides. */
interface Listing {
  readonly skills: readonly FoundSkill[];
  readonly warnings: readonly SkillWarning[];
}

/** The folder when none is named. */
const FOLDER_DEFAULT = 'skills';
/** The digits of a digest that a line shows. */
const DIGITS = 12;

export async function showSkills(io: Io, folders: readonly string[], options: SkillsOptions): Promise<ExitCode> {
  const listing = await read(folders);
  if (options.json === true) await io.out.write(`${toJson(asJson(listing))}\n`);
  else {
    const lines = [...table(listing.skills.map(columnsOf)), ...listing.warnings.map(lineOfWarning)];
    await io.out.write(lines.map((line) => `${escapeLine(line)}\n`).join(''));
  }
  return EXIT.ok;
}

/** Prints the problems of skills. @returns 1 when there is one, or no skill at all */
export async function lintSkills(io: Io, folders: readonly string[], options: SkillsOptions): Promise<ExitCode> {
  const listing = await read(folders);
  const { skills, warnings } = listing;
  const problems = skills.flatMap(({ at, parsed }) => parsed.problems.map((problem) => lineOf(at, problem)));
  if (options.json === true) await io.out.write(`${toJson(asJson(listing))}\n`);
  else {
    const without = skills.flatMap(({ at, parsed }) => warningsOf(parsed).map((one) => `warning: ${lineOf(at, one)}`));
    const lines = [...problems, ...without, ...warnings.map(lineOfWarning), summary(skills)];
    await io.out.write(lines.map((line) => `${escapeLine(line)}\n`).join(''));
  }
  return problems.length === 0 && skills.length > 0 ? EXIT.ok : EXIT.finding;
}

async function read(folders: readonly string[]): Promise<Listing> {
  const named = folders.length === 0 ? [FOLDER_DEFAULT] : folders;
  for (const one of named) requireFolder(one);
  return listSkills(named.map((one) => folder(one)));
}

function requireFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  throw new RepriseError('invalid_argument', found === undefined ? 'the folder does not exist' : 'this is no folder', {
    where: 'reprise skills',
    actual: path,
    hint: 'Name a folder that holds <name>/SKILL.md or <name>.md: reprise skills lint FOLDER.',
  });
}

/** What a valid skill holds without effect. */
function warningsOf(parsed: FoundSkill['parsed']): readonly SkillProblem[] {
  return isSkill(parsed) ? (parsed.warnings ?? []) : [];
}

/** Whether a skill is ready, valid without being spawnable, or invalid. */
function stateOf({ parsed }: FoundSkill): 'ready' | 'unfit' | 'invalid' {
  if (!isSkill(parsed)) return 'invalid';
  return parsed.problems.length === 0 ? 'ready' : 'unfit';
}

function asJson({ skills, warnings }: Listing) {
  return {
    ok: skills.length > 0 && skills.every((one) => stateOf(one) === 'ready'),
    skills: skills.map((one) => {
      const { name, at, digest, parsed } = one;
      const fields = isSkill(parsed)
        ? { description: parsed.description, tools: parsed.tools, model: parsed.model }
        : {};
      const state = stateOf(one);
      const found = digest === '' ? null : `sha256:${digest}`;
      return {
        name,
        state,
        valid: state !== 'invalid',
        source: at,
        digest: found,
        ...fields,
        problems: parsed.problems,
        warnings: warningsOf(parsed),
      };
    }),
    warnings,
  };
}

function columnsOf(one: FoundSkill): readonly string[] {
  const { name, at, digest, parsed } = one;
  const [first] = parsed.problems;
  const why = first === undefined ? '' : `line ${first.line}: ${first.message}`;
  return [name, stateOf(one), at, digest === '' ? '-' : digest.slice(0, DIGITS), why];
}

/** Rows under a heading, each column as wide as its longest cell. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return ['no skills'];
  const all = [['NAME', 'STATE', 'SOURCE', 'DIGEST', ''], ...rows];
  const widths = [0, 1, 2, 3].map((i) => Math.max(...all.map((row) => (row[i] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function lineOf(at: string, { line, rule, message }: SkillProblem): string {
  return `${at}:${line}: ${message} [${rule}]`;
}

function lineOfWarning({ at, message, rule }: SkillWarning): string {
  return `${at}: warning: ${message} [${rule}]`;
}

function summary(skills: readonly FoundSkill[]): string {
  if (skills.length === 0) return 'no skills';
  const count = (state: string): number => skills.filter((one) => stateOf(one) === state).length;
  const all = skills.length === 1 ? '1 skill' : `${skills.length} skills`;
  const [unfit, invalid] = [count('unfit'), count('invalid')];
  if (unfit + invalid === 0) return `${all}: no problems`;
  return `${all}: ${count('ready')} ready, ${unfit} valid but not spawnable, ${invalid} invalid`;
}
