/** The open world, a session in it, and its models. Changing one of them opens the world again. */
import { mkdir } from 'node:fs/promises';
import { type AgentWorld, openWorld, type Session } from 'reprise';
import { reportOnce } from 'reprise/history';
import type { ModelClient } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { coder } from './coder.js';
import { EMBEDDED } from './demo/fixer.js';
import { modelNamed, type Reach, secretsOf } from './models.js';
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
  const left = known.includes(number) ? await leftAt(file) : NOTHING_LEFT;
  const model = options.model ?? left.model ?? EMBEDDED;
  const agent = coder({ folder: options.folder, model });
  const models = modelsFor([model, left.model ?? EMBEDDED, EMBEDDED], options.reach);
  // A line on standard error would be drawn across the screen.
  const report = reportOnce((line) => (options.report ?? console.error)(line));
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
  const key = left.session === undefined ? FIRST_SESSION : options.fresh ? `main-${left.sessions + 1}` : left.session;
  return { options, number, file, world, session: world.session(key, agent), model };
}

/** The state in which a world was left. */
interface Left {
  readonly sessions: number;
  /** The session that changed last, and its model. */
  readonly session?: string;
  readonly model?: string;
}

const NOTHING_LEFT: Left = { sessions: 0 };

/** Reads the state before the world continues: an interrupted run needs its own model from the first moment. */
async function leftAt(file: string): Promise<Left> {
  await using world = await openWorld({ store: sqlite(file), models: {}, agents: [], drive: 'manual' });
  const { items } = await world.sessions({ limit: 1_000 });
  const [latest] = items;
  return latest === undefined ? NOTHING_LEFT : { sessions: items.length, session: latest.key, model: latest.model };
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
