/** The command line: verbs, options and their help. What a verb does stands in `verbs/`. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { EXIT, EXIT_HELP, type ExitCode, exitCodeOf } from './exit.js';
import { reportFailure } from './failure.js';
import type { Io } from './io.js';
import { parseDigest } from './target.js';
import { backup } from './verbs/backup.js';
import { bundle } from './verbs/bundle.js';
import { check } from './verbs/check.js';
import { explain } from './verbs/explain.js';
import { show } from './verbs/show.js';
import { tail } from './verbs/tail.js';
import { verify } from './verbs/verify.js';

/**
 * Runs the command. Never rejects, never ends the process.
 *
 * @param args what stands after `reprise` on the command line
 * @returns the exit code: 0 fine, 1 a finding, 2 wrong use, 3 cannot be read
 * @example process.exitCode = await runCli(['verify', 'world.db'], io)
 */
export async function runCli(args: readonly string[], io: Io): Promise<ExitCode> {
  const run = new CommandLine(io);
  try {
    await run.program().parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) return run.fail(error, false);
    // Help that was asked for is an answer; help that was not is a refusal.
    run.code = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  await run.flush();
  return run.code;
}

class CommandLine {
  code: ExitCode = EXIT.ok;
  /** What commander prints; it knows no waiting. */
  readonly #out: string[] = [];
  readonly #err: string[] = [];

  constructor(private readonly io: Io) {}

  program(): Command {
    const program = new Command('reprise')
      .description(
        'Reads the worlds of Reprise: verifies them, prints their journal, shows what is in them, backs them up.',
      )
      .version(version(), '-V, --version', 'print the version')
      .helpCommand(false)
      .exitOverride()
      .configureOutput({ writeOut: (text) => this.#out.push(text), writeErr: (text) => this.#err.push(text) })
      .showHelpAfterError('(see reprise --help)')
      .addHelpText('after', EXIT_HELP);
    this.#addVerify(program);
    this.#addTail(program);
    this.#addShow(program);
    this.#addCheck(program);
    this.#addBundle(program);
    this.#addBackup(program);
    this.#addExplain(program);
    return program;
  }

  async flush(): Promise<void> {
    await this.io.out.write(this.#out.join(''));
    await this.io.err.write(this.#err.join(''));
  }

  async fail(error: unknown, json: boolean): Promise<ExitCode> {
    await reportFailure(this.io, error, json).catch(() => undefined); // nobody is left to be told
    return exitCodeOf(error);
  }

  #addVerify(program: Command): void {
    verb(program, 'verify', 'replay a world and compare it in bytes, or check that nobody changed it')
      .option('--app <module>', 'the app that wrote it: default export or export `app` of a module')
      .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
      .option(
        '--pure-code',
        'replay eras with the code that the file carries, in a sandbox; it runs what is in the file',
      )
      .option('--requests <module>', 'make the requests of model calls again: export `requests` of a module')
      .option('--no-unverified', 'make it a finding when there is anything that no app at hand can replay')
      .option('--expect <head>', 'a head that must be in the journal: finds a cut or rolled back one', digest)
      .action((world, options) => this.#do(options, () => verify(this.io, world, options)));
  }

  #addBundle(program: Command): void {
    program
      .command('bundle')
      .description('make the pure code of an app, to be recorded in its worlds')
      .argument('<module>', 'the module of the app: default export or export `app`')
      .requiredOption('-o, --out <file>', 'where the code is written')
      .option(
        '-C, --conditions <name>',
        'a condition by which packages choose what they export; may be repeated',
        several,
      )
      .option('--json', 'print JSON')
      .addHelpText('after', EXIT_HELP)
      .action((module, options) => this.#do(options, () => bundle(this.io, module, options)));
  }

  #addBackup(program: Command): void {
    verb(program, 'backup', 'copy a world, which may be open, and verify the copy')
      .argument('<to>', 'the path of the copy; nothing may be there')
      .action((world, to, options) => this.#do(options, () => backup(this.io, world, to, options)));
  }

  #addExplain(program: Command): void {
    program
      .command('explain')
      .description('print what an error code means and what to do about it')
      .argument('[code]', 'the code before the colon of a message; without one, all codes are listed')
      .option('--json', 'print JSON')
      .action((code, options) => this.#do(options, () => explain(this.io, code, options)));
  }

  #addTail(program: Command): void {
    verb(program, 'tail', 'print the newest frames, one line for each record')
      .option('--from <seq>', 'begin at this frame', count)
      .option('-n <frames>', 'so many frames (default: the last 20; with --from: all)', count)
      .option('-f, --follow', 'go on with new frames until Ctrl-C')
      .action((world, options) => this.#do(options, () => tail(this.io, world, options)));
  }

  #addShow(program: Command): void {
    verb(program, 'show', 'show one thing in full')
      .argument('<what>', 'a frame (12), a record (12.3), a digest (sha256:…) or a cell (namespace/Reducer@1/key)')
      .option('--at <seq>', 'the cell as it was after this frame', count)
      .option('--app <module>', 'the app that wrote the world, for cells')
      .option('--legacy <module>', 'an earlier app, for earlier eras; may be repeated', several)
      .option('--diff', 'what each event of that frame changed in the cell, as patches, instead of its state')
      .option('--history', 'the records that concern the cell, instead of its state; needs no app')
      .action((world, what, options) => this.#do(options, () => show(this.io, world, what, options)));
  }

  #addCheck(program: Command): void {
    verb(program, 'check', 'tell what opening a world with another app would do, and write nothing')
      .requiredOption('--against <module>', 'the app to open it with')
      .option('--legacy <module>', 'an earlier app, as it would be opened with; may be repeated', several)
      .action((world, options) =>
        this.#do(options, async () => {
          this.code = await check(this.io, world, options);
        }),
      );
  }

  async #do(options: { readonly json?: true }, body: () => Promise<void>): Promise<void> {
    try {
      await body();
    } catch (error) {
      this.code = await this.fail(error, options.json === true);
    }
  }
}

function verb(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .argument('<world>', 'the world’s file')
    .option('--json', 'print JSON')
    .addHelpText('after', EXIT_HELP);
}

function count(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is not a whole number from 0.');
}

function several(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

function digest(text: string): string {
  const hex = parseDigest(text);
  if (hex !== undefined) return hex;
  throw new InvalidArgumentError('It is not sha256: and 64 hex digits.');
}

/** Of the package: `package.json` stands one level above the sources and above what is built of them. */
function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
