/** Runs the verbs of the command, one like the other. */
import type { Command } from 'commander';
import { EXIT, EXIT_HELP, exitCodeOf } from './exit.js';
import { reportFailure } from './failure.js';
import type { Io } from './io.js';

/** Runs the body of a verb. The body may return an exit code; without one, the verb succeeded. */
export type RunVerb = (options: { readonly json?: true }, body: () => Promise<number> | Promise<void>) => Promise<void>;

/**
 * How verbs are run: an error of one is reported, in the form that its options ask for.
 *
 * @param ended receives the exit code
 * @param exitOf the exit code for an error
 */
export function verbRunner(
  io: Io,
  ended: (code: number) => void,
  exitOf: (error: unknown) => number = exitCodeOf,
): RunVerb {
  return async ({ json }, body) => {
    try {
      const code = await body();
      ended(typeof code === 'number' ? code : EXIT.ok);
    } catch (error) {
      await reportFailure(io, error, json === true).catch(() => undefined); // the stream is closed: the error cannot be reported
      ended(exitOf(error));
    }
  };
}

/** Adds a verb that reads one world. */
export function verb(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .argument('<world>', 'the world’s file, or postgres://HOST:PORT/DATABASE#WORLD')
    .option('--json', 'print JSON')
    .addHelpText('after', EXIT_HELP);
}
