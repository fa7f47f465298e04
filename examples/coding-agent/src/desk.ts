/** The open world, a session in it, and its models. Changing one of them opens the world again. */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { type AgentWorld, openWorld, type Session } from 'reprise';
import { reportOnce } from 'reprise/history';
import { SESSION_REDUCER } from 'reprise/org';
import type { ModelClient } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { printError } from 'reprise/terminal';
import { coder } from './coder.js';
import { EMBEDDED } from './demo/fixer.js';
import { modelNamed, type Reach, secretsOf } from './models.js';
import { DESK } from './person.js';
import { worldFile, worldsIn } from './places.js';

/** How a desk is opened. */
export interface DeskOptions {
  readonly folder: string;
  /** The folder with the worlds. */
  readonly worlds: string;
  /** The model that the user chose; if absent, the one that the session used last. */
  readonly model: string | undefined;
  readonly reach: Reach;
  /** Starts a new session. */
  readonly fresh?: boolean;
  /** The session to go on with; the one that changed last if absent. */
  readonly conversation?: string | undefined;
  /** Receives what running programs print. `program`: the command, or the program with its arguments. */
  readonly heard?: (program: string, text: string) => void;
  /** Receives what keeps the world from going on, in lines. Default: standard error. */
  readonly report?: (line: string) => void;
  /** The number of the world; the newest if absent. */
  readonly world?: number;
}

const FIRST_SESSION = 'main';

/** An open world, and the current session. */
export interface Desk {
  readonly options: DeskOptions;
  readonly number: number;
  readonly file: string;
  readonly world: AgentWorld;
  readonly session: Session<string>;
  readonly model: string;
  /** The other sessions that are not over: they are paused, so they call no model and ask nobody while nobody watches them. */
  readonly paused: readonly string[];
}

/**
 * Opens the newest world of a folder, and in it the session that changed last.
 *
 * @throws TypeError when a model cannot be reached; RepriseError as `openWorld`
 */
export async function openDesk(options: DeskOptions): Promise<Desk> {
  await mkdir(options.worlds, { recursive: true });
  const known = await worldsIn(options.worlds);
  const number = options.world ?? known.at(-1) ?? 1;
  const file = worldFile(options.worlds, number);
  const left = known.includes(number) ? await leftAt(file, options) : NOTHING_LEFT;
  const model = options.model ?? left.model ?? EMBEDDED;
  const agent = coder({ folder: options.folder, model });
  const models = modelsFor([model, left.model ?? EMBEDDED, EMBEDDED], options.reach);
  // A line on standard error would be drawn across the screen.
  const report = reportOnce((line) => (options.report ?? printError)(line));
  const world = await openWorld({
    store: sqlite(file),
    models,
    agents: [agent],
    secrets: secretsOf(options.reach.env),
    onError: (error, origin) => {
      // What ends its effect is an event of the run, and shown with it.
      if (origin.source !== 'effect' || origin.status === undefined) report(error, origin);
    },
    onProgress: (_effect, note) => {
      const heard = outputIn(note);
      if (heard !== undefined) options.heard?.(heard.program, heard.text);
    },
  });
  const session = world.session(left.session ?? FIRST_SESSION, agent);
  // It was paused while another conversation was open.
  if ((await session.state())?.lifecycle === 'Paused') await session.resume(DESK);
  const { conversation: _, ...again } = options; // a later move begins where the user is then
  return { options: again, number, file, world, session, model, paused: left.paused };
}

/** The state in which a world was left. */
interface Left {
  /** The session to go on with; absent for the first one. */
  readonly session?: string;
  /** The model that was used last. */
  readonly model?: string;
  readonly paused: readonly string[];
}

const NOTHING_LEFT: Left = { paused: [] };

/** The states of a session whose run is not over. */
const UNFINISHED: readonly string[] = ['Running', 'WaitingInput', 'Paused', 'Cancelling'];

/**
 * Reads the state before the world continues, since an interrupted run needs its own model from the first moment, and pauses
 * every other conversation that is not over: nobody would see what it spends and asks.
 *
 * @throws TypeError when the world has no conversation of the name that was given
 */
async function leftAt(file: string, { fresh = false, conversation }: DeskOptions): Promise<Left> {
  await using world = await openWorld({ store: sqlite(file), models: {}, agents: [], drive: 'manual' });
  const { items } = await world.sessions({ limit: 1_000 });
  const chosen = conversation === undefined ? items[0] : items.find(({ key }) => key === conversation);
  if (conversation !== undefined && chosen === undefined)
    throw new TypeError(
      `There is no conversation ${conversation} here; there are: ${items.map(({ key }) => key).join(', ')}.`,
    );
  if (chosen === undefined) return NOTHING_LEFT;
  const others = items.filter(({ key, status }) => UNFINISHED.includes(status) && (fresh || key !== chosen.key));
  for (const { key, status } of others) if (status !== 'Paused') await pause(world, key);
  const session = fresh ? `main-${items.length + 1}` : chosen.key;
  return { session, model: chosen.model, paused: others.map(({ key }) => key) };
}

/** Pauses a session of a world that knows no agents. */
async function pause({ kernel }: AgentWorld, session: string): Promise<void> {
  const value = { command_id: randomUUID(), command: { type: 'Pause' } };
  await kernel.request([SESSION_REDUCER, session], { name: 'aos.agent/HostCommand@1', value }, DESK);
}

/** Models by name. A model that was used before and cannot be reached now is left out, unless it is the current one. */
function modelsFor([wanted, ...others]: readonly [string, ...string[]], reach: Reach): Record<string, ModelClient> {
  const models: Record<string, ModelClient> = { [wanted]: modelNamed(wanted, reach) };
  for (const name of others) {
    try {
      models[name] ??= modelNamed(name, reach);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return models;
}

/** What a program has printed, if a progress report says that. */
function outputIn(note: unknown): { readonly program: string; readonly text: string } | undefined {
  const { type, channel, program, text } = (note ?? {}) as Readonly<Record<string, unknown>>;
  if (type !== 'delta' || channel !== 'output') return undefined;
  return typeof program === 'string' && typeof text === 'string' ? { program, text } : undefined;
}
