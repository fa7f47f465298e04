import { EXIT } from './exit.js';
import { reportFailure } from './failure.js';
import { type Io, streamSink } from './io.js';
import { runCli } from './program.js';

/** Runs this process as the command: its arguments, its streams, its exit code. Does not return. */
export async function runProcess(): Promise<never> {
  quietSqliteWarning();
  const io: Io = { out: streamSink(process.stdout), err: streamSink(process.stderr), interrupted };
  // Such as a promise that a module loaded as an app forgot: Node would end with 1, which here is a finding.
  process.on('uncaughtException', (error) => {
    void reportFailure(io, error, false).finally(() => process.exit(EXIT.unreadable));
  });
  // What was written is handed on by now, and a module loaded as an app may keep the process alive for ever.
  process.exit(await runCli(process.argv.slice(2), io));
}

function interrupted(): AbortSignal {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()); // once: a second Ctrl-C ends the process as usual
  return stop.signal;
}

/** Node 22 calls its SQLite experimental each time; to who runs this command that says nothing. */
function quietSqliteWarning(): void {
  const [print] = process.listeners('warning');
  if (print === undefined) return;
  process.off('warning', print);
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning' || !/sqlite/i.test(warning.message)) print(warning);
  });
}
