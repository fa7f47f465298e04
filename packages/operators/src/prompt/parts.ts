/** The parts of a request, with their origins and sizes. */
import { type ContextText, present, type Value } from '@reprise/contracts';
import type { ModelClient } from '@reprise/providers';
import type { PartSource, ProjectedCall } from '@reprise/providers/recorded';
import type { CallHistory } from './history.js';
import { jsonOf } from './json.js';
import type { PartOrigin, PromptPart, ToolsDiff } from './report.js';

type Request = Parameters<ModelClient['write']>[0];

/** What the parts of a request are made of. */
interface PartsOf {
  readonly call: ProjectedCall;
  /** The request of the step before; undefined without one. */
  readonly before: ProjectedCall | undefined;
  /** The frame of the step before: what came later is new. */
  readonly beforeFrame: number | undefined;
  readonly history: CallHistory;
  readonly context: readonly ContextText[];
}

/** The parts of a request, in its order. */
export function partsOf({ call, before, beforeFrame, history, context }: PartsOf): PromptPart[] {
  const { system, tools, messages } = call.request;
  const configured: PartOrigin = { kind: 'configuration', ...present({ frame: history.configured }) };
  const texts = context.map(({ lane, name }): PartOrigin => ({ kind: 'context', lane, name }));
  const parts = messages.map((message, i): PromptPart => {
    const origins = (call.sources[i] ?? []).map((source) => originOf(source, call, history));
    const value = jsonOf(message as unknown as Value);
    const of = origins.length === 0 ? [{ kind: 'runtime' } as const] : origins;
    // A notice of the runtime came in no frame: it is new where the step before had something else.
    const isNotice = of.every(({ kind }) => kind === 'runtime');
    const isNew =
      before !== undefined &&
      (isNotice ? isOther(value, before, i) : of.some((one) => isAfter(one, beforeFrame, before)));
    return { part: 'message', role: message.role, value, bytes: bytesOf(value), isNew, origins: of };
  });
  return [
    part('system', system, before?.request.system, [configured, ...texts]),
    part('tools', jsonOf(tools as unknown as Value), before && jsonOf(before.request.tools as unknown as Value), [
      configured,
    ]),
    ...parts,
  ];
}

function part(name: 'system' | 'tools', value: unknown, before: unknown, origins: readonly PartOrigin[]): PromptPart {
  const isNew = before !== undefined && JSON.stringify(value) !== JSON.stringify(before);
  return { part: name, value, bytes: bytesOf(value), isNew, origins };
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

function isOther(value: unknown, { request }: ProjectedCall, i: number): boolean {
  return JSON.stringify(value) !== JSON.stringify(jsonOf(request.messages[i] as unknown as Value));
}

/** Whether an item came after the request of the step before. */
function isAfter({ item, frame }: PartOrigin, beforeFrame: number | undefined, before: ProjectedCall): boolean {
  if (item === undefined) return false;
  return frame !== undefined && beforeFrame !== undefined ? frame > beforeFrame : !before.items.has(item);
}

function originOf({ of }: PartSource, { items }: ProjectedCall, history: CallHistory): PartOrigin {
  if (of === null) return { kind: 'runtime' };
  if (typeof of !== 'number') return { kind: of };
  const item = items.get(of);
  const { frame, from, effect } = history.place(of) ?? {};
  const place = { item: of, ...present({ frame }) };
  switch (item?.role) {
    case 'assistant':
      return { kind: 'answer', ...place, ...present({ effect }) };
    case 'tool': {
      const got = history.settled(item.call_id) ?? history.place(of);
      const { tool, call_id } = item;
      return { kind: 'result', item: of, ...present({ frame: got?.frame, effect: got?.effect }), tool, call_id };
    }
    case 'late':
      return { kind: 'late', ...place, tool: item.tool, call_id: item.call_id, ...present({ effect }) };
    case 'user':
      return { kind: 'message', ...place, as: item.origin, ...present({ from }) };
    default:
      return { kind: 'runtime' };
  }
}

/** What changed of the tools since the step before. */
export function toolsDiff(now: Request['tools'], before: Request['tools']): ToolsDiff {
  const text = (tool: Request['tools'][number]) => JSON.stringify(jsonOf(tool as unknown as Value));
  const [old, current] = [
    new Map(before.map((one) => [one.name, text(one)])),
    new Map(now.map((one) => [one.name, text(one)])),
  ];
  const names = [...current.keys()];
  return {
    added: names.filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !current.has(name)),
    changed: names.filter((name) => old.has(name) && old.get(name) !== current.get(name)),
  };
}
