/**
 * Resuming is exact: for each stream of events that a world gives, and each place in it, what comes behind that place is
 * the rest of the stream in bytes. And each stream is what it is said to be: that part of the events of the whole world.
 */
import type { Value } from '@reprise/contracts';
import { encode, toHex } from '@reprise/kernel';
import { placedChunks } from '../../../ui/src/stream.js';
import type { AgentEvent, AgentWorld, Cursor } from '../../src/index.js';
import type { EventScope } from '../../src/timeline/event-scope.js';
import { all, type RecordedWorld } from './recorded-world.js';

/** A stream that can be asked for from its beginning, or from behind a place. */
export interface Stream {
  readonly name: string;
  /** Whose events it has, of streams of a session or the world. */
  readonly scope?: EventScope;
  read(after: Cursor | undefined): Promise<readonly Item[]>;
}

/** Something of a stream: its place, and its bytes. */
export interface Item {
  readonly cursor: Cursor | undefined;
  readonly bytes: string;
}

/** Which places of a stream are tried. */
export type Sample = (cursors: readonly Cursor[]) => readonly Cursor[];

/** What was compared. */
export interface Compared {
  streams: number;
  places: number;
}

/** Every stream of a world: of itself, its sessions with and without those below, its runs likewise, and their pages. */
export async function streamsOf({ world, agent }: RecordedWorld, whole: readonly AgentEvent[]): Promise<Stream[]> {
  const streams: Stream[] = [{ name: 'world', scope: {}, read: (after) => events(world.events(shownAs(after))) }];
  for (const key of new Set(whole.map(({ session_id }) => session_id))) {
    const session = world.session(key, agent);
    for (const tree of [false, true]) {
      const name = `session ${key}${tree ? ' with its tree' : ''}`;
      const scope = { sessions: [key], tree };
      streams.push({ name, scope, read: (after) => events(session.events({ ...shownAs(after), tree })) });
    }
    for await (const run of session.runs()) {
      for (const tree of [false, true]) {
        const name = `run ${run.id}${tree ? ' with its tree' : ''}`;
        streams.push({ name, read: (after) => events(run.events({ ...shownAs(after), tree })) });
      }
      streams.push({
        name: `page of run ${run.id}`,
        read: (after) => chunks(placedChunks(run, after ? { after } : {})),
      });
    }
  }
  return streams;
}

/** Holds the law over one journal. @throws Error at the first place where it does not hold */
export async function holdResume(recorded: RecordedWorld, sample: Sample, change?: (stream: Stream) => Stream) {
  const compared: Compared = { streams: 0, places: 0 };
  const whole = await all(recorded.world.events(shownAs(undefined)));
  const everywhere = whole.map(({ event_seq }) => event_seq);
  for (const given of await streamsOf(recorded, whole)) {
    const stream = change?.(given) ?? given;
    const items = await stream.read(undefined);
    compared.streams++;
    // Places between the events of a stream count as well: those of other sessions.
    for (const after of sample(everywhere)) {
      compared.places++;
      sameItems(await stream.read(after), rest(items, after), `${stream.name} after ${after}`);
    }
  }
  await holdParts(recorded, whole);
  return compared;
}

/** What is behind a place. What a page is sent of one event has its place at the last of it. */
function rest(items: readonly Item[], after: Cursor): readonly Item[] {
  const last = items.findLastIndex(({ cursor }) => cursor !== undefined && !isBehind(cursor, after));
  return items.slice(last + 1);
}

/** Streams against the whole: which events they have follows from what the events say of themselves. */
async function holdParts({ world, agent }: RecordedWorld, whole: readonly AgentEvent[]): Promise<void> {
  const below = treeOf(whole);
  for (const key of new Set(whole.map(({ session_id }) => session_id))) {
    const session = world.session(key, agent);
    const tree = below(key);
    const ofSession = whole.filter(({ session_id }) => session_id === key);
    sameEvents(await all(session.events(shownAs(undefined))), ofSession, `session ${key}`);
    const ofTree = whole.filter(({ session_id }) => tree.has(session_id));
    sameEvents(await all(session.events({ ...shownAs(undefined), tree: true })), ofTree, `tree of session ${key}`);
    for await (const run of session.runs()) {
      for (const isTree of [false, true]) {
        const expected = ofRun(ofTree, key, run.id, isTree);
        const found = await all(run.events({ ...shownAs(undefined), tree: isTree }));
        sameEvents(found, expected, `run ${run.id}${isTree ? ' with its tree' : ''}`);
      }
    }
  }
}

/**
 * From the acceptance of its input to its end: its own, those of its session without a run, and those under its root. When
 * the input moves to another run before this one begins, the stream goes on with that run.
 */
function ofRun(events: readonly AgentEvent[], session: string, run: string, isTree: boolean): AgentEvent[] {
  const found: AgentEvent[] = [];
  let [followed, begun] = [run, false];
  let input: string | undefined;
  let root: string | null = null;
  for (const event of events) {
    const own = event.session_id === session;
    if (own && event.type === 'input.accepted') {
      if (event.run_id === run) input ??= event.command_id;
      const moved = event.moved_from !== undefined && !begun && event.command_id === input;
      if (moved && event.run_id !== null) followed = event.run_id;
    }
    if (own && event.type === 'lifecycle' && event.run_id === run) begun = true;
    if (event.run_id === followed) root = event.correlation_id;
    const isMeant = own
      ? event.run_id === followed || (event.run_id === null && root !== null)
      : isTree && root !== null && event.correlation_id === root;
    if (isMeant) found.push(event);
    if (event.run_id === followed && event.type === 'lifecycle' && event.stop !== undefined) break;
  }
  return found;
}

function treeOf(whole: readonly AgentEvent[]): (session: string) => Set<string> {
  const parents = new Map<string, string>();
  for (const event of whole) if (event.type === 'child.spawned') parents.set(event.session, event.session_id);
  return (session) => {
    const found = new Set([session]);
    for (const [child, parent] of parents) if (found.has(parent)) found.add(child);
    return found;
  };
}

/** How events are read here: to the end of what is there, without texts. */
export const shownAs = (after: Cursor | undefined) => ({
  follow: false,
  inline: 0,
  ...(after === undefined ? {} : { after }),
});

async function events(stream: ReturnType<AgentWorld['events']>): Promise<Item[]> {
  return (await all(stream)).map(itemOf);
}

async function chunks(stream: ReturnType<typeof placedChunks>): Promise<Item[]> {
  return (await all(stream)).map(({ chunk, cursor }) => ({ cursor, bytes: JSON.stringify(chunk) }));
}

/** An event as it is compared. */
export function itemOf(event: AgentEvent): Item {
  return { cursor: event.event_seq, bytes: toHex(encode(event as unknown as Value)) };
}

function isBehind(cursor: Cursor, place: Cursor): boolean {
  const [a, b] = cursor.split('.').map(Number) as [number, number];
  const [c, d] = place.split('.').map(Number) as [number, number];
  return a > c || (a === c && b > d);
}

function sameEvents(found: readonly AgentEvent[], expected: readonly AgentEvent[], what: string): void {
  sameItems(found.map(itemOf), expected.map(itemOf), what);
}

function sameItems(found: readonly Item[], expected: readonly Item[], what: string): void {
  const at = Array.from({ length: Math.max(found.length, expected.length) }, (_, i) => i).find(
    (i) => found[i]?.bytes !== expected[i]?.bytes,
  );
  if (at === undefined) return;
  throw new Error(`${what}: item ${at} is ${shown(found[at])}, where it should be ${shown(expected[at])}`);
}

function shown(item: Item | undefined): string {
  return item === undefined ? 'nothing' : `${item.cursor ?? 'live'} ${item.bytes.slice(0, 4_000)}`;
}
