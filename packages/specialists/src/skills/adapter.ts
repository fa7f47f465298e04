/**
 * The skills of a team for `specialists.skills@1`: the rows that a project does not have yet.
 * The index is content: the version that a project names is read again, in whatever process.
 */

import { putText, readText } from '@reprise/agent';
import type { Ref } from '@reprise/contracts';
import { parseOwnJson } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import { SKILL_BOUNDS, type SkillRow, type SkillsSeen, skillProblemRow, skillRow } from '../pure/contracts/skills.js';
import type { SkillLibrary, TeamFacts } from './library.js';

/**
 * Looks at the skills of a team: the rows that a project does not have yet.
 *
 * @param facts what the team knows now: its catalog, the models of the world, its planners
 * @param version the index that the project knows; null when it knows none
 */
export async function lookAtSkills(
  library: SkillLibrary,
  facts: TeamFacts,
  content: ContentStore,
  version: Ref | null,
): Promise<SkillsSeen> {
  const { rows } = await library.index(facts);
  const known = version === null ? [] : await readIndex(content, version);
  return difference(content, known, rows, facts.models);
}

/** What a project with these rows has to change; no more than fits into a receipt. */
async function difference(
  content: ContentStore,
  known: readonly SkillRow[] | undefined,
  rows: readonly SkillRow[],
  models: readonly string[],
): Promise<SkillsSeen> {
  const before = new Map((known ?? []).map((row) => [row.name, row]));
  const names = new Set(rows.map(({ name }) => name));
  const gone = [...before.keys()].filter((name) => !names.has(name));
  const removed = gone.slice(0, REMOVED_AT_ONCE);
  const differing = rows.filter((row) => !isSame(before.get(row.name), row));
  const changed = fitting(differing);
  const after = new Map(before);
  for (const name of removed) after.delete(name);
  for (const row of changed) after.set(row.name, row);
  const index = [...after.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    version: await putText(content, textOf(index)),
    changed: [...changed],
    removed,
    more: changed.length < differing.length || removed.length < gone.length,
    afresh: known === undefined,
    models: [...models],
    invalid: index.filter(({ state }) => state !== 'ready').length,
  };
}

/** The names of removed skills in one receipt. */
const REMOVED_AT_ONCE = 256;

/** Whether two rows say the same. */
function isSame(known: SkillRow | undefined, row: SkillRow): boolean {
  return known !== undefined && textOf([known]) === textOf([row]);
}

/** Rows as text, in which the order of fields is always the same: equal rows are one version. */
function textOf(rows: readonly SkillRow[]): string {
  return JSON.stringify(rows, FIELDS);
}

const FIELDS: string[] = [...Object.keys(skillRow.shape), ...Object.keys(skillProblemRow.shape)];

/** The first rows, up to the bytes of a receipt; at least one. */
function fitting(rows: readonly SkillRow[]): readonly SkillRow[] {
  const encoder = new TextEncoder();
  let bytes = 0;
  const end = rows.findIndex((row, i) => {
    bytes += encoder.encode(JSON.stringify(row)).length;
    return i > 0 && bytes > SKILL_BOUNDS.rows_bytes;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

/** The index that a version names; undefined when it was erased, or an older release wrote it. */
async function readIndex(content: ContentStore, version: Ref): Promise<readonly SkillRow[] | undefined> {
  try {
    const rows: unknown = parseOwnJson(await readText(content, version));
    return Array.isArray(rows) ? rows.map((row) => skillRow.parse(row)) : undefined;
  } catch {
    return undefined;
  }
}
