/**
 * A server's list of tools, page by page: a page that is lost loses neither those before it nor the server. All pages
 * together are bounded in bytes and in time.
 */
import { ProtocolError, ProtocolErrorCode, type Tool } from '@modelcontextprotocol/client';
import type { LeftOut } from '@reprise/agent';
import { whyOf } from './failure.js';
import { isLostAnswer } from './lost-answer.js';
import type { Connection } from './server.js';

/** The most pages of one list. */
const PAGES_MAX = 256;

/** The tools of a server, and those that it has but cannot offer. */
interface ServerTools {
  readonly tools: Tool[];
  readonly leftOut: LeftOut[];
  /** Why the rest of the list is missing, in words; undefined when it is complete. */
  broken?: string;
}

/**
 * Lists the tools of a server.
 *
 * @throws when not even the first page can be read, or there is no end of pages
 */
export async function listOf(connection: Connection, signal: AbortSignal): Promise<ServerTools> {
  const list: ServerTools = { tools: [], leftOut: [] };
  const cursors = new Set<unknown>();
  connection.pages.begin();
  for (let page = 1; page <= PAGES_MAX; page++) {
    const next = await nextOf(connection, signal, [...cursors].at(-1), list, page);
    if (next === undefined) return list;
    if (cursors.has(next)) return broken(list, page, 'it names a page that was read before as the next one');
    cursors.add(next);
  }
  throw new Error(`its list of tools has more than ${PAGES_MAX} pages`);
}

/** Adds a page to the list; returns the cursor of the next one. */
async function nextOf(
  connection: Connection,
  signal: AbortSignal,
  cursor: unknown,
  list: ServerTools,
  page: number,
): Promise<unknown> {
  const { client, judge, ending, intake } = connection;
  try {
    const options = { timeout: 2_147_483_647, signal, cacheMode: 'refresh' } as const;
    const params = cursor === undefined ? undefined : { cursor: cursor as string };
    const { tools } = await client.listTools(params, options);
    add(list, tools, judge.page);
    return judge.page?.next;
  } catch (error) {
    if (error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound && page === 1)
      return undefined; // it has no tools
    const isOver = ending() !== undefined || intake.refusal !== undefined;
    if (page === 1 || isOver) throw isOver ? new Error(ending(), { cause: error }) : error;
    broken(list, page, isLostAnswer(error) || error instanceof Error ? whyOf(error) : 'it is lost');
    return undefined;
  }
}

function add(list: ServerTools, tools: readonly Tool[], page: Connection['judge']['page']): void {
  list.tools.push(...tools);
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
