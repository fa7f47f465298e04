/** `reprise team show`: the tasks, results, story and memories of a project, read without a lock. */
import { isBelow, readText } from '@reprise/agent';
import { actorWords, nextStep, RepriseError, type Value } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { readViews } from '@reprise/kernel/views';
import { decisionText } from '@reprise/operators/names';
import { wordsOfTeamWait } from '@reprise/operators/words';
import { memoryItems, readItemText, unlessErased } from '@reprise/org';
import type { ReadProject } from '@reprise/specialists';
import type { RecordedResult, RecordedTask } from '@reprise/specialists/contracts';
import { poolOf, scopeOf } from '@reprise/specialists/contracts';
import { readFailures } from '../../process/failures.js';
import type { Io } from '../../process/io.js';
import { markOf, readOutput } from '../../team/facts.js';
import { projectNamed, projectsIn, readProject } from '../../team/read-team.js';
import { escapeLine, escapeText } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { TREE_EXIT, type TreeExitCode } from '../../tree/exit.js';
import { type PartTroubles, partTroubles, unownedLine } from '../../world/failed-cells.js';
import { withWorld } from '../../world/open.js';

/** The options of `team show`. */
interface ShowTeamOptions {
  readonly world: string;
  readonly project?: string;
  readonly json?: true;
}

const SHOWN = ['tasks', 'graph', 'results', 'result', 'narrative', 'memories'] as const;

type What = (typeof SHOWN)[number];

/** What is shown, as data and as lines. */
interface Shown {
  readonly data: unknown;
  readonly lines: readonly string[];
  /** A whole text below the lines. */
  readonly text?: string;
}

/** Prints a part of a project; its state and tasks when none is named. */
export async function showTeam(io: Io, what: readonly string[], options: ShowTeamOptions): Promise<TreeExitCode> {
  const [part, number] = partOf(what);
  await withWorld(options.world, async (store) => {
    const project = await readProject(store, projectNamed(await projectsIn(store), options.project));
    const troubles = part === 'tasks' ? await troublesOf(store, project, options.world) : undefined;
    const { data, lines: own, text } = await shown(store, project, part, number);
    if (options.json === true)
      return io.out.write(`${toJson(troubles === undefined ? data : { ...(data as object), ...troubles.json })}\n`);
    const lines = [...own, ...(troubles === undefined ? [] : heldUp(project, troubles))];
    await io.out.write(lines.map((line) => `${escapeLine(line)}\n`).join(''));
    if (text !== undefined) await io.out.write(`\n${escapeText(text)}\n`);
  });
  return TREE_EXIT.complete;
}

/** What holds a project up; a project that works says when no process has its world. */
function heldUp({ id, state }: ReadProject, troubles: PartTroubles): readonly string[] {
  const command = `reprise team continue --project ${id}`;
  return [...(state.status === 'working' ? unownedLine(`project ${id}`, troubles, command) : []), ...troubles.lines];
}

/** The troubles of a project: of its own cell, those of its jobs and sessions, its memory and the pool of its team. */
async function troublesOf(store: ReadonlyStore, { id, state }: ReadProject, world: string) {
  const { seq } = await store.journal.head();
  const names = [id, scopeOf(id), ...(state.team === null ? [] : [poolOf(state.team)[1]])];
  return partTroubles(store, { world, seq, isMeant: isBelow(names) });
}

function partOf([part = 'tasks', number]: readonly string[]): readonly [What, number] {
  const known = SHOWN.find((one) => one === part);
  const n = Number(number);
  if (known === 'result' && Number.isSafeInteger(n) && n > 0) return [known, n];
  if (known !== undefined && known !== 'result' && number === undefined) return [known, 0];
  throw new RepriseError('invalid_argument', 'this part of a project cannot be shown', {
    where: 'reprise team show',
    expected: 'tasks, graph, results, result N, narrative or memories',
    actual: [part, ...(number === undefined ? [] : [number])].join(' '),
  });
}

/** A part of a project, as data and as lines. */
export function shown(store: ReadonlyStore, project: ReadProject, part: What, n: number): Promise<Shown> {
  switch (part) {
    case 'tasks':
      return tasks(project);
    case 'graph':
      return graph(project);
    case 'results':
      return results(store, project);
    case 'result':
      return result(store, project, n);
    case 'narrative':
      return narrative(store, project);
    case 'memories':
      return memories(store, project);
  }
}

function headOf({ id, state }: ReadProject): string {
  const { status, needs, counts, jobs, unprocessed, cancelled_by } = state;
  const by = cancelled_by === null ? '' : ` by ${actorWords(cancelled_by)}`;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const plan = all === 0 ? '' : `, tasks completed ${counts.completed}/${all}`;
  return `${id} [${status}]${by}${plan}, jobs under way ${jobs}, results not processed ${unprocessed}${needs === null ? '' : ` · ${decisionText(needs)}`}`;
}

async function tasks(project: ReadProject): Promise<Shown> {
  const rows = await project.cell.numbered('tasks');
  const { id, state } = project;
  const waits = await project.waits();
  const lines = [
    ...rows.map(([n, task]) => lineOfTask(n, task)),
    ...waits.filter(({ kind }) => kind !== 'decision').map((wait) => `waits: ${wordsOfTeamWait(wait)}`),
  ];
  const data = {
    project: id,
    status: state.status,
    needs: state.needs,
    cancelled_by: state.cancelled_by,
    counts: state.counts,
    tasks: rows.map(([n, row]) => taskJson(n, row)),
    waits,
  };
  return { data, lines: [headOf(project), ...lines] };
}

function lineOfTask(n: number, { status, skill, title, failure, result, ended_by }: RecordedTask): string {
  const by = ended_by === undefined ? '' : ` by ${actorWords(ended_by)}`;
  const why = failure === null ? '' : ` · ${failure}${by}`;
  return `${markOf(status)} ${n} [${status}] ${skill}: ${title}${result === null ? '' : ` · result ${result}`}${why}`;
}

function taskJson(id: number, row: RecordedTask): Record<string, unknown> {
  const { title, skill, status, failure, result, attempts, priority, depends_on, ended_by = null } = row;
  return { id, title, skill, status, failure, result, attempts, priority, depends_on, ended_by };
}

/** Tasks below those that they depend on first. */
async function graph(project: ReadProject): Promise<Shown> {
  const rows = await project.cell.numbered('tasks');
  const lines = rows.map(([n, task]) => {
    const needs = task.depends_on.map((need) => need.task);
    return `${lineOfTask(n, task)}${needs.length === 0 ? '' : `  ← ${needs.join(', ')}`}`;
  });
  const data = rows.map(([id, { title, status, depends_on }]) => ({ id, title, status, depends_on }));
  return { data: { project: project.id, tasks: data }, lines: [headOf(project), ...lines] };
}

async function results(store: ReadonlyStore, project: ReadProject): Promise<Shown> {
  const rows = await project.cell.numbered('results');
  const words = await failuresOf(store, rows);
  const lines = rows.flatMap(([n, row]) => [lineOfResult(n, row), ...failureLine(words.get(n))]);
  return {
    data: { project: project.id, results: rows.map(([n, row]) => resultJson(n, row, words.get(n))) },
    lines: [headOf(project), ...lines],
  };
}

function lineOfResult(n: number, { status, skill, title, task, code, processed_at, ended_at }: RecordedResult): string {
  const of = task === null ? '' : ` of task ${task}`;
  const waits = ended_at !== null && processed_at === null ? ' · not processed' : '';
  return `${markOf(status)} ${n} [${status}] ${skill}: ${title}${of}${code === null ? '' : ` · ${code}`}${waits}`;
}

/** Why the work on results failed, by number: what its codes mean, in the words of the provider. */
async function failuresOf(
  store: ReadonlyStore,
  rows: readonly (readonly [number, RecordedResult])[],
): Promise<ReadonlyMap<number, string>> {
  const words = new Map<number, string>();
  const failed = rows.filter(([, { status, code }]) => status !== 'ok' && code !== null);
  if (failed.length === 0) return words;
  const failures = await readFailures(store);
  for (const [n, { session, code }] of failed)
    if (code !== null && nextStep(code) !== undefined) words.set(n, await failures.wordsOf(session, code));
  return words;
}

function failureLine(words: string | undefined): readonly string[] {
  return words === undefined ? [] : [`    failed: ${words}`];
}

function resultJson(id: number, row: RecordedResult, failure?: string): Record<string, unknown> {
  const { title, skill, status, task, code, digest, model, inputs, session, memory_ids, cost, processed_at } = row;
  const processed = processed_at !== null;
  const why = failure === undefined ? {} : { failure };
  return { id, title, skill, status, task, code, ...why, digest, model, inputs, session, memory_ids, cost, processed };
}

async function result(store: ReadonlyStore, project: ReadProject, n: number): Promise<Shown> {
  const rows = await project.cell.numbered('results');
  const row = rows.find(([at]) => at === n)?.[1];
  if (row === undefined)
    throw new RepriseError('invalid_argument', 'the project has no such result', {
      where: `project ${project.id}`,
      expected: rows.length === 0 ? 'a result; there are no results yet' : `a number from 1 to ${rows.length}`,
      actual: n,
    });
  const text =
    row.output_ref === null ? undefined : await unlessErased(readOutput(store.content, row.output_ref), ERASED);
  const words = (await failuresOf(store, [[n, row]])).get(n);
  const data = { ...resultJson(n, row, words), output: text ?? null };
  return { data, lines: [lineOfResult(n, row), ...failureLine(words)], ...(text === undefined ? {} : { text }) };
}

async function narrative(store: ReadonlyStore, project: ReadProject): Promise<Shown> {
  const entries: { n: number; previous: number | null; text: string; memory_ids: Value; task_ids: Value }[] = [];
  for (const [n, row] of await project.cell.numbered('narrative')) {
    const { previous, memory_ids, task_ids, text_ref } = row;
    const text = await unlessErased(readText(store.content, text_ref), ERASED);
    entries.push({ n, previous, text, memory_ids: [...memory_ids], task_ids: [...task_ids] });
  }
  return {
    data: { project: project.id, narrative: entries },
    lines: [headOf(project), ...entries.map(({ n, text }) => `${n}. ${text.replace(/\s+/g, ' ')}`)],
  };
}

async function memories(store: ReadonlyStore, project: ReadProject): Promise<Shown> {
  await using views = await readViews(store, [memoryItems]);
  const found: { id: number; summary: string; score: number; state: string; tags: readonly string[] }[] = [];
  for await (const { key, row } of views.view(memoryItems).each({ under: [scopeOf(project.id)], limit: 1_000 })) {
    const summary = (await readItemText(store.content, row.summary_ref)) ?? ERASED;
    found.push({ id: Number([key].flat().at(-1)), summary, score: row.score, state: row.state, tags: row.tags });
  }
  const lines = found.map(({ id, score, state, summary }) => {
    const marks = state === 'live' ? '' : ` [${state}]`;
    return `${id}. (${score})${marks} ${summary.replace(/\s+/g, ' ')}`;
  });
  return { data: { project: project.id, memories: found }, lines: [headOf(project), ...lines] };
}

const ERASED = '[This content was erased.]';
