/** Names that people know. Ids stand in the records and in details, and nowhere else. */
import type { Owner, SocietyEntity } from '@reprise/operators';

/** A text without long ids: the beginning of each is left. */
export function plain(text: string): string {
  return text.replace(/[0-9a-f]{32,}/g, (id) => `${id.slice(0, 8)}…`);
}

/** Marks that change the direction of a text, control characters and escapes: shown as what they are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Words of others in a line of ours, where no character may move or hide another one. */
export function safe(text: string): string {
  return plain(text).replace(UNSEEN, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** An owner in a few words: `security, task 3 of review`, `node #2 of survey`, `main`. */
export function ownerName(of: Owner | null): string {
  if (of === null) return 'the world';
  const agent = of.agent ?? of.session;
  const place = placeOf(of);
  // The agents of a swarm have its name in theirs.
  if (of.swarm !== null && of.agent?.includes(of.swarm)) return safe(of.agent);
  if (place === null) return safe(of.session === null ? cellName(of.cell) : sessionName(of));
  return safe(agent === null || of.session === null ? place : `${agent}, ${place}`);
}

function placeOf(of: Owner): string | null {
  if (of.tree !== null) return of.node === null ? `tree ${of.tree}` : `node #${of.node} of ${of.tree}`;
  if (of.project !== null) {
    const part = of.task !== null ? `task ${of.task} of ` : of.result !== null ? `result ${of.result} of ` : 'project ';
    return part + of.project;
  }
  if (of.swarm !== null) return of.slot === null ? `swarm ${of.swarm}` : `${of.slot} of ${of.swarm}`;
  return null;
}

function sessionName({ session, agent }: Owner): string {
  if (session === null) return '';
  return agent === null || agent === session ? session : `${session} (${agent})`;
}

/** The holder of the rights of a person or an agent of a society. */
export function holderOf({ id, kind }: Pick<SocietyEntity, 'id' | 'kind'>): string {
  return kind === 'person' ? `human:${id}` : `cell:society/Entity@1/${id}`;
}

/** A cell by its key and the last word of its reducer. */
export function cellName(cell: string): string {
  return plain(cell.replace(/^aos\./, ''));
}

/** Who acted, in words: `ann`, `the operator`, `the model`. */
export function actorName(by: string | null): string {
  if (by === null) return 'the program';
  if (by === 'model') return 'the model';
  if (by === 'kernel') return 'the program';
  if (by.startsWith('operator')) return 'you (not named)';
  return safe(by.replace(/^(human|person):/, '').replace(/^session /, ''));
}
