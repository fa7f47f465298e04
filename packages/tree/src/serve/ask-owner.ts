/**
 * Commands to the process that owns a world, from other processes of the same person: a command line that answers a
 * question while the tree runs elsewhere.
 */

import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { isFilled, RepriseError, requireArgument, requireKnownOptions, type Value } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import { PROGRAM_MARK } from '@reprise/tools/programs';
import { BRIDGE_HELLO_MS } from './limits.js';
import { type Line, LineSocket } from './lines.js';
import { freshKey, isSigned, type Pass, passIn, readPass, sign } from './pass.js';
import type { Coming, Command, OwnerSaid } from './people-door.js';
import { bearing } from './processes.js';

/** How the owner of a world is reached. */
export interface AskOwnerOptions {
  /** The token that the owner printed. Without it the process must have been started at a terminal. */
  readonly token?: string;
}

/**
 * Sends a command to the process that owns a world: from a process at a terminal, or with the owner's token.
 *
 * @param world the path of the world's file
 * @returns its answer, `cap_denied` when it refuses this process; undefined when no process listens
 * @throws RepriseError `world_closed` when the owner ended before it answered: the command may have been executed;
 *   `invalid_argument` for a text that is no token
 */
export async function askOwner(
  world: string,
  verb: string,
  args: Value,
  options: AskOwnerOptions = {},
): Promise<OwnerSaid | undefined> {
  requireArgument(isFilled(world), 'askOwner(world)', "the path of a world's file", world);
  requireArgument(isFilled(verb), 'askOwner(verb)', 'the name of a command', verb);
  requireKnownOptions(options, { token: true }, 'askOwner');
  const { token } = options;
  const pass = token === undefined ? readPass(world) : located(passIn(token), readPass(world));
  if (pass === undefined) return undefined;
  const by = token === undefined ? 'pass' : 'token';
  const coming = token === undefined ? comingHere() : 'token';
  const met = await meet(pass, by, world);
  if (met === 'absent') return undefined;
  if ('refused' in met) return met.refused;
  const command = { coming, verb, args };
  return coming === 'token' ? met.give(command) : named(met, command);
}

/** Gives a command, and bears the name of the connection until the owner has looked. */
async function named(met: Met, command: Command): Promise<OwnerSaid> {
  let said: Promise<OwnerSaid> | undefined;
  await bearing(
    met.name,
    () =>
      new Promise<void>((looked) => {
        said = met.give(command, looked);
        said.then(
          () => looked(),
          () => looked(),
        );
      }),
  );
  return said as unknown as Promise<OwnerSaid>;
}

/**
 * Whether a process takes commands for the trees of a world: one that opened the people's door, as `reprise tree` does.
 *
 * @param world the path of the world's file
 */
export async function hasOwner(world: string): Promise<boolean> {
  requireArgument(isFilled(world), 'hasOwner(world)', "the path of a world's file", world);
  const pass = readPass(world);
  const met = pass === undefined ? 'absent' : await meet(pass, 'pass', world);
  if (met === 'absent' || 'refused' in met) return false;
  met.leave();
  return true;
}

/**
 * Whether this process was started by a program of agents, as it says of itself: its environment has the mark of
 * programs.
 */
export function isProgramHere(): boolean {
  return process.env[PROGRAM_MARK] !== undefined;
}

/** Whether this process has a terminal, also where its streams are files. */
function hasTerminal(): boolean {
  if (process.platform === 'win32') return process.stdin.isTTY === true || process.stdout.isTTY === true;
  try {
    closeSync(openSync('/dev/tty', 'r+'));
    return true;
  } catch {
    return false;
  }
}

function comingHere(): Coming {
  return hasTerminal() && !isProgramHere() ? 'terminal' : 'neither';
}

/** The pass of a token, at the socket where the home folder says that its owner is, if that owner wrote it. */
function located(token: Pass, home: Pass | undefined): Pass {
  return home?.door === token.door ? { ...token, socket: home.socket } : token;
}

interface Met {
  /** The name that this process is to bear. */
  readonly name: string;
  /**
   * Gives a command.
   *
   * @param looked called when the owner has looked at this process
   * @throws RepriseError `world_closed`, `bound_exceeded`
   */
  give(command: Command, looked?: () => void): Promise<OwnerSaid>;
  leave(): void;
}

/** Meets the owner: a process that answers at its socket, and proves that it has the key. */
function meet(
  pass: Pass,
  by: 'pass' | 'token',
  world: string,
): Promise<Met | { readonly refused: OwnerSaid } | 'absent'> {
  const nonce = freshKey();
  return new Promise((resolve) => {
    const wire: LineSocket = new LineSocket(connect(pass.socket), {
      line: (line) => hear(line),
      over: () => {
        clearTimeout(silent);
        isOver = true;
        end();
      },
    });
    const silent = setTimeout(() => wire.end(), BRIDGE_HELLO_MS);
    let isOver = false;
    let end = (): void => resolve('absent');
    let hear = (line: Line): void => {
      clearTimeout(silent);
      const refused = refusalIn(line);
      if (refused !== undefined) return resolve({ refused });
      const { nonce: theirs, name, signed } = line;
      if (!isSigned(pass.key, ['owner', nonce, String(theirs), String(name)], signed)) return wire.end(); // another one
      resolve({
        name: String(name),
        leave: () => wire.end(),
        give: (command, looked) =>
          new Promise((answered, lost) => {
            end = () => lost(lostOwner(world));
            if (isOver) return end();
            hear = (said) => {
              if (said.taken === true) return looked?.();
              const { answer, signed: proof } = said;
              const denied = refusalIn(said);
              if (denied !== undefined) answered(denied);
              else if (isSigned(pass.key, ['answer', nonce, String(theirs), String(answer)], proof))
                answered(parseJson(String(answer)) as OwnerSaid);
              wire.end();
            };
            const text = JSON.stringify(command);
            send(wire, { command: text, signed: sign(pass.key, ['command', nonce, String(theirs), text]) }, lost);
          }),
      });
    };
    wire.send({ hello: 'people', door: pass.door, by, nonce });
  });
}

function send(wire: LineSocket, line: Line, lost: (error: RepriseError) => void): void {
  try {
    wire.send(line);
  } catch (cause) {
    lost(new RepriseError('bound_exceeded', 'the command is too large for a line', { cause }));
    wire.end();
  }
}

function lostOwner(world: string): RepriseError {
  return new RepriseError('world_closed', 'the owner of the world ended before it answered', { where: world });
}

/** A refusal in a line. It is not signed: who has no key cannot know whose it is, and does nothing in any case. */
function refusalIn({ refused }: Line): OwnerSaid | undefined {
  if (typeof refused !== 'object' || refused === null) return undefined;
  const { code, message } = refused as { readonly code?: unknown; readonly message?: unknown };
  return { ok: false, code: String(code), message: String(message) };
}
