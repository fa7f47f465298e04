/** The wire formats: a writer of requests and a checker for each. */
import { requireArgument } from '@reprise/contracts';
import { toAiSdkCall } from '../ai-sdk/call-request.js';
import { checkAiSdkCall } from '../ai-sdk/call-rules.js';
import type { Specification } from '../ai-sdk/language-model.js';
import { MAX_TOKENS_DEFAULT, toMessagesRequest } from '../anthropic/messages-request.js';
import { checkMessagesRequest } from '../anthropic/messages-rules.js';
import type { ProviderProfile, UnifiedRequest } from '../model/model.js';
import { toChatRequest } from '../openai/chat-request.js';
import { checkChatRequest } from '../openai/chat-rules.js';
import { toResponsesRequest } from '../openai/responses-request.js';
import { checkResponsesRequest } from '../openai/responses-rules.js';
import type { Draft } from '../wire/request-fields.js';
import type { RequestIssue } from '../wire/request-rules.js';

/** The wire formats that can be written. */
export const WIRE_FORMATS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'ai-sdk'] as const;

/** A wire format that can be written. */
export type WireFormat = (typeof WIRE_FORMATS)[number];

/** Facts about a model that every format needs. */
interface WireTarget {
  readonly model: string;
  readonly profile: ProviderProfile;
  /** The specification of a model of the AI SDK. Default `v3`. */
  readonly specification?: Specification;
}

const FORMATS: Readonly<
  Record<
    WireFormat,
    {
      readonly check: (body: unknown) => RequestIssue[];
      readonly draft: (request: UnifiedRequest, target: WireTarget) => Draft;
    }
  >
> = {
  'openai-chat': {
    check: checkChatRequest,
    draft: (request, target) =>
      toChatRequest(request, { ...target, maxTokensField: 'max_tokens', returnReasoning: true }),
  },
  'openai-responses': { check: checkResponsesRequest, draft: toResponsesRequest },
  'anthropic-messages': {
    check: checkMessagesRequest,
    draft: (request, target) =>
      toMessagesRequest(request, { ...target, maxTokensDefault: MAX_TOKENS_DEFAULT, effort: 'adaptive' }),
  },
  'ai-sdk': {
    check: checkAiSdkCall,
    draft: (request, { profile, specification = 'v3' }) => toAiSdkCall(request, { profile, specification }),
  },
};

/**
 * Checks a request's body, as JSON data, against every rule that any provider of the format enforces.
 *
 * @returns the broken rules and their places; an empty list when the body is valid
 */
export function validateRequest(format: WireFormat, body: unknown): RequestIssue[] {
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format);
  requireArgument(known, 'validateRequest(format)', WIRE_FORMATS.join(', '), format);
  return FORMATS[format].check(body);
}

/** Writes a unified request in a format, with the format's defaults. */
export function draftRequest(format: WireFormat, request: UnifiedRequest, target: WireTarget): Draft {
  return FORMATS[format].draft(request, target);
}
