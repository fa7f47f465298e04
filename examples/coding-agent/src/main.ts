/** The coding agent's command. */
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isRepriseError } from 'reprise';
import { type Arguments, readArguments, USAGE } from './arguments.js';
import { Chat } from './chat.js';
import { DEMO_TASK, writeDemo } from './demo/folder.js';
import { type Desk, openDesk } from './desk.js';
import { worldsOf } from './places.js';
import { printed } from './print.js';

/** Exit codes: 0 done, 1 failed, 2 incorrect use, 130 quit with Ctrl-C. */
async function main(): Promise<number> {
  let args: Arguments;
  try {
    args = readArguments(process.argv.slice(2), process.cwd());
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (args.help) {
    console.log(USAGE);
    return 0;
  }
  if (args.demo) await makeDemo(args.folder);
  if (!(await isFolder(args.folder))) {
    console.error(`${args.folder} is not a folder.`);
    return 2;
  }
  try {
    return await work(args);
  } catch (error) {
    if (isRepriseError(error, 'world_locked'))
      console.error('Another coding agent works in this folder; close it first.');
    else console.error(isRepriseError(error) || error instanceof TypeError ? error.message : error);
    return error instanceof TypeError ? 2 : 1;
  }
}

async function work(args: Arguments): Promise<number> {
  const { folder, baseUrl, model, fresh, print } = args;
  const reach = { baseUrl, env: process.env };
  const worlds = args.worlds ?? worldsOf(folder, process.env);
  const desk = await openDesk({ folder, worlds, model, reach, fresh });
  if (print === undefined) return talk(desk, args);
  try {
    const { stop } = await printed(desk.world, desk.session, { task: print, id: args.id, yes: args.yes });
    if (stop.kind === 'Completed') return 0;
    console.error(stop.kind === 'Failed' ? `failed: ${stop.code}` : stop.kind);
    return 1;
  } finally {
    await desk.world.close();
  }
}

async function talk(desk: Desk, { demo }: Arguments): Promise<number> {
  const chat = new Chat(desk, process.stdin, process.stdout);
  process.on('SIGINT', () => chat.interrupt());
  process.once('SIGTERM', () => void chat.leave(143));
  await chat.begin();
  if (demo && (await desk.session.state()) === undefined) chat.tell(`Try: ${DEMO_TASK}`);
  return chat.left;
}

async function makeDemo(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (!(await stat(path.join(folder, 'package.json')).catch(() => undefined))) await writeDemo(folder);
}

async function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

process.exitCode = await main();
