/** Calls of an answer beyond the number that a receipt may hold: counted, and their tools named. */
import type { DroppedCalls } from '@reprise/contracts';
import { ANSWER_CALLS_MAX } from '@reprise/contracts';
import type { UnifiedResponse } from '../model/model.js';
import { cut } from '../model/text.js';

/** The most tools that are named, and the most characters of a name. */
const TOOLS_MAX = 16;
const NAME_MAX = 128;

/** Describes calls that are not stored; undefined when there are no such calls. */
export function droppedOf(calls: readonly { readonly tool: string }[]): DroppedCalls | undefined {
  if (calls.length === 0) return undefined;
  return { count: calls.length, tools: toolsIn(calls.map(({ tool }) => tool)) };
}

/**
 * The calls that a receipt stores, and a description of the others, some of which a client may have counted already.
 */
export function keptCalls({
  calls,
  dropped,
}: Pick<UnifiedResponse, 'calls' | 'dropped'>): Pick<UnifiedResponse, 'calls' | 'dropped'> {
  const beyond = droppedOf(calls.slice(ANSWER_CALLS_MAX));
  const kept = calls.slice(0, ANSWER_CALLS_MAX);
  if (beyond === undefined || dropped === undefined) {
    const told = beyond ?? dropped;
    return told === undefined ? { calls: kept } : { calls: kept, dropped: told };
  }
  const tools = toolsIn([...beyond.tools, ...dropped.tools]);
  return { calls: kept, dropped: { count: beyond.count + dropped.count, tools } };
}

/** The warning code that the receipt also stores. */
export function droppedWarning(dropped: DroppedCalls | undefined): readonly string[] {
  return dropped === undefined ? [] : [`tool_calls_dropped:${dropped.count}`];
}

function toolsIn(names: readonly string[]): string[] {
  const named = names.map((name) => cut(name, NAME_MAX)).filter((name) => name !== '');
  return [...new Set(named)].slice(0, TOOLS_MAX);
}
