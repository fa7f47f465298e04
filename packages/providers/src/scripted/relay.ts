/**
 * A model that is none: it hands what a session is told to the only tool of its agent, and answers with what that came
 * to. So something that is an agent of its own, and thinks elsewhere, is a session like any other.
 *
 * What the tool has to remember between two turns it says in the last line of its result, as JSON: `{"relay": …}`. The
 * relay takes the line out of its answer and gives what is in it back with the next call. All of that is in the
 * transcript, so a session goes on where it was, in this process or another.
 */
import type { Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel';
import { parseJson } from '../model/json.js';
import type {
  ModelClient,
  ModelResult,
  ProviderProfile,
  UnifiedMessage,
  UnifiedRequest,
  UnifiedResponse,
} from '../model/model.js';
import { type ProfileOptions, profileOf } from '../wire/wire-client.js';
import { writePlain } from './script.js';

const PROFILE: ProviderProfile = Object.freeze({
  profile_id: 'relay',
  provider: 'relay',
  model_default: 'relay',
  supports_parallel_tool_calls: true,
  supports_reasoning_effort: true,
  supports_streaming: false,
  supports_tool_choice_named: true,
});

/**
 * The model of agents that think elsewhere, such as those of `externalAgent`.
 *
 * @example await openWorld({ store, models: { relay: relay() }, agents: [externalAgent({ … })] })
 */
export function relay(options: ProfileOptions = {}): ModelClient {
  return {
    profile: profileOf(PROFILE, options, PROFILE.model_default),
    write: writePlain,
    generate: async (request) => answerTo(request),
  };
}

/** A turn that failed, or did not take place, is no answer: the run fails with what was said of it. */
function answerTo(request: UnifiedRequest): ModelResult {
  const last = request.messages.at(-1);
  if (last?.role !== 'tool' || !last.isError) return { ok: true, response: responseTo(request) };
  return { ok: false, failure: { status: 'error', code: 'adapter_error/turn', retryable: false, error: last.text } };
}

function responseTo(request: UnifiedRequest): UnifiedResponse {
  const { messages, tools } = request;
  const last = messages.at(-1);
  const [tool] = tools;
  const said: Pick<UnifiedResponse, 'text' | 'calls' | 'finishReason'> =
    last?.role === 'tool' || tool === undefined
      ? { text: resultIn(last).text, calls: [], finishReason: 'stop' }
      : { calls: [callOf(tool.name, messages)], finishReason: 'tool_calls' };
  return { ...said, request: writePlain(request), rawBody: encode(null), usage: { calls: 1 }, warnings: [] };
}

/** The next call: what was said since the last answer, and what the tool wanted to remember. */
function callOf(tool: string, messages: readonly UnifiedMessage[]): UnifiedResponse['calls'][number] {
  const since = messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1);
  const text = since
    .flatMap((one) =>
      one.role === 'user' ? one.parts.map((part) => (part.kind === 'text' ? part.text : `[${part.kind}]`)) : [],
    )
    .join('\n\n');
  const state = messages.map((one) => resultIn(one).state).findLast((one) => one !== undefined);
  const before = messages.filter((one) => one.role === 'assistant' && one.calls.length > 0).length;
  return { callId: `turn_${before + 1}`, tool, args: { text, ...(state === undefined ? {} : { state }) } };
}

/** What a result says, and what is to be remembered of it. */
function resultIn(message: UnifiedMessage | undefined): { readonly text: string; readonly state?: Value } {
  if (message?.role !== 'tool') return { text: '' };
  const { text } = message;
  const at = text.lastIndexOf('\n') + 1;
  const line = parseJson(text.slice(at)) as { readonly relay?: Value } | null | undefined;
  if (typeof line !== 'object' || line === null || line.relay === undefined) return { text };
  return { text: text.slice(0, Math.max(0, at - 1)), state: line.relay };
}
