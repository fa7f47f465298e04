/** `npm run swarm [-- FOLDER]`: three agents research a folder together, and one of them is not to be trusted. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { isRepriseError, openWorld } from 'reprise';
import { fileVault, society } from 'reprise/society';
import { sqlite } from 'reprise/sqlite';
import { print, printError } from 'reprise/terminal';
import { type Arguments, readArguments, requireFolder, USAGE, worldOf } from './arguments.js';
import { crewOf } from './crew.js';
import { interruption } from './interrupt.js';
import { rules } from './rules.js';
import { told } from './tell.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '');
/** How long an answer takes where a person looks on. */
const PACE_MS = 200;

async function main(): Promise<number> {
  let args: Arguments;
  try {
    args = readArguments(process.argv.slice(2), process.cwd(), ROOT);
    if (!args.help) requireFolder(args.folder);
  } catch (error) {
    printError(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (args.help) {
    print(USAGE);
    return 0;
  }
  try {
    return await started(args);
  } catch (error) {
    if (isRepriseError(error, 'world_locked')) printError('Another research of this folder is at work.');
    else printError(isRepriseError(error) ? error.message : error);
    return 1;
  }
}

async function started({ folder, world: given, fresh, pace, stay }: Arguments): Promise<number> {
  const file = given ?? worldOf(folder, fresh, process.env);
  print(`The research is kept in ${file}.`);
  const crew = crewOf(folder);
  const part = society({ keys: fileVault(`${file}.keys`) });
  const signal = interruption();
  const secret = randomBytes(32).toString('hex');
  const world = await openWorld({
    store: sqlite(file),
    models: { main: rules(pace ?? (process.stdout.isTTY ? PACE_MS : 0)) },
    agents: Object.values(crew),
    parts: [part],
    secrets: async () => secret,
  });
  try {
    return await told(world, world.part(part), crew, { file, stay, signal });
  } finally {
    await world.close();
  }
}

process.exitCode = await main();
