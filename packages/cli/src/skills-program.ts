/** The verbs of `reprise skills`, with their options and their help. */
import type { Command } from 'commander';
import type { Io } from './process/io.js';
import type { RunVerb } from './process/run-verb.js';

const SKILLS_EXIT_HELP = `
Exit codes:
  0  listed, or no problem was found
  1  lint: a problem, or no skill at all
  2  wrong use: a folder that is not there`;

/** Adds `reprise skills` to the command. */
export function addSkills(program: Command, run: RunVerb, io: Io): void {
  const skills = program
    .command('skills')
    .description('list and check folders of skill files')
    .helpCommand(false)
    .addHelpText('after', SKILLS_EXIT_HELP);
  const verbs = [
    ['ls', 'list the skills of folders: state, source and digest'],
    ['lint', 'print each problem of the skills of folders, with its line and rule'],
  ] as const;
  for (const [name, description] of verbs)
    skills
      .command(name)
      .description(description)
      .argument('[folder...]', 'folders of skills, or folders that are one skill; `skills` when absent')
      .option('--json', 'print JSON')
      .addHelpText('after', SKILLS_EXIT_HELP)
      .action((folders: string[], options: { readonly json?: true }) =>
        run(options, async () => {
          const { showSkills, lintSkills } = await import('./verbs/skills.js');
          return (name === 'ls' ? showSkills : lintSkills)(io, folders, options);
        }),
      );
}
