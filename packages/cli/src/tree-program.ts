/** The verbs of `reprise tree`, with their options and their help. */
import { type Command, InvalidArgumentError } from 'commander';
import { reportFailure } from './failure.js';
import type { Io } from './io.js';
import { exitOfError, TREE_EXIT_HELP, type TreeExitCode } from './tree/exit.js';
import { WORLD_DEFAULT } from './tree/target.js';

/** Adds `reprise tree` to the command. @param ended receives the exit code */
export function addTree(program: Command, io: Io, ended: (code: TreeExitCode) => void): void {
  const tree = program
    .command('tree')
    .description('run a tree of agents, watch it, and act on it: from a terminal, a script, or another process')
    .helpCommand(false)
    .addHelpText('after', TREE_EXIT_HELP);
  const verbs = new TreeVerbs(tree, io, ended);
  verbs.addShow();
  verbs.addWatch();
  verbs.addReport();
}

class TreeVerbs {
  constructor(
    private readonly tree: Command,
    private readonly io: Io,
    private readonly ended: (code: TreeExitCode) => void,
  ) {}

  addShow(): void {
    this.#verb('show', 'print the picture of a tree, one node in full, or a line for each tree')
      .argument('[what...]', "a tree, a node ('#4', or 4), or both ('survey/#4'); the newest tree when absent")
      .option('--all', 'one line for each tree of the world')
      .option('--at <frame>', 'as it was after this frame', count)
      .action((what: string[], options) =>
        this.#do(options, async () => {
          const { showTree } = await import('./verbs/tree/show.js');
          return showTree(this.io, what, options);
        }),
      );
  }

  addWatch(): void {
    this.#verb('watch', 'follow a tree that another process runs, until it ends or you leave with Ctrl-C')
      .argument('[tree]', 'the tree; the newest one when absent')
      .option('--plain', 'lines of text, also on a terminal')
      .action((name: string | undefined, options) =>
        this.#do(options, async () => {
          const { watchTree } = await import('./verbs/tree/watch.js');
          return watchTree(this.io, name, options);
        }),
      );
  }

  addReport(): void {
    this.#verb('report', 'print the result, the failures, the questions and the cost of each node, as Markdown')
      .argument('[tree]', 'the tree; the newest one when absent')
      .action((name: string | undefined, options) =>
        this.#do(options, async () => {
          const { reportTree } = await import('./verbs/tree/report.js');
          return reportTree(this.io, name, options);
        }),
      );
  }

  #verb(name: string, description: string): Command {
    return this.tree
      .command(name)
      .description(description)
      .option('--world <file>', 'the world’s file', WORLD_DEFAULT)
      .option('--json', 'print JSON')
      .addHelpText('after', TREE_EXIT_HELP);
  }

  async #do(options: { readonly json?: true }, body: () => Promise<TreeExitCode>): Promise<void> {
    try {
      this.ended(await body());
    } catch (error) {
      await reportFailure(this.io, error, options.json === true).catch(() => undefined); // the stream is closed
      this.ended(exitOfError(error));
    }
  }
}

/** A whole number, 0 or more. */
function count(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number, 0 or more.');
}
