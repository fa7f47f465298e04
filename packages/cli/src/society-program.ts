/** The verbs of `reprise society`, with their options and their help. */
import type { Command } from 'commander';
import { EXIT_HELP } from './exit.js';
import type { Io } from './io.js';

/** Runs the body of a verb, and reports its error. */
type Do = (options: { readonly json?: true }, body: () => Promise<void>) => Promise<void>;

/** Adds `reprise society` to the command. @param ended receives the exit code */
export function addSociety(program: Command, run: Do, io: Io, ended: (code: number) => void): void {
  const society = program
    .command('society')
    .description('look at the society of a world: its agents, their keys and their rights')
    .helpCommand(false)
    .addHelpText('after', EXIT_HELP);
  society
    .command('audit')
    .description(
      'check keys, proofs, rights, hot contexts and statuses of all agents again; needs no key and no network',
    )
    .argument('<world>', 'the world’s file')
    .option('--json', 'print JSON: the whole report')
    .addHelpText('after', EXIT_HELP)
    .action((world: string, options: { readonly json?: true }) =>
      run(options, async () => {
        const { audit } = await import('./verbs/society/audit.js');
        ended(await audit(io, world, options));
      }),
    );
}
