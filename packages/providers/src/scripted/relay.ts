/**
 * A stub model that forwards the conversation to its agent's single tool and answers with the tool's result. With it,
 * an agent that runs elsewhere, in a program of its own, is a session like any other.
 *
 * The tool can store state for the next turn in the last line of its result, as JSON: `{"relay": …}`. The relay
 * removes the line from its answer and passes the state to the next call. All of this is in the transcript, so a
 * session continues where it was, in this process or in another.
 */
import type { Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel/codec';
import { jsonIn } from '../model/json.js';
import type {
  ModelClient,
  ModelResult,
  ProviderProfile,
  UnifiedMessage,
  UnifiedRequest,
  UnifiedResponse,
} from '../model/model.js';
import { type ProfileOptions, requireProfileOptions } from '../model/profile-options.js';
import { profileOf } from '../wire/wire-client.js';
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
 * Makes the model of agents that run elsewhere, such as those of `externalAgent`.
 *
 * @example await openWorld({ store, models: { relay: relay() }, agents: [externalAgent({ … })] })
 */
export function relay(options: ProfileOptions = {}): ModelClient {
  requireProfileOptions(options, 'relay');
  return {
    profile: profileOf(PROFILE, options, PROFILE.model_default),
    write: writePlain,
    generate: async (request) => answerTo(request),
  };
}

/** A turn that failed, or did not take place, gives no answer: the run fails with the text of the failure. */
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
  return {
    ...said,
    request: writePlain(request),
    rawBody: encode(null),
    usage: { calls: 1, tokens_in: 0, tokens_out: 0 },
    warnings: [],
  };
}

/** The next call: the messages since the last answer, and the state that the tool stored. */
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

/** Splits a result into its text and the stored state. */
function resultIn(message: UnifiedMessage | undefined): { readonly text: string; readonly state?: Value } {
  if (message?.role !== 'tool') return { text: '' };
  const { text } = message;
  const at = text.lastIndexOf('\n') + 1;
  const line = jsonIn(text.slice(at)) as { readonly relay?: Value } | null | undefined;
  if (typeof line !== 'object' || line === null || line.relay === undefined) return { text };
  return { text: text.slice(0, Math.max(0, at - 1)), state: line.relay };
}
