/** The verbs of `reprise society`, with their options and their help. */
import type { Command } from 'commander';
import { count, several } from './process/arguments.js';
import { EXIT_HELP } from './process/exit.js';
import type { Io } from './process/io.js';
import type { RunVerb } from './process/run-verb.js';

/** Adds `reprise society` to the command. */
export function addSociety(program: Command, run: RunVerb, io: Io): void {
  const society = program
    .command('society')
    .description('look at the society of a world: its agents, their keys and their rights')
    .helpCommand(false)
    .addHelpText('after', EXIT_HELP);
  society
    .command('show')
    .description('print the people and agents of a world, its groups, swarms and trust, by their names')
    .argument('<world>', 'the world’s file')
    .option('--at <seq>', 'as it was after this frame', count)
    .option('--app <module>', 'the app that wrote the world')
    .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
    .option('--json', 'print JSON')
    .addHelpText('after', EXIT_HELP)
    .action((world: string, options: { readonly json?: true }) =>
      run(options, async () => {
        const { showSociety } = await import('./verbs/society/show.js');
        return showSociety(io, world, options);
      }),
    );
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
        return audit(io, world, options);
      }),
    );
}
