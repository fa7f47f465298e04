/** The coding agent's command. */
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isRepriseError } from 'reprise';
import { print, printError } from 'reprise/terminal';
import { Allowed } from './approvals/allowed.js';
import { type Arguments, readArguments, USAGE } from './arguments.js';
import { Chat } from './chat.js';
import { DEMO_TASK, writeDemo } from './demo/folder.js';
import { type DeskOptions, openDesk } from './desk.js';
import { History } from './history.js';
import { pausedLines } from './person.js';
import { worldsOf } from './places.js';
import { printed } from './print.js';

/** Exit codes: 0 done, 1 failed, 2 wrong use, 3 needs a person, 130 quit with Ctrl-C. */
async function main(): Promise<number> {
  let args: Arguments;
  try {
    args = readArguments(process.argv.slice(2), process.cwd());
  } catch (error) {
    printError(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (args.help) {
    print(USAGE);
    return 0;
  }
  if (args.demo) await makeDemo(args.folder);
  if (!(await isFolder(args.folder))) {
    printError(`${args.folder} is not a folder.`);
    return 2;
  }
  try {
    return await work(args);
  } catch (error) {
    if (isRepriseError(error, 'world_locked'))
      printError(`Another coding agent works in this folder: ${error.details.actual ?? 'its process is not known'}.`);
    else printError(isRepriseError(error) || error instanceof TypeError ? error.message : error);
    return error instanceof TypeError ? 2 : 1;
  }
}

async function work(args: Arguments): Promise<number> {
  const { folder, baseUrl, price, window, model, fresh, conversation, print } = args;
  const reach = { baseUrl, price, window, env: process.env };
  const worlds = args.worlds ?? worldsOf(folder, process.env);
  if (print === undefined) return talk({ folder, worlds, model, reach, fresh, conversation }, args);
  const { world, session, paused, file } = await openDesk({ folder, worlds, model, reach, fresh, conversation });
  printError(`The conversation is kept in ${file}.`);
  for (const line of pausedLines(paused)) printError(line);
  try {
    return await printed(world, session, { task: print, id: args.id, yes: args.yes });
  } finally {
    await world.close();
  }
}

async function talk(options: DeskOptions, { demo }: Arguments): Promise<number> {
  let chat: Chat | undefined;
  const heard = (program: string, text: string): void => chat?.view.heard(program, text);
  const report = (line: string): void => chat?.complain(line);
  const desk = await openDesk({ ...options, heard, report });
  const [allowed, history] = await Promise.all([Allowed.open(options.worlds), History.open(options.worlds)]);
  const { stdin: input, stdout: output } = process;
  chat = new Chat({ desk, allowed, history, input, output });
  const { interrupt, leave } = { interrupt: () => chat?.interrupt(), leave: () => void chat?.leave(143) };
  process.on('SIGINT', interrupt);
  process.once('SIGTERM', leave);
  process.once('SIGHUP', leave);
  await chat.begin(async () => {
    if (demo && (await desk.session.state()) === undefined) chat?.tell(`Try: ${DEMO_TASK}`);
  });
  if (output.isTTY) printError(`npx reprise inspect ${desk.file}`);
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
