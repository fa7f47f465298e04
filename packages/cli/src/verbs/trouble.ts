/** `reprise trouble`: what needs attention in a world, read without writing. */
import { formatAddress } from '@reprise/contracts';
import { type CellTrouble, worldAt } from '@reprise/kernel';
import { EXIT, type ExitCode } from '../exit.js';
import type { Io } from '../io.js';
import { withWorld } from '../open.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { newest, requireApp } from './show-cell.js';

/** The options of `trouble`. */
interface TroubleArguments {
  readonly app?: string;
  readonly legacy?: readonly string[];
  readonly json?: true;
}

/** Lists the troubles of a world. @returns 1 when there are some */
export async function trouble(io: Io, world: string, options: TroubleArguments): Promise<ExitCode> {
  const found = await withWorld(world, async (store) => {
    const { app, legacy } = await requireApp(store, options);
    return (await worldAt(store, app, await newest(store), { legacy })).trouble();
  });
  const lines = found.length === 0 ? [`${world}: no trouble`] : found.map(lineOf);
  const text = `${lines.map(escapeLine).join('\n')}\n`;
  await io.out.write(options.json === true ? `${toJson({ trouble: found.map(asData) })}\n` : text);
  return found.length === 0 ? EXIT.ok : EXIT.finding;
}

/** A trouble as data: the address as a text. */
export function asData({ where, ...rest }: CellTrouble): object {
  return { ...rest, where: formatAddress(where) };
}

/** A trouble in words. */
export function lineOf({ where, code, since, frame, event, waiting }: CellTrouble): string {
  const waited = waiting === 0 ? '' : `; ${waiting} waited for it and were told`;
  const at = new Date(since).toISOString();
  return `${formatAddress(where)} has failed: ${code} on ${event}, in frame ${frame}, ${at}${waited}`;
}
