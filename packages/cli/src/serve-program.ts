/** The verb `reprise serve`, with its options and its help. */
import { type Command, InvalidArgumentError } from 'commander';
import { count } from './process/arguments.js';
import { EXIT_HELP } from './process/exit.js';
import type { Io } from './process/io.js';
import type { RunVerb } from './process/run-verb.js';
import type { ServeOptions } from './verbs/serve.js';

/** Adds `reprise serve` to the command. */
export function addServe(program: Command, run: RunVerb, io: Io): void {
  program
    .command('serve')
    .description(
      'serve a world: to clients of the Model Context Protocol, on standard input and output or over HTTP, and its sessions over HTTP and AG-UI',
    )
    .argument('<world>', 'the world’s file, or postgres://HOST:PORT/DATABASE#WORLD')
    .option('--mcp', 'serve the Model Context Protocol, at /mcp')
    .option('--sessions', 'serve the sessions of each client’s person, at /v1; needs --http')
    .option('--ag-ui', 'serve AG-UI to each client’s person, at /ag-ui; needs --http')
    .option('--http <port>', 'serve http://127.0.0.1:PORT to clients with tokens; 0 for a free port', port)
    .option('--as <principal>', 'the person as whom clients act, as human:ann; needed without --http', person)
    .option('--app <module>', 'what to open the world with: export default or `world`, the options of openWorld')
    .option('--name <name>', 'the name that clients show')
    .addHelpText('after', EXIT_HELP)
    .action((world: string, options: ServeOptions) =>
      run({}, async () => {
        const { serve } = await import('./verbs/serve.js');
        await serve(io, world, options);
      }),
    );
}

function port(text: string): number {
  const number = count(text);
  if (number < 65_536) return number;
  throw new InvalidArgumentError('Expected a port, 0 to 65535.');
}

function person(text: string): string {
  if (/^human:[\x21-\x7e]{1,120}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected human: and a name, as human:ann.');
}
