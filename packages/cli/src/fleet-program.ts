/** The verbs of `reprise fleet`, with their options and their help. */
import type { Command } from 'commander';
import type { Io } from './process/io.js';
import type { RunVerb } from './process/run-verb.js';

const FLEET_EXIT_HELP = `
Exit codes:
  0  printed, or asked to leave, or admitted
  1  status: a timer is late, or a posted call waits, by more than a minute, or a dead process still has worlds
     admit: worlds have lost frames and stay closed; with --look also: the database is not admitted
  2  wrong use: no such process, or more than one; no witness; no such closed world
  3  the database cannot be read`;

/** Adds `reprise fleet` to the command. */
export function addFleet(program: Command, run: RunVerb, io: Io): void {
  const fleet = program
    .command('fleet')
    .description('show the processes that share a database, ask one to leave, admit a restored database')
    .helpCommand(false)
    .addHelpText('after', FLEET_EXIT_HELP);
  const verb = (name: string, description: string): Command =>
    fleet
      .command(name)
      .description(description)
      .argument('<database>', 'postgres://HOST:PORT/DATABASE')
      .option('--json', 'print JSON')
      .addHelpText('after', FLEET_EXIT_HELP);
  verb('status', 'list the processes, their leases and worlds, and what waits and is late').action(
    (database, options) =>
      run(options, async () => (await import('./verbs/fleet/fleet.js')).fleetStatus(io, database, options)),
  );
  verb('drain', 'ask a process to give its worlds away and to leave')
    .argument('<host>', 'its id or its address as status prints them, or the beginning of one')
    .action((database, host, options) =>
      run(options, async () => (await import('./verbs/fleet/fleet.js')).fleetDrain(io, database, host, options)),
    );
  verb('admit', 'compare a restored or promoted database with its witness, and let its worlds open')
    .option('--witness <place>', 'a folder or s3://BUCKET/PREFIX?endpoint=…; also in REPRISE_WITNESS')
    .option('--no-witness', 'admit without knowing what was lost')
    .option('--open <world...>', 'let these worlds go on although they have lost acknowledged frames')
    .option('--open-all', 'let all of them go on')
    .option('--look', 'compare, and decide nothing')
    .action((database, options) =>
      run(options, async () => (await import('./verbs/fleet/admit.js')).fleetAdmit(io, database, options)),
    );
}
