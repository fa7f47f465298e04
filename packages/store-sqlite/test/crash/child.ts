/** A process that a test starts, reads line by line, stops, wakes and kills. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A process takes about half a second on a machine that does nothing else. */
export const HANG_MS = 60_000;

/** Between two calls to wake up. */
const WAKE_MS = 100;

/** The end of a process. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It was still there after {@link HANG_MS}, and was killed for that. */
  readonly hung: boolean;
  readonly complaints: string;
}

/** A process under way. */
export interface Child {
  /** Resolves when it is gone and all its lines are read. */
  readonly exit: Promise<Exit>;
  signal(signal: NodeJS.Signals): void;
  /** Wakes it after it has stopped. */
  wake(): void;
}

/** Starts a process; `hear` gets its output, line by line. */
export function startChild(command: string, args: readonly string[], hear: (line: string) => void): Child {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.on('data', (piece: Buffer) => {
    complaints += piece.toString();
  });
  let hung = false;
  const patience = setTimeout(() => {
    hung = true;
    child.kill('SIGKILL');
  }, HANG_MS);
  const gone = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const read = (async () => {
    for await (const line of createInterface({ input: child.stdout })) hear(line);
  })();
  const exit = Promise.all([gone, read])
    .then(([[code, signal]]): Exit => ({ code, signal, hung, complaints }))
    .finally(() => {
      clearTimeout(patience);
      child.kill('SIGKILL'); // the caller stopped waiting: end the child at once
    });
  // It announces the stop first: a process that is woken in between, once, would sleep for ever.
  const wake = (): void => {
    const calls = setInterval(() => child.kill('SIGCONT'), WAKE_MS);
    child.kill('SIGCONT');
    void gone.then(() => clearInterval(calls));
  };
  return { exit, signal: (signal) => void child.kill(signal), wake };
}
