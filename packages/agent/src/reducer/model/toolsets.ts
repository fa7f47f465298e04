/**
 * The toolsets of a session: the tools it has taken up from each, and when it checks for changes.
 *
 * Invariants
 * X1  Toolsets are refreshed before each step, and changes count from that step on: never in the middle of one.
 * X2  A tool that differs from the one the session took up is shown to a model only when its policy, or a person,
 *     permits that.
 * X3  An unreachable toolset ends no run: the session keeps its tools, and their calls fail as data.
 * X4  At most one question about a toolset is pending; newer changes replace it.
 */
import type { Ref } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { allRows, type ReducerContext, type Table } from '@reprise/kernel/define';
import type { toolsetsRefreshed as refreshed, toolsetDecision } from '../../contracts/session.js';
import type { CurrentRun, SessionState } from '../../contracts/state.js';
import type { KnownToolset, ToolsetNews } from '../../contracts/toolset.js';
import { toolsetAdoptPlan } from '../../plans/toolset-adopt.js';
import { toolsetRefreshPlan } from '../../plans/toolset-refresh.js';
import type { Next } from '../run/moves.js';
import { countUnread } from '../transcript/prompt-size.js';
import { place } from '../transcript/say.js';

const NEW: KnownToolset = { version: null, tools_ref: null, known_ref: null, reachable: true, asked: null };

/**
 * Refreshes the toolsets of the run (X1).
 *
 * @returns whether the step has to wait
 */
export function refreshToolsets(draft: SessionState, ctx: ReducerContext): boolean {
  const { run, session_epoch, step_epoch } = draft;
  const listed = run?.config.toolsets ?? [];
  dropAllBut(
    listed.map(({ name }) => name),
    ctx,
  );
  if (run === null || listed.length === 0) return false;
  const toolsets = listed.map((choice) => {
    const { version, tools_ref, known_ref } = heldOf(choice.name, ctx);
    return { ...choice, version, tools_ref, known_ref };
  });
  const params = { session: { key: ctx.address[1], labels: draft.labels }, toolsets };
  run.step_plan = ctx.emit({ plan: toolsetRefreshPlan, input: { session_epoch, step_epoch, params } });
  return true;
}

/** The toolsets of a run as parameters of a model call. */
export function toolsetRefs({ config }: CurrentRun, ctx: ReducerContext): { readonly toolset_refs?: Ref[] } {
  const refs = (config.toolsets ?? []).flatMap(({ name }) => heldOf(name, ctx).tools_ref ?? []);
  return refs.length === 0 ? {} : { toolset_refs: refs };
}

/** Takes the refreshed toolsets of the run; its step continues. */
export function toolsetsRefreshed(
  draft: SessionState,
  { toolsets }: z.infer<typeof refreshed>,
  ctx: ReducerContext,
): Next {
  if (draft.run === null) return undefined;
  draft.run.step_plan = null;
  for (const news of toolsets) takeNews(draft, news, ctx);
  return draft.stopping === null ? { do: 'step', refreshed: true } : { do: 'settle' };
}

function takeNews(draft: SessionState, news: ToolsetNews, ctx: ReducerContext): void {
  const { toolset } = news;
  const held = heldOf(toolset, ctx);
  if (news.status === 'unreachable') return lose(draft, news, held, ctx);
  if (!held.reachable) ctx.record('aos.agent/ToolsetReachable@1', { ...place(draft), toolset });
  if (news.status === 'unchanged') return keep(toolset, { ...held, reachable: true }, ctx);
  const { version, tools_ref, known_ref, added, removed, changed, withheld: back, diff_ref } = news;
  countUnread(draft, news.tools_bytes);
  // A closed session asks no questions: no later step would use the answer.
  const ask = draft.status === 'Closed' ? undefined : news.ask;
  if (held.asked !== null) ctx.cancel(held.asked.plan); // X4
  const session = { key: ctx.address[1], labels: draft.labels };
  const asked =
    ask === undefined
      ? null
      : { plan: ctx.emit({ plan: toolsetAdoptPlan, input: { session, toolset, version, diff_ref } }), ...ask };
  keep(toolset, { version, tools_ref, known_ref, reachable: true, asked }, ctx);
  const counts = { added, removed, changed, withheld: back };
  const told = { ...place(draft), toolset, version, tools_ref, ...counts, diff_ref, asked: asked !== null };
  ctx.record('aos.agent/ToolsetChanged@1', told);
}

/** Marks a toolset as unreachable (X3). Each run records that it went without. */
function lose(
  draft: SessionState,
  { toolset, code, why_ref }: Extract<ToolsetNews, { status: 'unreachable' }>,
  held: KnownToolset,
  ctx: ReducerContext,
): void {
  if (!held.reachable && !isFirstLook(draft)) return;
  keep(toolset, { ...held, reachable: false }, ctx);
  const why = why_ref === undefined ? {} : { why_ref };
  ctx.record('aos.agent/ToolsetUnreachable@1', { ...place(draft), toolset, code, ...why });
}

/** Whether the toolsets were refreshed before the first model call of the run. */
function isFirstLook({ run }: SessionState): boolean {
  return run !== null && run.tally.steps === 0 && run.retries === 0 && !run.squeezed;
}

/** Takes a person's decision about withheld tools (X2). It counts from the next step on. */
export function toolsetDecided(
  draft: SessionState,
  { toolset, approved }: z.infer<typeof toolsetDecision>,
  ctx: ReducerContext,
): Next {
  const held = heldOf(toolset, ctx);
  const { asked } = held;
  if (asked === null || asked.plan !== ctx.plan) return undefined;
  const { tools_bytes, ...more } = asked.approved;
  const taken = approved ? more : { known_ref: asked.refused_ref };
  if (approved) countUnread(draft, tools_bytes);
  keep(toolset, { ...held, ...taken, asked: null }, ctx);
  ctx.record('aos.agent/ToolsetDecided@1', { ...place(draft), toolset, approved });
  return undefined;
}

/** Withdraws the pending questions about toolsets. */
export function askNothing(ctx: ReducerContext): void {
  for (const [name, { asked }] of allRows(tableOf(ctx))) {
    if (asked === null) continue;
    ctx.cancel(asked.plan);
    keep(name, { ...heldOf(name, ctx), asked: null }, ctx);
  }
}

/** A newer definition may list other toolsets. */
function dropAllBut(names: readonly string[], ctx: ReducerContext): void {
  for (const [name, { asked }] of allRows(tableOf(ctx))) {
    if (names.includes(name)) continue;
    if (asked !== null) ctx.cancel(asked.plan);
    tableOf(ctx).delete(name);
  }
}

function heldOf(name: string, ctx: ReducerContext): KnownToolset {
  return tableOf(ctx).get(name) ?? NEW;
}

function keep(name: string, held: KnownToolset, ctx: ReducerContext): void {
  tableOf(ctx).set(name, held);
}

function tableOf(ctx: ReducerContext): Table<KnownToolset> {
  return ctx.table<KnownToolset>('toolsets');
}
