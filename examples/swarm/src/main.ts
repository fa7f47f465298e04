/** `npm run swarm [-- FOLDER]`: three agents research a folder together, and one of them is not to be trusted. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type AgentWorld, isRepriseError, openWorld } from 'reprise';
import { fileVault, type Society, society } from 'reprise/society';
import { sqlite } from 'reprise/sqlite';
import { type Arguments, readArguments, requireFolder, USAGE, worldOf } from './arguments.js';
import { type Crew, crewOf } from './crew.js';
import { joinable } from './join.js';
import { happenings } from './journal.js';
import { lineOf, namesOf, reportOf } from './report.js';
import { hire, type Member, research } from './research.js';
import { rules } from './rules.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '');
/** How long an answer takes where a person looks on. */
const PACE_MS = 200;

async function main(): Promise<number> {
  let args: Arguments;
  try {
    args = readArguments(process.argv.slice(2), process.cwd(), ROOT);
    if (!args.help) requireFolder(args.folder);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (args.help) {
    console.log(USAGE);
    return 0;
  }
  try {
    return await started(args);
  } catch (error) {
    if (isRepriseError(error, 'world_locked')) console.error('Another research of this folder is at work.');
    else console.error(isRepriseError(error) ? error.message : error);
    return 1;
  }
}

async function started({ folder, world: given, fresh, pace, stay }: Arguments): Promise<number> {
  const file = given ?? worldOf(folder, fresh, process.env);
  const crew = crewOf(folder);
  const part = society({ keys: fileVault(`${file}.keys`) });
  const secret = randomBytes(32).toString('hex');
  const world = await openWorld({
    store: sqlite(file),
    models: { main: rules(pace ?? (process.stdout.isTTY ? PACE_MS : 0)) },
    agents: Object.values(crew),
    parts: [part],
    secrets: async () => secret,
  });
  const interrupted = new Promise<130>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(130));
  });
  try {
    const done = await Promise.race([told(world, world.part(part), crew, { file, stay, interrupted }), interrupted]);
    if (done === 130 && !stay) console.error('Stopped. The same command continues where it was.');
    return done;
  } finally {
    await world.close();
  }
}

interface Telling {
  readonly file: string;
  readonly stay: boolean;
  readonly interrupted: Promise<unknown>;
}

/** Does the research and tells of it. */
async function told(
  world: AgentWorld,
  office: Society,
  crew: Crew,
  { file, stay, interrupted }: Telling,
): Promise<number> {
  const members = await hire(office);
  const { words, leave } = await joinable(world, file);
  console.log(`${words}\n`);
  const over = new AbortController();
  const shown = show(world, members, over.signal);
  try {
    await research(world, office, crew, members);
    over.abort();
    await shown;
    console.log(`\n${await reportOf(world, office, members, file)}`);
    if (stay) console.log(`\n${words}\nCtrl-C ends it.`);
    if (stay) await interrupted;
    return 0;
  } finally {
    over.abort();
    await leave();
  }
}

/** Prints what happens, from now on. */
async function show(world: AgentWorld, members: readonly Member[], signal: AbortSignal): Promise<void> {
  const nameOf = namesOf(members);
  try {
    for await (const news of happenings(world, { from: world.kernel.head.seq + 1, signal })) {
      const line = lineOf(news, nameOf);
      if (line !== undefined) console.log(line);
    }
  } catch (error) {
    if (!signal.aborted && !isRepriseError(error, 'world_closed')) throw error;
  }
}

process.exitCode = await main();
