/**
 * How far the spans of a world were sent, kept beside the world and never in it: a file in the user's cache folder, or one that
 * the owner names.
 *
 * Invariants
 * C1  A cursor is replaced whole, so that a process that dies leaves the one before or the new one.
 * C2  A cursor that cannot be read counts as absent: everything is sent again, with the same ids.
 */
import { fromHex, isFields, isWhole, parseOwnJson, toHex } from '@reprise/contracts';

/** How far spans were sent. */
export interface Cursor {
  /** Every span that ended in this frame or before was sent. */
  readonly after: number;
  /** A tracer as it was stored after some frame, so that the journal need not be read from its beginning. */
  readonly tracer?: Uint8Array | undefined;
}

/** Keeps the cursor of one world. */
export interface CursorFile {
  load(): Promise<Cursor | undefined>;
  save(cursor: Cursor): Promise<void>;
}

/**
 * A cursor in a file.
 *
 * @param world the id of the world: the cursor of another one counts as absent
 * @param path the file; one of this world in the user's cache folder when absent
 */
export function cursorFile(world: string, path?: string): CursorFile {
  const file = path === undefined ? cachePath(world) : Promise.resolve(path);
  return {
    load: async () => {
      const { readFile } = await import('node:fs/promises');
      const text = await readFile(await file, 'utf8').catch(() => undefined);
      return text === undefined ? undefined : cursorIn(text, world);
    },
    save: async ({ after, tracer }) => {
      const [{ mkdir, rename, writeFile }, { dirname }] = await Promise.all([
        import('node:fs/promises'),
        import('node:path'),
      ]);
      const at = await file;
      await mkdir(dirname(at), { recursive: true });
      const kept = tracer === undefined ? {} : { tracer: toHex(tracer) };
      const next = `${at}.${process.pid}.next`;
      await writeFile(next, JSON.stringify({ version: VERSION, world, after, ...kept }), { mode: 0o600 });
      await rename(next, at);
    },
  };
}

const VERSION = 1;

function cursorIn(text: string, world: string): Cursor | undefined {
  try {
    const said = parseOwnJson(text);
    if (!isFields(said) || said.version !== VERSION || said.world !== world) return undefined;
    const { after, tracer } = said;
    if (!isWhole(after, -1)) return undefined;
    return { after, tracer: typeof tracer === 'string' ? fromHex(tracer) : undefined };
  } catch {
    return undefined; // C2
  }
}

async function cachePath(world: string): Promise<string> {
  const [{ homedir }, { join }] = await Promise.all([import('node:os'), import('node:path')]);
  const { XDG_CACHE_HOME: given } = process.env;
  const folder = given === undefined || given === '' ? join(homedir(), '.cache') : given;
  return join(folder, 'reprise', 'telemetry', `${world}.json`);
}
