/**
 * A server's list of tools, page by page: a page that is lost loses neither those before it nor the server. All pages
 * together are bounded in bytes and in time.
 */
import { createHash } from 'node:crypto';
import { ProtocolError, ProtocolErrorCode, type Tool } from '@modelcontextprotocol/client';
import type { LeftOut } from '@reprise/agent';
import { whyOf } from './answer/failure.js';
import { isLostAnswer } from './judge/lost-answer.js';
import type { Connection } from './transport/server.js';

/** The most pages of one list. */
const PAGES_MAX = 256;

/** The tools of a server, and those that it has but cannot offer. */
interface ServerTools {
  readonly tools: Tool[];
  readonly leftOut: LeftOut[];
  /** The digest of the tools of each page. */
  readonly pages: Set<string>;
  /** Why the rest of the list is missing, in words; undefined when it is complete. */
  broken?: string;
  /** Whether the rest may come when the list is requested again. */
  mayCome?: boolean;
}

/**
 * Lists the tools of a server. Pages that name no end, or each other, end where that is seen.
 *
 * @throws when not even the first page can be read
 */
export async function listOf(connection: Connection, signal: AbortSignal): Promise<ServerTools> {
  const list: ServerTools = { tools: [], leftOut: [], pages: new Set() };
  const cursors = new Set<unknown>();
  connection.pages.begin();
  for (let page = 1; page <= PAGES_MAX; page++) {
    const next = await nextOf(connection, signal, cursors, list, page);
    if (next === undefined) return list;
    if (cursors.has(next)) return broken(list, page, 'it names a page that was read before as the next one');
    cursors.add(next);
  }
  return broken(list, PAGES_MAX + 1, `a list may have ${PAGES_MAX} pages`);
}

/** Adds a page to the list; returns the cursor of the next one. */
async function nextOf(
  connection: Connection,
  signal: AbortSignal,
  cursors: ReadonlySet<unknown>,
  list: ServerTools,
  page: number,
): Promise<unknown> {
  const { client, judge, ending, intake } = connection;
  try {
    const options = { timeout: 2_147_483_647, signal, cacheMode: 'refresh' } as const;
    const cursor = [...cursors].at(-1);
    const params = cursor === undefined ? undefined : { cursor: cursor as string };
    const { tools } = await client.listTools(params, options);
    const next = judge.page?.next;
    const isAgain = list.pages.has(digestOf(tools)) && cursors.has(next); // the circle begins before it is seen
    if (!isAgain) add(list, tools, judge.page);
    return next;
  } catch (error) {
    if (error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound && page === 1)
      return undefined; // it has no tools
    const isOver = ending() !== undefined || intake.refusal !== undefined;
    if (page === 1 || isOver) throw isOver ? new Error(ending(), { cause: error }) : error;
    broken(list, page, isLostAnswer(error) || error instanceof Error ? whyOf(error) : 'it is lost');
    list.mayCome = true;
    return undefined;
  }
}

function digestOf(tools: readonly Tool[]): string {
  return createHash('sha256').update(JSON.stringify(tools)).digest('hex');
}

function add(list: ServerTools, tools: readonly Tool[], page: Connection['judge']['page']): void {
  list.tools.push(...tools);
  list.pages.add(digestOf(tools));
  if (page === undefined) return;
  const names = new Set(tools.map(({ name }) => name));
  const refused = page.names.filter((name) => !names.has(name));
  list.leftOut.push(
    ...page.leftOut,
    ...refused.map((tool) => ({ tool, why: 'its x-mcp-header declarations are not valid' })),
  );
}

function broken(list: ServerTools, page: number, why: string): ServerTools {
  list.broken = `page ${page} of its list of tools is missing, and what follows it: ${why}`;
  return list;
}
