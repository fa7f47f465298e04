/** What needs attention in a world, as a process that has not opened it can see it, in two forms. */
import { type Address, failureWords, formatAddress } from '@reprise/contracts';
import type { CellTrouble, PostedTroubles, ReadonlyStore } from '@reprise/kernel';
import { postedTroubles } from '@reprise/kernel/driver';

/** The process that had the world open ended without closing it; what was under way goes on at the next opening. */
interface DeathTrouble {
  readonly kind: 'process_died';
  readonly code: 'process_died';
  readonly where: string;
}

/** What stands in no journal. */
export type HostTrouble = PostedTroubles['troubles'][number] | DeathTrouble;

/** A trouble, as data and in a line. */
export interface ShownTrouble {
  readonly data: object;
  readonly line: string;
  readonly code: string;
  /** The cells that it holds up; none for one that holds up all. */
  readonly cells: readonly Address[];
}

/**
 * What the process that has a world open says of it, and whether that process lives.
 *
 * @param world the file of the world, as the user named it
 */
export async function hostTroubles(store: ReadonlyStore, world: string): Promise<readonly HostTrouble[]> {
  return (await hostOf(store, world)).troubles;
}

/** The process that has a world open, with what it says. */
export async function hostOf(
  store: ReadonlyStore,
  world: string,
): Promise<{ readonly writer: PostedTroubles['writer']; readonly troubles: readonly HostTrouble[] }> {
  const { writer, troubles } = await postedTroubles(store);
  if (writer !== 'died') return { writer, troubles };
  return { writer, troubles: [{ kind: 'process_died', code: 'process_died', where: world }] };
}

/** A trouble that stands in no journal, to be shown. */
export function shownTrouble(trouble: HostTrouble): ShownTrouble {
  const { where, code } = trouble;
  if (trouble.kind === 'process_died') return { data: trouble, line: diedLine(trouble), code, cells: [] };
  const { since, waiting } = trouble;
  const error = 'error' in trouble ? trouble.error : undefined;
  const cells = trouble.kind === 'service_failing' ? trouble.cells : [];
  const named = trouble.kind === 'service_failing' ? { cells: cells.map(formatAddress) } : {};
  const waits = waiting === 0 ? '' : `; ${waiting} wait${waiting === 1 ? 's' : ''} for it`;
  const line = `${where}, since ${new Date(since).toISOString()}${waits}: ${failureWords(code, error)}`;
  return { data: { ...trouble, ...named }, line, code, cells };
}

function diedLine({ where, code }: DeathTrouble): string {
  return `${where}: the process that had it open ended without closing it [${code}]. Open the world again: what was under way goes on, or is reported as unknown.`;
}

/** The troubles of a world at the head of what is shown of it. */
export async function troubleLines(store: ReadonlyStore, world: string): Promise<readonly string[]> {
  return (await hostTroubles(store, world)).map((trouble) => `trouble: ${shownTrouble(trouble).line}`);
}

/** A failed cell as data: the address as a text. */
export function asData({ where, ...rest }: CellTrouble): object {
  return { ...rest, where: formatAddress(where) };
}

/** A failed cell in words. */
export function lineOf({ where, code, since, frame, event, waiting }: CellTrouble): string {
  const waited = waiting === 0 ? '' : `; ${waiting} waited for it and were told`;
  const at = new Date(since).toISOString();
  return `${formatAddress(where)} has failed: ${code} on ${event}, in frame ${frame}, ${at}${waited}`;
}
