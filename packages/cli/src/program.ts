/** The command line: verbs, options and their help. A verb is implemented in `verbs/`, and loaded when it is called. */

import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { addFleet } from './fleet-program.js';
import { addOperators } from './operators-program.js';
import { count, positive, several } from './process/arguments.js';
import { EXIT, EXIT_HELP, type ExitCode, exitCodeOf } from './process/exit.js';
import { reportFailure } from './process/failure.js';
import type { Io } from './process/io.js';
import { manifest } from './process/package.js';
import { type RunVerb, verb, verbRunner } from './process/run-verb.js';
import { addServe } from './serve-program.js';
import { addSkills } from './skills-program.js';
import { addSociety } from './society-program.js';
import { addTeam } from './team-program.js';
import { escapeText } from './text/escape.js';
import { addTree } from './tree-program.js';
import { isWorld } from './world/open.js';
import { withoutPassword } from './world/place.js';
import { parseDigest } from './world/target.js';

/**
 * Runs the command. Never rejects, never ends the process.
 *
 * @param given the arguments after `reprise` on the command line
 * @returns the exit code: 0 fine, 1 a finding, 2 wrong use, 3 cannot be read; of `tree`: see `reprise tree --help`
 * @example process.exitCode = await runCli(['verify', 'world.db'], io)
 */
export async function runCli(given: readonly string[], io: Io): Promise<number> {
  const args = given.map(withoutPassword);
  const run = new CommandLine(io);
  try {
    await run.program().parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) return run.fail(error, false);
    // Requested help is an answer; help after an error is a refusal.
    run.code = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (error.code === 'commander.unknownCommand') run.suggest(args[0]);
  }
  await run.flush();
  return run.code;
}

class CommandLine {
  code: number = EXIT.ok;
  /** Text that commander prints: it writes synchronously, so it is collected here and written later. */
  readonly #out: string[] = [];
  readonly #err: string[] = [];

  readonly #ended = (code: number): void => {
    this.code = code;
  };
  readonly #run: RunVerb;

  constructor(private readonly io: Io) {
    this.#run = verbRunner(io, this.#ended);
  }

  program(): Command {
    const program = new Command('reprise')
      .description(
        'Reads the worlds of Reprise: verifies them, prints their journal, shows what is in them, backs them up. Serves them to clients, runs trees and teams of agents, and checks skills.',
      )
      .version(manifest().version, '-V, --version', 'print the version')
      .helpCommand(false)
      .exitOverride()
      .configureOutput({ writeOut: (text) => this.#out.push(text), writeErr: (text) => this.#err.push(text) })
      .showHelpAfterError('See: reprise --help')
      .addHelpText('after', EXIT_HELP);
    this.#addVerify(program);
    this.#addLog(program);
    this.#addWhy(program);
    this.#addPrompt(program);
    this.#addTail(program);
    this.#addShow(program);
    addOperators(program, this.#run, this.io);
    this.#addRevive(program);
    this.#addCheck(program);
    this.#addBundle(program);
    this.#addBackup(program);
    this.#addMove(program);
    this.#addExplain(program);
    addServe(program, this.#run, this.io);
    addTree(program, this.io, this.#ended);
    addTeam(program, this.io, this.#ended);
    addSkills(program, this.#run, this.io);
    addSociety(program, this.#run, this.io);
    addFleet(program, this.#run, this.io);
    for (const command of program.commands) {
      command.showHelpAfterError(usageOf(command));
      for (const inner of command.commands) inner.showHelpAfterError(usageOf(inner, `${command.name()} `));
    }
    return program;
  }

  /** A world where a command is expected. */
  suggest(first: string | undefined): void {
    if (first !== undefined && isWorld(first))
      this.#err.push(`${first} is a world. To read it: reprise log ${first}\n`);
  }

  async flush(): Promise<void> {
    await this.io.out.write(this.#out.join(''));
    await this.io.err.write(escapeText(this.#err.join(''))); // it repeats words that were given
  }

  async fail(error: unknown, json: boolean): Promise<ExitCode> {
    await reportFailure(this.io, error, json).catch(() => undefined); // the error stream is closed: the error cannot be reported
    return exitCodeOf(error);
  }

  #addVerify(program: Command): void {
    verb(program, 'verify', 'replay a world and compare it byte by byte, or check its integrity only')
      .option('--app <module>', 'the app that wrote it: default export or export `app` of a module')
      .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
      .option(
        '--pure-code',
        'replay eras in a sandbox with the code stored in the file; this executes code from the file',
      )
      .option(
        '--requests <module>',
        'rebuild the requests of model calls and compare them: export `requests` of a module',
      )
      .option(
        '--integrity',
        'accept frames that no app at hand can replay: the chain, shapes, content and receipts are enough',
      )
      .option(
        '--expect <head>',
        'a head that must be in the journal: detects a journal that was cut or rolled back',
        digest,
      )
      .option('--thorough', 'replay every frame from bytes alone, and not one in 256; takes several times as long')
      .option('--workers <n>', 'threads that verify at once; 1 for none (default: one for each core)', positive)
      .action((world, options) =>
        this.#run(options, async () => (await import('./verbs/verify.js')).verify(this.io, world, options)),
      );
  }

  #addBundle(program: Command): void {
    program
      .command('bundle')
      .description('bundle the pure code of an app, to be recorded in its worlds')
      .argument('<module>', 'the module of the app: default export or export `app`')
      .requiredOption('-o, --out <file>', 'the file to write the code to')
      .option('-C, --conditions <name>', 'a condition for the `exports` of packages; may be repeated', several)
      .option('--json', 'print JSON')
      .addHelpText('after', EXIT_HELP)
      .action((module, options) =>
        this.#run(options, async () => (await import('./verbs/bundle.js')).bundle(this.io, module, options)),
      );
  }

  #addBackup(program: Command): void {
    verb(program, 'backup', 'copy a world, also while it is open, and verify the copy')
      .argument('<to>', 'the path of the copy; it must not exist')
      .action((world, to, options) =>
        this.#run(options, async () => (await import('./verbs/backup.js')).backup(this.io, world, to, options)),
      );
  }

  #addMove(program: Command): void {
    verb(program, 'move', 'move a world between a file and a database')
      .argument('<to>', 'the path of a new file, or postgres://HOST:PORT/DATABASE#WORLD')
      .action((world, to, options) =>
        this.#run(options, async () => (await import('./verbs/move.js')).move(this.io, world, to, options)),
      );
  }

  #addExplain(program: Command): void {
    program
      .command('explain')
      .description('print the meaning of an error code and what to do about it')
      .argument('[code]', 'the code before the colon of a message; without one, all codes are listed')
      .option('--json', 'print JSON')
      .action((code, options) =>
        this.#run(options, async () => (await import('./verbs/explain.js')).explain(this.io, code, options)),
      );
  }

  #addLog(program: Command): void {
    verb(program, 'log', 'print the history in words: who said what, which tool was called, how runs ended')
      .option('-s, --session <key>', 'only this session: its key, or the beginning of its key')
      .option('--from <seq>', 'begin at this frame', count)
      .option('-n <lines>', 'only the last lines', count)
      .option('-f, --follow', 'keep printing until Ctrl-C; another process may write the world')
      .option('--full', 'print every text in full')
      .action((world, options) =>
        this.#run(options, async () => (await import('./verbs/log.js')).log(this.io, world, options)),
      );
  }

  #addWhy(program: Command): void {
    verb(program, 'why', 'explain why a file has its content, why a call was made, or where a text comes from')
      .argument('<what>', 'a file that a call changed, a call id, a place (12.3), a digest, or a piece of text')
      .option('-s, --session <key>', 'only this session')
      .option('--file', 'the words are the path of a file')
      .option('--call', 'the words are the id of a call, or its beginning')
      .option('--text', 'the words are a piece of text')
      .action((world, what, options) =>
        this.#run(options, async () => (await import('./verbs/why.js')).why(this.io, world, what, options)),
      );
  }

  #addPrompt(program: Command): void {
    verb(program, 'prompt', 'print what a model call sent, part by part, and where each part came from')
      .argument('<call>', 'last, the place of the call or its answer (24.6), or 8 digits of its effect')
      .option('--as <form>', 'sent: the body as it was sent, when its digest is the recorded one')
      .option('--full', 'print every text in full')
      .action((world, call, options) =>
        this.#run(options, async () =>
          (await import('./verbs/prompt/prompt.js')).prompt(this.io, world, call, options),
        ),
      );
  }

  #addTail(program: Command): void {
    verb(program, 'tail', 'print the newest frames, one line for each record')
      .option('--from <seq>', 'begin at this frame', count)
      .option('-n <frames>', 'the number of frames (default: the last 20; with --from: all)', count)
      .option('-f, --follow', 'keep printing new frames until Ctrl-C')
      .action((world, options) =>
        this.#run(options, async () => (await import('./verbs/tail.js')).tail(this.io, world, options)),
      );
  }

  #addShow(program: Command): void {
    verb(program, 'show', 'show one thing in full')
      .argument(
        '<what>',
        'a frame (12), a record (12.3), a digest or an id, also its first 8 digits, or a cell (namespace/Reducer@1/key)',
      )
      .option('--at <seq>', 'the cell as it was after this frame', count)
      .option('--app <module>', 'the app that wrote the world, for cells')
      .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
      .option('--diff', 'the changes of each event of that frame in the cell, as patches, instead of its state')
      .option('--history', 'the records that concern the cell, instead of its state; needs no app')
      .action((world, what, options) =>
        this.#run(options, async () => (await import('./verbs/show.js')).show(this.io, world, what, options)),
      );
  }

  #addRevive(program: Command): void {
    verb(program, 'revive', 'bring a failed cell back with its state before the fault, after showing what goes on')
      .argument('<cell>', 'the address of the cell (namespace/Reducer@1/key), as reprise trouble prints it')
      .option('--yes', 'do not ask')
      .option('--as <principal>', 'the principal that revives it; the operator when absent')
      .option('--app <module>', 'the app that writes the world')
      .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
      .action((world, cell, options) =>
        this.#run(options, async () => (await import('./verbs/revive.js')).revive(this.io, world, cell, options)),
      );
  }

  #addCheck(program: Command): void {
    verb(program, 'check', 'report what would happen if another app opened a world; writes nothing')
      .requiredOption('--against <module>', 'the app to open it with')
      .option('--legacy <module>', 'an earlier app, as openWorld would get it; may be repeated', several)
      .action((world, options) =>
        this.#run(options, async () => (await import('./verbs/check.js')).check(this.io, world, options)),
      );
  }
}

/** How a command is used, behind a message about its arguments. */
function usageOf(command: Command, group = ''): string {
  const name = `${group}${command.name()}`;
  return `Usage: reprise ${name} ${command.usage()}\nSee: reprise ${name} --help`;
}

function digest(text: string): string {
  const hex = parseDigest(text);
  if (hex !== undefined) return hex;
  throw new InvalidArgumentError('Expected sha256: and 64 hex digits.');
}
