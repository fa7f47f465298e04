/** The adapters of `toolset.refresh@1` and `toolset.adopt@1`. */
import { type Ref, shortText, startOfText, wellFormed } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { Adapter, AdapterContext, ContentStore } from '@reprise/kernel';
import { encode, portableSha256, toHex } from '@reprise/kernel/codec';
import { getValue, putValue } from '@reprise/kernel/store';
import { type ToolEntry, toolEntry } from '../../contracts/agent-def.js';
import {
  type ToolsetAdoptParams,
  type ToolsetNews,
  type ToolsetRefreshParams,
  type ToolsetRefreshReceipt,
  toolsetAdopt,
  toolsetRefresh,
} from '../../contracts/toolset.js';
import { knownTool } from '../../contracts/toolset-offer.js';
import { checking } from '../schema/recorded-schema.js';
import { messageOf, shortened } from '../schema/schema.js';
import { toolsBytes } from '../tool/tool.js';
import { byName, type KnownTools, type Taken, weighOffer } from '../tool/weigh-offer.js';
import type { Build } from '../toolset/build.js';
import type { LeftOut, LiveToolset } from '../toolset/toolset.js';

/** How many tools a session takes up from one toolset, the first by name: a model chooses badly among more. */
export const TOOLSET_TOOLS_MAX = 512;

/** How many omitted tools of one offer are named, and the length of each reason. */
const LEFT_OUT_MAX = 64;
const WHY_LENGTH_MAX = 1_024;
const NAME_LENGTH_MAX = 256;

const toolList = z.array(toolEntry);
const knownList = z.array(knownTool);

type Wanted = ToolsetRefreshParams['toolsets'][number];

/** The adapter that refreshes the toolsets of a build. A toolset's error is a result, not a failure of the effect. */
export function toolsetRefreshAdapter(build: Build): Adapter<ToolsetRefreshParams, ToolsetRefreshReceipt> {
  return {
    effect: toolsetRefresh,
    name: 'reprise.toolsets',
    doExecute: async ({ session, toolsets }, context) => {
      const news = await Promise.all(toolsets.map((wanted) => newsOf(wanted, build, { ...context, session })));
      // A cancelled refresh may have interrupted a toolset, so its silence does not mean that it is unreachable.
      return context.signal.aborted ? { status: 'cancelled' } : { status: 'ok', payload: { toolsets: news } };
    },
  };
}

/** The adapter of `toolset.adopt@1`: the approval is the whole effect. */
export const toolsetAdoptAdapter: Adapter<ToolsetAdoptParams, Record<string, never>> = {
  effect: toolsetAdopt,
  name: 'reprise.toolsets',
  doExecute: async () => ({ status: 'ok', payload: {} }),
};

type Context = AdapterContext & Pick<ToolsetRefreshParams, 'session'>;

async function newsOf(wanted: Wanted, build: Build, context: Context): Promise<ToolsetNews> {
  const toolset = wanted.name;
  const live = build.toolset?.(toolset);
  const service = `toolset ${toolset}`;
  if (live === undefined) {
    const code = 'adapter_error/toolset_absent';
    tellUnreachable(service, code, undefined, context);
    return { status: 'unreachable', toolset, code };
  }
  try {
    const news = await offered(wanted, live, context);
    context.serviceWorks?.(service);
    return news;
  } catch (error) {
    const code = 'adapter_error/toolset_unreachable';
    if (!context.signal.aborted) tellUnreachable(service, code, error, context);
    const why = context.scrubber?.scrub(messageOf(error)) ?? messageOf(error); // scrub before the cut
    const why_ref = await context.content.put(new TextEncoder().encode(shortened(why)));
    return { status: 'unreachable', toolset, code, why_ref };
  }
}

/** Tells the operator at once: the run goes on without these tools, and may complete. */
function tellUnreachable(service: string, code: string, cause: unknown, context: Context): void {
  const what = `${service} ${code.endsWith('absent') ? 'is not in this build' : 'cannot be reached'}, and runs go on without its tools`;
  const error = new Error(what, cause === undefined ? undefined : { cause });
  if (context.serviceFails === undefined) context.report?.(error);
  else context.serviceFails(service, { code, error, again: true });
}

async function offered(wanted: Wanted, live: LiveToolset, context: Context): Promise<ToolsetNews> {
  const { content, session, signal } = context;
  const list = await live.list({
    session,
    content,
    signal,
    secret: (name) => context.secret(name),
    ...(context.scrubber === undefined ? {} : { scrubber: context.scrubber }),
    report: (error) => context.report?.(error),
  });
  const listed = byName(list);
  // Loaded here: worlds without toolsets check no schemas of others.
  const { schemaRefusal } = await checking();
  const unusable = listed.flatMap((one) => leftOutFor(one, schemaRefusal(one.schema)));
  const names = new Set(unusable.map(({ tool }) => tool));
  const usable = listed.filter(({ name }) => !names.has(name));
  const offer = usable.slice(0, TOOLSET_TOOLS_MAX);
  const leftOut = [...(live.leftOut?.() ?? []), ...unusable, ...usable.slice(TOOLSET_TOOLS_MAX).map(tooMany)]
    .slice(0, LEFT_OUT_MAX)
    .map(shown);
  const version = toHex(portableSha256(encode(offer)));
  const toolset = wanted.name;
  if (version === wanted.version) return { status: 'unchanged', toolset };
  const { diff, ask, ...now } = weighOffer(offer, await heldOf(wanted, content), wanted);
  const asked =
    ask === undefined
      ? {}
      : { ask: { approved: await kept(ask.approved, content), refused_ref: await putValue(content, ask.refused) } };
  return {
    status: 'changed',
    toolset,
    version,
    ...(await kept(now, content)),
    added: diff.added.length,
    removed: diff.removed.length,
    changed: diff.changed.length,
    withheld: diff.withheld.length,
    diff_ref: await putValue(content, leftOut.length === 0 ? diff : { ...diff, left_out: leftOut }),
    ...asked,
  };
}

/** A tool whose arguments cannot be checked: the schema is malformed, or exceeds a bound. */
function leftOutFor({ name }: ToolEntry, why: string | undefined): LeftOut[] {
  return why === undefined ? [] : [{ tool: name, why }];
}

function tooMany({ name }: ToolEntry): LeftOut {
  return { tool: name, why: `a session takes up ${TOOLSET_TOOLS_MAX} tools of one toolset, the first by name` };
}

function shown({ tool, why }: LeftOut): LeftOut {
  return { tool: wellFormed(startOfText(tool, NAME_LENGTH_MAX)), why: wellFormed(shortText(why, WHY_LENGTH_MAX)) };
}

async function heldOf({ version, tools_ref, known_ref }: Wanted, content: ContentStore): Promise<KnownTools> {
  if (version === null || tools_ref === null || known_ref === null) return { adopted: null, known: [] };
  const [tools, known] = [await getValue(content, tools_ref), await getValue(content, known_ref)];
  return { adopted: toolList.parse(tools) as ToolEntry[], known: knownList.parse(known) };
}

async function kept({ tools, known }: Taken, content: ContentStore) {
  const tools_ref: Ref = await putValue(content, tools);
  return { tools_ref, known_ref: await putValue(content, known), tools_bytes: toolsBytes(tools) };
}
