/** `npm run review-team [-- FOLDER]`: a team of specialists reviews a repository, and makes one report. */
import { stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isRepriseError, openWorld } from 'reprise';
import { failureWords, reportOnce } from 'reprise/history';
import type { Project } from 'reprise/specialists';
import { sqlite } from 'reprise/sqlite';
import { print, printError } from 'reprise/terminal';
import { type Arguments, readArguments, USAGE } from './arguments.js';
import { followed } from './follow.js';
import { interruption } from './interrupt.js';
import { modelOf, secretsOf } from './models.js';
import { worldOf } from './places.js';
import { PROJECT, reviewTeam } from './team.js';

/** The repository of this example. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '');

/** How long an answer of the embedded model takes where a person looks on. */
const PACE_MS = 150;

/** Exit codes: 0 a report, 1 failed, 2 wrong use, 3 a decision is needed, 130 Ctrl-C. */
async function main(): Promise<number> {
  let args: Arguments;
  try {
    args = readArguments(process.argv.slice(2), process.cwd(), ROOT);
  } catch (error) {
    printError(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (args.help) {
    print(USAGE);
    return 0;
  }
  try {
    await requireFolder(args.folder, 'the repository');
    if (args.skills !== undefined) await requireFolder(args.skills, 'the folder of skills');
    return await reviewed(args);
  } catch (error) {
    if (isRepriseError(error, 'world_locked')) {
      printError('Another review of this folder is at work; wait for it, or begin one of your own with --world FILE.');
      return 1;
    }
    printError(isRepriseError(error) || error instanceof TypeError ? error.message : error);
    return error instanceof TypeError ? 2 : 1;
  }
}

async function requireFolder(folder: string, what: string): Promise<void> {
  const stats = await stat(folder).catch(() => undefined);
  if (stats?.isDirectory() !== true) throw new TypeError(`${what} is not a folder: ${folder}`);
}

async function reviewed(args: Arguments): Promise<number> {
  const { folder, model, baseUrl, max, skills } = args;
  const plain = args.plain || !process.stdout.isTTY;
  const pace = args.pace ?? (plain ? 0 : PACE_MS);
  const client = modelOf({ model, baseUrl, pace, env: process.env });
  const file = args.world ?? worldOf(folder, args.fresh, process.env);
  printError(`The review is kept in ${file}.`);
  const signal = interruption();
  const team = reviewTeam(folder, { max, skills });
  // What fails is said at once: below the picture, since a line on standard error would be drawn across it.
  let say = (line: string): void => printError(line);
  const world = await openWorld({
    store: sqlite(file),
    models: { main: client },
    parts: [team],
    secrets: secretsOf(process.env),
    onError: reportOnce((line) => say(line)),
  });
  try {
    const project = world.part(team).project(PROJECT);
    if (
      !(await followed(world, project, { folder, plain, out: process.stdout, signal, noting: (note) => (say = note) }))
    ) {
      printError('Stopped. The same command continues where it was.');
      return 130;
    }
    return await told(project, args, file);
  } finally {
    await world.close();
  }
}

/** Prints the report, or why the review came to no report. */
async function told(project: Project, { out }: Arguments, file: string): Promise<number> {
  const tasks = await project.tasks();
  const report = tasks.findLast(({ skill, status }) => skill === 'report' && status === 'completed');
  if (report?.result === undefined) {
    for (const { id, title, failure } of tasks.filter(({ status }) => status === 'failed'))
      printError(`#${id} ${title} failed: ${failure ?? 'unknown'}`);
    for (const { id, title, status, code } of await project.results()) {
      if (status !== 'ok') printError(`${title}: ${status}${code === undefined ? '' : `: ${failureWords(code)}`}`);
      else if (tasks.length === 0) printError(`${title}: ${await project.output(id)}`);
    }
    printError(`There is no report. The review is in ${file}; --new begins another one.`);
    return tasks.some(({ status }) => status === 'failed') ? 3 : 1;
  }
  const text = await project.output(report.result);
  if (out !== undefined) await writeFile(out, `${text}\n`);
  print(`\n${text}\n\nThe review is in ${file}: npx reprise verify ${file}, npx reprise inspect ${file}`);
  return 0;
}

process.exitCode = await main();
