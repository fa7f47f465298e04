/** The verbs of `reprise team`, with their options and their help. */
import type { Command } from 'commander';
import { dollars, positive, price, several } from './process/arguments.js';
import type { Io } from './process/io.js';
import { verbRunner } from './process/run-verb.js';
import { TEAM_EXIT_HELP } from './team/exit.js';
import { exitOfError } from './tree/exit.js';

/** The file of a world when none is named. */
const WORLD_DEFAULT = '.reprise/team.db';

/** Adds `reprise team` to the command. @param ended receives the exit code */
export function addTeam(program: Command, io: Io, ended: (code: number) => void): void {
  const team = program
    .command('team')
    .description('run a team of specialists, and look at its tasks, results and memories')
    .helpCommand(false)
    .addHelpText('after', TEAM_EXIT_HELP);
  const run = verbRunner(io, ended, exitOfError);
  const runVerb = verb(
    team,
    'run',
    'send a message to the coordinator of a project, and run the team until it has no work left',
  ).argument('<message>', 'what the team is to do, in quotes; or a text file');
  runOptions(runVerb)
    .option('--budget <usd>', 'dollars for the project', dollars)
    .option('--again', 'send the message although it was sent before')
    .action((message: string, options) =>
      run(options, async () => (await import('./verbs/team/run.js')).runTeam(io, message, options)),
    );
  runOptions(verb(team, 'continue', 'go on with a project: after Ctrl-C, a crash, or what it waited for'))
    .option('--budget <usd>', 'dollars for the project, from now on', dollars)
    .action((options) => run(options, async () => (await import('./verbs/team/run.js')).continueTeam(io, options)));
  verb(team, 'show', 'print tasks, graph, results, one result, the narrative or the memories')
    .argument('[what...]', 'tasks (default), graph, results, result N, narrative or memories')
    .action((what: string[], options) =>
      run(options, async () => (await import('./verbs/team/show.js')).showTeam(io, what, options)),
    );
  verb(team, 'why', 'print the chain from a memory to the words of the user')
    .argument('<memory>', 'the number of a memory')
    .action((memory: string, options) =>
      run(options, async () => (await import('./verbs/team/why.js')).whyTeam(io, memory, options)),
    );
}

function verb(team: Command, name: string, description: string): Command {
  return team
    .command(name)
    .description(description)
    .option('--world <file>', 'the world’s file, or postgres://HOST:PORT/DATABASE#WORLD', WORLD_DEFAULT)
    .option('--project <id>', 'the project; the only one of the world when absent')
    .option('--json', 'print JSON')
    .addHelpText('after', TEAM_EXIT_HELP);
}

/** The options of the verbs that run a team. */
function runOptions(command: Command): Command {
  return command
    .option(
      '--skills <folder>',
      'a folder of skills; may be repeated. `skills` when it is there, else built-in ones',
      several,
    )
    .option('--planner <skill>', 'a skill that may write plans; may be repeated (default: planner)', several)
    .option('--folder <folder>', 'the folder that specialists read', '.')
    .option('--model <name>', 'a model; `rules`, written rules that need no key and no network, when absent')
    .option('--base-url <url>', 'the address of a service that is compatible with the API of OpenAI')
    .option('--price <in,out>', 'the price of the model in dollars per million tokens', price)
    .option('--dispatch <how>', '`auto`: tasks that are ready are started without the coordinator')
    .option('--max <n>', 'the specialists that work at once (default: 3)', positive)
    .option('--plain', 'lines of text, also on a terminal');
}
