/** Processes that run programs and commands of many pages, each one after the other: see `docs-host.mjs`. */
import { type ChildProcess, fork } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import path from 'node:path';

/** How a program or a command ended. */
export interface Ended {
  readonly printed: string;
  readonly code: number | null;
}

/** What is run in the folder of a page: a program by its file, or the command of the packages by its arguments. */
export type Run = { readonly folder: string } & (
  | { readonly program: string }
  | { readonly command: readonly string[] }
);

const SOURCE = path.join(import.meta.dirname, 'docs-host.mjs');

/** So many programs run at once at most. */
const SIZE = 2;

/** Some processes in a folder in which the packages are installed. */
export class Hosts {
  readonly #free: ChildProcess[] = [];
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(private readonly app: string) {}

  /** Runs a program or a command, when one of the processes is free. */
  async run(what: Run): Promise<Ended> {
    if (this.#running >= SIZE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    const host = this.#free.pop() ?? this.#start();
    try {
      return await endOf(host, what);
    } finally {
      if (host.connected) this.#free.push(host);
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  /** Ends the processes; nothing runs any more. */
  end(): void {
    for (const host of this.#free.splice(0)) host.kill();
  }

  /** The host stands beside the packages, so that it finds those that the programs find. */
  #start(): ChildProcess {
    const file = path.join(this.app, 'host.mjs');
    copyFileSync(SOURCE, file);
    const env = { ...process.env, NODE_ENV: undefined, NO_COLOR: '1', FORCE_COLOR: undefined };
    return fork(file, { cwd: this.app, env, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  }
}

function endOf(host: ChildProcess, what: Run): Promise<Ended> {
  return new Promise((resolve) => {
    const died = (code: number | null) =>
      resolve({ printed: 'the program ended the process that it shares\n', code: code ?? 1 });
    host.once('exit', died);
    host.once('message', (ended) => {
      host.off('exit', died);
      resolve(ended as Ended);
    });
    host.send(what);
  });
}
