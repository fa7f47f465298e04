/**
 * Turns the content that a language model of the AI SDK answered into a unified response. Total: no input makes it
 * throw.
 */
import { isJsonObject } from '../model/json.js';
import { cut } from '../model/text.js';
import { type AnswerAbout, AnswerDraft, type EndWord, namesOf, type ReadAnswer, usageOf } from '../wire/answer.js';
import { type Fields, textIn } from '../wire/answer-stream.js';
import { storedData } from './file-forms.js';
import type { Generated } from './language-model.js';

/** The fields of a result of `doGenerate` that are read; undefined when the result has another shape. */
export function generatedOf(result: unknown): Generated | undefined {
  if (!isJsonObject(result)) return undefined;
  const { content, finishReason, usage, warnings, response } = result as Fields;
  if (!Array.isArray(content)) return undefined;
  return {
    content: content.filter(isJsonObject),
    finishReason,
    usage,
    warnings: Array.isArray(warnings) ? warnings.filter(isJsonObject) : [],
    response: isJsonObject(response) ? response : {},
  };
}

/** Reads an answer into a unified response. */
export function readGenerated(generated: Generated, about: AnswerAbout): ReadAnswer {
  const draft = new AnswerDraft(about);
  for (const part of generated.content) takePart(part, draft);
  for (const warning of generated.warnings) draft.warnings.push(`provider_warning:${wordsOf(warning)}`);
  return {
    ...draft.end(endWord(generated.finishReason)),
    finishReason: finishOf(generated.finishReason, draft.hasCalls),
    ...namesOf({ id: generated.response.id, model: generated.response.modelId }, about.scrub),
    ...readUsage(generated.usage),
  };
}

function takePart(part: Fields, draft: AnswerDraft): void {
  switch (part.type) {
    case 'text':
      draft.say(part.text);
      if (Array.isArray(part.citations) && part.citations.length > 0)
        draft.keep('other', { type: 'citations', citations: part.citations });
      keepMarks(part, draft);
      break;
    case 'tool-call':
      if (part.providerExecuted === true) draft.keep('provider_tool', part);
      else if (draft.call(part.toolCallId, part.toolName, part.input)) keepMarks(part, draft);
      break;
    case 'reasoning':
      draft.keep('reasoning', part, textIn(part.text));
      break;
    case 'tool-result':
      draft.keep('provider_tool', part);
      break;
    case 'file':
    case 'reasoning-file':
      draft.keep(part.type === 'file' ? 'other' : 'reasoning', { ...part, data: storedData(part.data) });
      break;
    case 'tool-approval-request':
      draft.want('tool_approval_request');
      break;
    default:
      draft.keep('other', part);
  }
}

function endWord(finish: unknown): EndWord {
  if (!hasReason(finish)) return 'none';
  return reasonsOf(finish).unified === 'tool-calls' ? 'calls' : 'known';
}

/** Whether a provider gave a reason for the end of its answer. */
export function hasReason(finish: unknown): boolean {
  const { unified, raw } = reasonsOf(finish);
  // `interrupted`, of `v4`: the stream ended without the provider's mark.
  return unified !== 'interrupted' && (raw !== undefined || !['', 'other', 'unknown'].includes(unified));
}

/** Keeps the provider's metadata of a text or of a call: it may hold signatures that the provider needs back. */
function keepMarks({ providerMetadata }: Fields, draft: AnswerDraft): void {
  if (!isJsonObject(providerMetadata) || Object.keys(providerMetadata).length === 0) return;
  draft.keep('other', { type: 'marks', providerMetadata });
}

function wordsOf(warning: Fields): string {
  const words = [warning.feature, warning.setting, warning.message, warning.type]
    .map(textIn)
    .find((text) => text !== '');
  return cut(words ?? 'unknown', 100);
}

/** Finish reasons of all releases of the SDK, as unified finish reasons. */
export const AI_SDK_FINISH: Readonly<Record<string, ReadAnswer['finishReason']>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  error: 'error',
};

/** The SDK's unified reason, and the provider's own where the SDK passes it on. */
export function reasonsOf(finish: unknown): { readonly unified: string; readonly raw: string | undefined } {
  if (!isJsonObject(finish)) return { unified: textIn(finish), raw: undefined };
  return { unified: textIn(finish.unified), raw: textIn(finish.raw) || undefined };
}

function finishOf(finish: unknown, hasCalls: boolean): ReadAnswer['finishReason'] {
  const { unified, raw } = reasonsOf(finish);
  // The provider paused and expects another request, so the run sends one.
  if (raw === 'pause_turn' && !hasCalls) return 'interrupted';
  const reason = Object.hasOwn(AI_SDK_FINISH, unified) ? AI_SDK_FINISH[unified] : undefined;
  if (hasCalls && (reason === undefined || reason === 'stop')) return 'tool_calls';
  return reason ?? 'other';
}

/** Reads token counts in either form: nested as from `v3` on, or flat as in `v2`. */
function readUsage(given: unknown): Pick<ReadAnswer, 'usage' | 'usageDetails'> {
  const usage: Fields = isJsonObject(given) ? given : {};
  const { inputTokens: into, outputTokens: out } = usage;
  return usageOf({
    in: isJsonObject(into) ? into.total : into,
    out: isJsonObject(out) ? out.total : out,
    reasoning: isJsonObject(out) ? out.reasoning : usage.reasoningTokens,
    cacheRead: isJsonObject(into) ? into.cacheRead : usage.cachedInputTokens,
    cacheWrite: isJsonObject(into) ? into.cacheWrite : undefined,
  });
}
