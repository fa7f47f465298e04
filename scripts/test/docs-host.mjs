/*
 * Runs programs and commands of pages one after the other in one process, each in the folder of its page: most of what a
 * process of its own costs is loading the packages. A program has ended when nothing keeps the event loop going any more,
 * as in a process of its own; how many of them a process has run stays unknown to them.
 */
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

let printed = '';
let failure;

for (const stream of [process.stdout, process.stderr])
  stream.write = (piece, ...more) => {
    printed += typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8');
    more.findLast((one) => typeof one === 'function')?.();
    return true;
  };
process.on('uncaughtException', (error) => {
  failure ??= error;
});

process.on('message', async ({ folder, program, command }) => {
  printed = '';
  failure = undefined;
  process.exitCode = undefined;
  process.chdir(folder);
  const pipes = pipesOf(keeping());
  const code = await (program === undefined ? ended(command) : ran(program, pipes)).catch((error) => {
    failure ??= error;
  });
  if (failure !== undefined) printed += `${inspect(failure)}\n`;
  process.send({ printed, code: failure === undefined ? (code ?? process.exitCode ?? 0) : 1 });
});

/** Runs a program, until nothing of it is left. */
async function ran(program, pipes) {
  await import(pathToFileURL(program).href);
  for (let left = keeping(); failure === undefined && left.length > pipes; left = keeping())
    await new Promise((resolve) => setTimeout(resolve, 1));
  return undefined;
}

/** Runs the command of the packages. */
async function ended(args) {
  const { runCli } = await import('@reprise/cli');
  const write = async (text) => {
    printed += text;
  };
  const sink = { isTTY: false, columns: undefined, closed: false, write };
  return runCli(args, { out: sink, err: sink, interrupted: () => new AbortController().signal });
}

/** What keeps the event loop going, by name. */
function keeping() {
  return process.getActiveResourcesInfo();
}

function pipesOf(names) {
  return names.filter((name) => name === 'PipeWrap').length;
}
