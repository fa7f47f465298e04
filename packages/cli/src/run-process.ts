import { writeSync } from 'node:fs';
import { RepriseError } from '@reprise/contracts';
import { EXIT } from './exit.js';
import { failureText, reportFailure } from './failure.js';
import { type Io, streamSink } from './io.js';
import { runCli } from './program.js';

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
  const args = process.argv.slice(2);
  const json = args.includes('--json');
  const done = watchModules(json);
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
 * Reports when a module that was loaded ends the process, or never finishes loading. Without this the command would end in
 * silence, and with the module's exit code, which may be 0.
 *
 * @returns called when the command has its result
 */
function watchModules(json: boolean): () => void {
  const report = (what: string, hint: string, actual?: string): void => {
    const error = new RepriseError('invalid_argument', what, { hint, ...(actual === undefined ? {} : { actual }) });
    writeSync(json ? 1 : 2, failureText(error, json));
  };
  const hint = 'Name a module that only exports the app, and starts nothing.';
  const exits = (code: number): void => {
    report('a module ended the process before the command had its result', hint, `process.exit(${code})`);
    process.exitCode = EXIT.usage;
  };
  const stalls = (): void => {
    process.off('exit', exits);
    report('a module never finishes loading: its top-level await waits for ever', hint);
    process.exit(EXIT.usage);
  };
  process.once('exit', exits).once('beforeExit', stalls);
  return () => void process.off('exit', exits).off('beforeExit', stalls);
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
