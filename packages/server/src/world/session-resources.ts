/**
 * What a world has recorded of its sessions, as resources: the list, each session, its transcript, and the content that
 * they link.
 *
 * A link alone is no authority: content is read under a session that links it, and which the principal may read.
 */
import {
  type AgentWorld,
  contentType,
  readLlmOutput,
  readText,
  type SessionInfoRow,
  SNIFF_BYTES,
  sessions,
  type TranscriptItem,
  toolDifferences,
} from '@reprise/agent';
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, address, type InputPart, isRepriseError, Ref, shortText, type Value } from '@reprise/contracts';
import { type ContentReader, getErasable, linksOf, type WorldView } from '@reprise/kernel';
import {
  SERVE_PAGE_BYTES,
  SERVE_SESSIONS_LOOKED_AT,
  SERVE_SESSIONS_PAGE,
  SERVE_TEXT_UNITS,
} from '../protocol/limits.js';
import { McpFailure, type McpResource, type McpResources } from '../protocol/mcp-types.js';
import type { Cursors } from './cursors.js';
import { unlessDenied } from './refusals.js';

/** The URI of the list of sessions; the others stand below it. */
export const SESSIONS_URI = 'reprise://sessions';

const JSON_TYPE = 'application/json';

/** A place below the list of sessions. */
const PLACE = /^(?:\/([^/?#]+)(?:\/(transcript|content\/([^/?#]+)))?)?(?:\?(?:after|from)=([^&#]{1,2048}))?$/;

interface Place {
  readonly session?: string;
  readonly of: 'list' | 'session' | 'transcript' | 'content';
  readonly link?: string;
  /** The cursor at which a page begins; the first page when absent. */
  readonly from?: string;
}

interface Page {
  readonly items: readonly SessionInfoRow[];
  readonly next?: string;
}

/** The URI of a session. */
export function sessionUri(key: string, list = SESSIONS_URI): string {
  return `${list}/${encodeURIComponent(key)}`;
}

/** The sessions of a world, as one principal may read them. */
export class SessionResources {
  readonly templates: readonly McpResource[] = [
    { uri: `${SESSIONS_URI}/{session}`, name: 'A session', mediaType: JSON_TYPE },
    { uri: `${SESSIONS_URI}/{session}/transcript`, name: 'The transcript of a session', mediaType: JSON_TYPE },
    {
      uri: `${SESSIONS_URI}/{session}/content/{link}`,
      name: 'Content that a transcript links',
      mediaType: 'application/octet-stream',
    },
  ];

  constructor(
    private readonly world: AgentWorld,
    private readonly view: WorldView,
    private readonly cursors: Cursors,
    /** Where the list is: the other places stand below it. */
    private readonly at: string = SESSIONS_URI,
    /** Whether a session is there for the principal at all, besides its rights. */
    private readonly has: (session: string) => Promise<boolean> = async () => true,
  ) {}

  /** A page of the sessions, and the list itself on the first. */
  async list(after?: string): ReturnType<McpResources['list']> {
    const page = await this.#page(after);
    if (page === undefined) throw new McpFailure(-32_602, 'There is no such cursor: begin the list again.');
    const { items, next } = page;
    const found = items.map(({ key, agent }) => ({
      uri: this.#uri(key),
      name: key,
      description: `A session of the agent ${agent}`,
      mediaType: JSON_TYPE,
    }));
    const whole = {
      uri: this.at,
      name: 'sessions',
      description: 'The sessions of this world',
      mediaType: JSON_TYPE,
    };
    return { items: after === undefined ? [whole, ...found] : found, ...(next === undefined ? {} : { next }) };
  }

  /** The cell of a session that a URI is about; undefined for other URIs. */
  cellOf(uri: string): Address | undefined {
    const place = this.#place(uri);
    return place?.session === undefined ? undefined : [SESSION_REDUCER, place.session];
  }

  /** Whether the principal may read a session. */
  async mayRead(cell: Address): Promise<boolean> {
    if (!(await this.has(cell[1]))) return false;
    return (await unlessDenied(() => this.view.state(cell))) !== undefined;
  }

  /** Reads a resource; undefined when nothing is there, or the principal may not read it. */
  async read(uri: string): ReturnType<McpResources['read']> {
    const place = this.#place(uri);
    if (place === undefined) return undefined;
    if (place.of === 'list') return this.#sessions(place.from);
    const { session = '' } = place;
    if (!(await this.mayRead([SESSION_REDUCER, session]))) return undefined;
    if (place.of === 'session') return this.#session(session);
    if (place.of === 'transcript') return this.#transcript(session, place.from);
    return this.#content(session, place.link ?? '');
  }

  /**
   * The sessions behind a cursor that the principal may read. A page that is not the last has a cursor only when a further
   * one may be read, unless very many may not.
   *
   * @returns undefined when there is no such cursor
   */
  async #page(cursor: string | undefined): Promise<Page | undefined> {
    const items: SessionInfoRow[] = [];
    const given = cursor === undefined ? undefined : this.cursors.open(cursor, this.view.principal);
    if (cursor !== undefined && given === undefined) return undefined;
    let place = given;
    for (let seen = 0; seen < SERVE_SESSIONS_LOOKED_AT; seen += SERVE_SESSIONS_PAGE) {
      const before = items.length;
      let last = 0;
      const page = await this.#rows(place, SERVE_SESSIONS_PAGE);
      for (const [i, row] of page.items.entries()) {
        if (!(await this.mayRead([SESSION_REDUCER, row.key]))) continue;
        if (items.length === SERVE_SESSIONS_PAGE)
          return this.#paged(items, items.length === before ? place : (await this.#rows(place, last)).next);
        items.push(row);
        last = i + 1;
      }
      if (page.next === undefined) return { items };
      place = page.next;
    }
    return this.#paged(items, place);
  }

  #rows(after: string | undefined, limit: number): ReturnType<AgentWorld['sessions']> {
    return this.world.sessions({ limit, ...(after === undefined ? {} : { after }) });
  }

  #paged(items: readonly SessionInfoRow[], place: string | undefined): Page {
    return place === undefined ? { items } : { items, next: this.cursors.seal(place, this.view.principal) };
  }

  async #sessions(after: string | undefined): ReturnType<McpResources['read']> {
    const page = await this.#page(after);
    if (page === undefined) return undefined;
    const { items, next } = page;
    const more = next === undefined ? {} : { next: `${this.at}?after=${encodeURIComponent(next)}` };
    return json({ sessions: items.map((row) => this.#row(row)), ...more });
  }

  async #session(session: string): ReturnType<McpResources['read']> {
    const row = await (await this.world.views()).view(sessions).get(session);
    if (row === undefined) return undefined;
    const waiting = await this.world.pending({ session, to: this.view.principal });
    const pending = waiting.map(({ id, kind, title, tool, question, changed, since, deadline }) => ({
      ...{ id, kind, since, deadline },
      ...(title === undefined ? {} : { title }),
      ...(tool === undefined ? {} : { tool }),
      ...(question === undefined ? {} : { question: question.question }),
      ...(changed === undefined ? {} : { changed: toolDifferences(changed).map((one) => ({ ...one })) }),
    }));
    return json({
      ...this.#row({ ...row, key: session, updated: row.at }),
      transcript: `${this.#uri(session)}/transcript`,
      pending,
    });
  }

  async #transcript(session: string, from: string | undefined): ReturnType<McpResources['read']> {
    const first = from === undefined ? 0 : Number(from);
    if (!Number.isSafeInteger(first) || first < 0) return undefined;
    const items: Value[] = [];
    let bytes = 0;
    for await (const item of this.view.log([SESSION_REDUCER, session], 'transcript', first)) {
      const shown = await this.#item(session, first + items.length, item);
      bytes += Buffer.byteLength(JSON.stringify(shown));
      if (bytes > SERVE_PAGE_BYTES && items.length > 0) {
        const next = `${this.#uri(session)}/transcript?from=${first + items.length}`;
        return json({ session, items, next });
      }
      items.push(shown);
    }
    return json({ session, items });
  }

  async #item(session: string, index: number, stored: Value): Promise<Value> {
    const item = stored as unknown as TranscriptItem;
    const { role } = item;
    const about = 'tool' in item ? { tool: item.tool, call_id: item.call_id } : {};
    const origin = 'origin' in item ? { origin: item.origin } : {};
    const calls = 'calls' in item ? { calls: item.calls.map(({ call_id, tool }) => ({ call_id, tool })) } : {};
    const text = await this.#text(item);
    const links = linksOf(stored).map((link) => `${this.#uri(session)}/content/${link.hex}`);
    return {
      index,
      role,
      ...origin,
      ...about,
      ...calls,
      ...(text === undefined ? {} : { text: shortText(text, SERVE_TEXT_UNITS + 1) }),
      links,
    };
  }

  /** What an item says. Erased content says that it was erased. */
  async #text(item: TranscriptItem): Promise<string | undefined> {
    const { content } = this.world.kernel;
    try {
      if (item.role === 'assistant') return (await readLlmOutput(content, item.output_ref)).text;
      if (item.role !== 'user')
        return item.output_ref === undefined ? undefined : await readText(content, item.output_ref);
      return (await Promise.all(item.parts.map((part) => partText(content, part)))).join('\n');
    } catch (error) {
      if (isRepriseError(error, 'blob_erased')) return '[erased]';
      if (isRepriseError(error, 'blob_missing')) return '[missing]';
      throw error;
    }
  }

  async #content(session: string, text: string): ReturnType<McpResources['read']> {
    const link = linkOf(text);
    if (link === undefined) return undefined;
    const cell: Address = [SESSION_REDUCER, session];
    const bytes = await unlessDenied(async () => {
      return (await this.#linked(link, { cell, log: 'transcript' })) ?? (await this.#linked(link, { cell }));
    });
    return bytes === undefined ? undefined : { ...contentType(bytes.subarray(0, SNIFF_BYTES)), bytes };
  }

  async #linked(link: Ref, by: Parameters<WorldView['blob']>[1]): Promise<Uint8Array | undefined> {
    try {
      return await unlessDenied(() => this.view.blob(link, by));
    } catch (error) {
      if (isRepriseError(error, 'blob_erased') || isRepriseError(error, 'blob_missing')) return undefined;
      throw error;
    }
  }

  #uri(session: string): string {
    return sessionUri(session, this.at);
  }

  #place(uri: string): Place | undefined {
    return uri.startsWith(this.at) ? placeOf(uri.slice(this.at.length)) : undefined;
  }

  #row({ key, agent, model, status, closed, labels, made, updated, runs, usage }: ShownRow): Record<string, Value> {
    return { session: key, uri: this.#uri(key), agent, model, status, closed, labels, made, updated, runs, usage };
  }
}

/** A text, or content with a salt, as far as the model was shown it; other parts are named. */
async function partText(content: ContentReader, part: InputPart): Promise<string> {
  if (part.kind === 'text') return readText(content, part.text_ref);
  if (part.kind !== 'blob' || part.salted !== true) return `[${part.kind}]`;
  return Buffer.from(await getErasable(content, part.blob_ref)).toString('utf8');
}

/** @param below the part of the URI behind that of the list */
function placeOf(below: string): Place | undefined {
  const found = PLACE.exec(below);
  if (found === null) return undefined;
  try {
    const [, key, below, link, page] = found.map((one) => (one === undefined ? undefined : decodeURIComponent(one)));
    const from = page === undefined ? {} : { from: page };
    if (key === undefined) return { of: 'list', ...from };
    if (!address.safeParse([SESSION_REDUCER, key]).success) return undefined; // no session has such a key
    if (below === undefined) return { of: 'session', session: key };
    if (link !== undefined) return { of: 'content', session: key, link };
    return { of: 'transcript', session: key, ...from };
  } catch {
    return undefined; // no URI: a `%` without its digits
  }
}

function linkOf(text: string): Ref | undefined {
  const [, hex] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(text) ?? [];
  return hex === undefined ? undefined : Ref.fromHex(hex);
}

type ShownRow = Pick<
  SessionInfoRow,
  'key' | 'agent' | 'model' | 'status' | 'closed' | 'labels' | 'made' | 'updated' | 'runs' | 'usage'
>;

function json(value: Value): { readonly mediaType: string; readonly bytes: Uint8Array } {
  return { mediaType: JSON_TYPE, bytes: new TextEncoder().encode(JSON.stringify(value)) };
}
