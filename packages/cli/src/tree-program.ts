/** The verbs of `reprise tree`, with their options and their help. */
import type { Command } from 'commander';
import { count, dollars, positive, price } from './process/arguments.js';
import type { Io } from './process/io.js';
import { type RunVerb, verbRunner } from './process/run-verb.js';
import type { ActVerb } from './tree/act.js';
import { exitOfError, TREE_EXIT_HELP } from './tree/exit.js';
import { WORLD_DEFAULT } from './tree/target.js';
import type { ActOptions } from './verbs/tree/act.js';

/** Adds `reprise tree` to the command. @param ended receives the exit code */
export function addTree(program: Command, io: Io, ended: (code: number) => void): void {
  const tree = program
    .command('tree')
    .description('run a tree of agents, watch it, and act on it: from a terminal, a script, or another process')
    .helpCommand(false)
    .addHelpText('after', TREE_EXIT_HELP);
  const verbs = new TreeVerbs(tree, io, verbRunner(io, ended, exitOfError));
  verbs.addRun();
  verbs.addContinue();
  verbs.addShow();
  verbs.addWatch();
  verbs.addActs();
  verbs.addReport();
}

class TreeVerbs {
  constructor(
    private readonly tree: Command,
    private readonly io: Io,
    private readonly run: RunVerb,
  ) {}

  addRun(): void {
    this.#verb('run', 'start a tree, and run it until it ends')
      .argument(
        '<goal>',
        'what the tree is to do, in quotes; or a text file: its first line is the goal, all of it the task',
      )
      .option('--name <tree>', 'the name of the tree; the first words of the goal when absent')
      .option('--folder <folder>', 'the folder that the agents read', '.')
      .option('--model <name>', 'a model; `rules`, written rules that need no key and no network, when absent')
      .option('--base-url <url>', 'the address of a service that is compatible with the API of OpenAI')
      .option('--price <in,out>', 'the price of the model in dollars per million tokens', price)
      .option('--agent <name>', 'worker, opencode, codex or claude', 'worker')
      .option('--budget <usd>', 'dollars for each node', dollars)
      .option('--tree-budget <usd>', 'dollars for all nodes together', dollars)
      .option('--parallel <n>', 'the nodes that run at once', positive)
      .option('--returns <type>', 'the type of the result: text, boolean, list, structured or file', 'text')
      .option('--asks <how>', 'questions to people: human, default (each takes its default) or fail', 'human')
      .option('--print-token', 'print a token on the error stream, with which scripts act on the tree')
      .option('--plain', 'lines of text, also on a terminal')
      .action((goal: string, options) =>
        this.run(options, async () => {
          const { runTree } = await import('./verbs/tree/run.js');
          return runTree(this.io, goal, options);
        }),
      );
  }

  addContinue(): void {
    this.#verb('continue', 'go on with a tree: after Ctrl-C, a crash, a reboot, or a spent budget')
      .argument('[tree]', 'the tree; the newest one when absent')
      .option('--tree-budget <usd>', 'dollars for all nodes together, from now on', dollars)
      .option('--print-token', 'print a token on the error stream, with which scripts act on the tree')
      .option('--plain', 'lines of text, also on a terminal')
      .action((name: string | undefined, options) =>
        this.run(options, async () => {
          const { continueTree } = await import('./verbs/tree/run.js');
          return continueTree(this.io, name, options);
        }),
      );
  }

  addActs(): void {
    const acts: readonly (readonly [ActVerb, string, text?: readonly [string, string]])[] = [
      ['answer', 'answer an open question', ['value', 'one of the options or its number, yes or no, or a text']],
      ['stop', 'stop a node and all below it'],
      ['pause', 'pause a node: nothing below it begins'],
      ['resume', 'let a paused node go on'],
      ['retry', 'try an ended node again'],
      ['add', 'add a child to a node', ['goal', 'what the child is to do']],
      ['tell', 'tell a node something: before its next step, or in its next prompt', ['text', 'the words']],
    ];
    for (const [verb, description, text] of acts) {
      const command = this.#verb(verb, description).argument('<node>', "the node: '#4', or 4, or 'survey/#4'");
      if (text !== undefined) command.argument(`<${text[0]}>`, text[1]);
      if (verb === 'retry') {
        command.option('--agent <name>', 'by another agent of the tree, in a new session');
        command.option('--fresh', 'in a new session, which knows nothing of the earlier one');
        command.option('--budget <usd>', 'what the node may use, in dollars', dollars);
      }
      command
        .option('--as <principal>', 'who acts, as human:ann')
        .option('--program <name>', 'the program that acts, with the rights of --as: the act is not signed as a person')
        .option('--token-file <file>', 'without a terminal: the token of the process that runs the tree; - reads it')
        .option('--id <id>', 'the id of the act: repeated with it, the act is done once')
        .action((node: string, second: unknown, third?: unknown) => {
          const options = (text === undefined ? second : third) as ActOptions;
          return this.run(options, async () => {
            const { actOn } = await import('./verbs/tree/act.js');
            return actOn(this.io, verb, node, text === undefined ? undefined : String(second), options);
          });
        });
    }
  }

  addShow(): void {
    this.#verb('show', 'print the picture of a tree, one node in full, or a line for each tree')
      .argument('[what...]', "a tree, a node ('#4', or 4), or both ('survey/#4'); the newest tree when absent")
      .option('--all', 'one line for each tree of the world')
      .option('--at <frame>', 'as it was after this frame', count)
      .action((what: string[], options) =>
        this.run(options, async () => {
          const { showTree } = await import('./verbs/tree/show.js');
          return showTree(this.io, what, options);
        }),
      );
  }

  addWatch(): void {
    this.#verb('watch', 'follow a tree that another process runs, until it ends or you leave with Ctrl-C')
      .argument('[tree]', 'the tree; the newest one when absent')
      .option('--at <frame>', 'begin with the tree as it was after this frame', count)
      .option('--as <principal>', 'who acts when keys are pressed, as human:ann')
      .option('--token-file <file>', 'the token of the process that runs the tree')
      .option('--plain', 'lines of text, also on a terminal')
      .action((name: string | undefined, options) =>
        this.run(options, async () => {
          const { watchTree } = await import('./verbs/tree/watch.js');
          return watchTree(this.io, name, options);
        }),
      );
  }

  addReport(): void {
    this.#verb('report', 'print the result, the failures, the questions and the cost of each node, as Markdown')
      .argument('[tree]', 'the tree; the newest one when absent')
      .action((name: string | undefined, options) =>
        this.run(options, async () => {
          const { reportTree } = await import('./verbs/tree/report.js');
          return reportTree(this.io, name, options);
        }),
      );
  }

  #verb(name: string, description: string): Command {
    return this.tree
      .command(name)
      .description(description)
      .option('--world <file>', 'the world’s file, or to read it postgres://HOST:PORT/DATABASE#WORLD', WORLD_DEFAULT)
      .option('--json', 'print JSON')
      .addHelpText('after', TREE_EXIT_HELP);
  }
}
