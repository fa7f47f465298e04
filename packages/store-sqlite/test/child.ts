import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { program } from '../../../scripts/lib/program.js';

/** Another process that runs a file of this folder, and its lines as they come. */
export interface Child {
  readonly lines: AsyncIterator<string>;
  signal(signal: NodeJS.Signals): void;
  /** Kills it as `kill -9` does, and resolves with the lines that nobody has read yet, when it is gone. */
  kill(): Promise<string[]>;
}

/** Starts a file of this folder. */
export async function startChild(file: string, ...args: readonly string[]): Promise<Child> {
  const options = ['--no-warnings', await program(new URL(file, import.meta.url)), ...args];
  const process_: ChildProcess = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(process_, 'exit');
  const input = process_.stdout;
  if (input === null) throw new Error('no pipe');
  const lines = createInterface({ input })[Symbol.asyncIterator]();
  return {
    lines,
    signal: (signal) => void process_.kill(signal),
    kill: async () => {
      process_.kill('SIGKILL');
      await exited;
      const rest: string[] = [];
      for (let next = await lines.next(); next.done !== true; next = await lines.next()) rest.push(next.value);
      return rest;
    },
  };
}
