import { EXIT } from './exit.js';
import { reportFailure } from './failure.js';
import { type Io, streamSink } from './io.js';
import { runCli } from './program.js';

/** Runs this process as the command: its arguments, its streams, its exit code. Does not return. */
export async function runProcess(): Promise<never> {
  quietSqliteWarning();
  const io: Io = { out: streamSink(process.stdout), err: streamSink(process.stderr), interrupted };
  // For example a rejected promise in a module loaded as an app: Node would exit with 1, which means a finding here.
  process.on('uncaughtException', (error) => {
    void reportFailure(io, error, false).finally(() => process.exit(EXIT.unreadable));
  });
  // All output is flushed by now, and a module loaded as an app may keep the process alive for ever.
  process.exit(await runCli(process.argv.slice(2), io));
}

function interrupted(): AbortSignal {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()); // once: a second Ctrl-C ends the process as usual
  return stop.signal;
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
