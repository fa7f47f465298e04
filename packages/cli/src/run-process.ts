import { writeSync } from 'node:fs';
import { RepriseError } from '@reprise/contracts';
import { EXIT } from './process/exit.js';
import { failureText, reportFailure } from './process/failure.js';
import { type Io, streamSink } from './process/io.js';
import { runCli } from './program.js';
import { TREE_EXIT } from './tree/exit.js';
import { modulesLoading } from './world/loading.js';
import { withoutPassword } from './world/place.js';

/** Runs this process as the command: its arguments, its streams, its exit code. Does not return. */
export async function runProcess(): Promise<never> {
  quietSqliteWarning();
  const { stdin: input, stdout: output } = process;
  const io: Io = {
    out: streamSink(output),
    err: streamSink(process.stderr),
    interrupted,
    onSignal,
    ...(input.isTTY === true && output.isTTY === true ? { terminal: { input, output } } : {}),
  };
  const args = process.argv.slice(2).map(withoutPassword);
  const json = args.includes('--json');
  const done = watchModules(args);
  // For example a rejected promise in a module loaded as an app: Node would exit with 1, which means a finding here.
  process.on('uncaughtException', (error) => {
    void reportFailure(io, error, json).finally(() => {
      done();
      process.exit(EXIT.unreadable);
    });
  });
  const code = await runCli(args, io);
  done();
  // All output is flushed by now, and a module loaded as an app may keep the process alive for ever.
  process.exit(code);
}

/**
 * Reports when the process ends before the command has its result: a module that was loaded ended it, or never finishes
 * loading, or nothing is left that the command waits for. Without this the command would end in silence, and with the module's
 * exit code, which may be 0.
 *
 * @returns called when the command has its result
 */
function watchModules(args: readonly string[]): () => void {
  const json = args.includes('--json');
  const print = (error: RepriseError): void => void writeSync(json ? 1 : 2, failureText(error, json));
  const hint = 'Name a module that only exports the app, and starts nothing.';
  const exits = (code: number): void => {
    const actual = `process.exit(${code})`;
    print(
      new RepriseError('invalid_argument', 'a module ended the process before the command had its result', {
        ...{ hint, actual },
      }),
    );
    process.exitCode = EXIT.usage;
  };
  const stalls = (): void => {
    process.off('exit', exits);
    const [module] = modulesLoading();
    print(module === undefined ? stopped(args) : neverLoads(module, hint));
    process.exit(module === undefined ? unreadableOf(args) : EXIT.usage);
  };
  process.once('exit', exits).once('beforeExit', stalls);
  return () => void process.off('exit', exits).off('beforeExit', stalls);
}

function neverLoads(module: string, hint: string): RepriseError {
  return new RepriseError('invalid_argument', 'a module never finishes loading: its top-level await waits for ever', {
    where: module,
    hint,
  });
}

/** The event loop is empty, and no module is being loaded: a defect of this program. */
function stopped(args: readonly string[]): RepriseError {
  return new RepriseError('internal_error', 'the command stopped without a result: nothing is left that it waits for', {
    where: ['reprise', ...args.slice(0, 2)].join(' '),
    hint: 'The world is whole, and the same command goes on. Please report it.',
  });
}

/** Trees and teams have exit codes of their own. */
function unreadableOf([verb]: readonly string[]): number {
  return verb === 'tree' || verb === 'team' ? TREE_EXIT.unreadable : EXIT.unreadable;
}

function interrupted(): AbortSignal {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()); // once: a second Ctrl-C ends the process as usual
  return stop.signal;
}

function onSignal(hear: (signal: 'SIGINT' | 'SIGTERM') => void): () => void {
  const interrupt = (): void => hear('SIGINT');
  const end = (): void => hear('SIGTERM');
  process.on('SIGINT', interrupt).on('SIGTERM', end);
  return () => void process.off('SIGINT', interrupt).off('SIGTERM', end);
}

/** Hides Node 22's warning that its SQLite is experimental: the user of this command cannot act on it. */
function quietSqliteWarning(): void {
  const [print] = process.listeners('warning');
  if (print === undefined) return;
  process.off('warning', print);
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning' || !/sqlite/i.test(warning.message)) print(warning);
  });
}
