/**
 * Commands to the process that owns a world, from other processes of the same user: a command line that answers a
 * question while the tree runs elsewhere. Being able to reach the socket is being that user.
 */
import { connect } from 'node:net';
import { RepriseError, type Value } from '@reprise/contracts';
import { BRIDGE_HELLO_MS } from './limits.js';
import { type Line, LineSocket } from './lines.js';
import { placeOf } from './place.js';
import type { OwnerSocket } from './socket.js';

/** The most commands of one connection that are being executed. */
const COMMANDS_MAX = 64;

/** Executes a command. What it throws is told to the process that asked: the code and message of a `RepriseError`. */
export type OwnerCommands = (verb: string, args: Value) => Promise<Value>;

/** What an owner answered. */
export type OwnerSaid =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** Takes commands of other processes of this user at a socket. */
export function takeCommands(socket: OwnerSocket, commands: OwnerCommands): void {
  socket.welcome('command', (_hello, wire) => {
    let open = 0;
    const execute = async (ask: number, verb: string, args: Value): Promise<void> => {
      open++;
      const said = await commands(verb, args).then(
        (value): OwnerSaid => ({ ok: true, value }),
        (error: unknown): OwnerSaid => ({ ok: false, ...refused(error) }),
      );
      open--;
      try {
        wire.send({ ask, ...said });
      } catch {
        wire.send({ ask, ok: false, code: 'bound_exceeded', message: 'the answer is too large for a line' });
      }
    };
    wire.send({ ok: true });
    return {
      line: ({ ask, verb, args }) => {
        if (!Number.isSafeInteger(ask) || typeof verb !== 'string')
          throw new Error('a line says nothing that is known');
        if (open >= COMMANDS_MAX) throw new Error(`more than ${COMMANDS_MAX} commands at once`);
        void execute(ask as number, verb, (args ?? null) as Value);
      },
      over: () => undefined,
    };
  });
}

/**
 * Sends a command to the process that owns a world.
 *
 * @param world the path of the world's file
 * @returns its answer; undefined when no process listens
 * @throws RepriseError `world_closed` when the owner ended before it answered: the command may have been executed
 */
export async function askOwner(world: string, verb: string, args: Value): Promise<OwnerSaid | undefined> {
  return new Promise((resolve, reject) => {
    let isIn = false;
    knock(world, {
      line: (line, wire) => {
        if (!isIn) {
          isIn = true;
          return wire.send({ ask: 1, verb, args });
        }
        const { ask: _, ...said } = line;
        resolve(said as unknown as OwnerSaid);
        wire.end();
      },
      over: () => {
        if (isIn)
          reject(new RepriseError('world_closed', 'the owner of the world ended before it answered', { where: world }));
        else resolve(undefined);
      },
    });
  });
}

/**
 * Whether a process takes commands for the trees of a world: one that opened it with a bridge, as `reprise tree` does.
 *
 * @param world the path of the world's file
 */
export async function hasOwner(world: string): Promise<boolean> {
  return new Promise((resolve) => {
    knock(world, {
      line: (_, wire) => {
        resolve(true);
        wire.end();
      },
      over: () => resolve(false), // without effect when a line came before
    });
  });
}

/** Connects to the process that owns a world, and hangs up when it says nothing. */
function knock(world: string, heard: { line(line: Line, wire: LineSocket): void; over(): void }): void {
  const wire: LineSocket = new LineSocket(connect(placeOf(world).socket), {
    line: (line: Line) => {
      clearTimeout(silent);
      heard.line(line, wire);
    },
    over: () => {
      clearTimeout(silent);
      heard.over();
    },
  });
  const silent = setTimeout(() => wire.end(), BRIDGE_HELLO_MS);
  wire.send({ hello: 'command' });
}

function refused(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof RepriseError) return { code: error.code, message: error.message };
  return { code: 'internal_error', message: error instanceof Error ? error.message : String(error) };
}
