/** Model providers: adapters for `llm.generate`. */
export { PROMPT_VERSION } from '@reprise/contracts';
export { type AiSdkOptions, aiSdk } from './ai-sdk/ai-sdk.js';
export type { AiSdkModel } from './ai-sdk/language-model.js';
export { type AnthropicMessagesOptions, anthropicMessages } from './anthropic/anthropic-messages.js';
export {
  type AssembledRequest,
  assembleRequest,
  type PromptSources,
  type ReadContext,
} from './generate/assemble-request.js';
export { validateRequest, WIRE_FORMATS, type WireFormat } from './generate/formats.js';
export { type LlmGenerateOptions, llmGenerateAdapter } from './generate/llm-generate.js';
export {
  type DifferentRequest,
  type RequestsReport,
  type UncomparedRequest,
  verifyRequests,
} from './generate/verify-requests.js';
export { type CallIdRule, mintCallIds } from './model/call-ids.js';
export type {
  Failure,
  ModelClient,
  ModelContext,
  ModelNote,
  ModelResult,
  ProviderProfile,
  RequestedCall,
  UnifiedAnswer,
  UnifiedCall,
  UnifiedMedia,
  UnifiedMessage,
  UnifiedPart,
  UnifiedRequest,
  UnifiedResponse,
  UnifiedResult,
  UnifiedSaying,
  UnifiedTool,
  WrittenRequest,
} from './model/model.js';
export type { ProfileOptions } from './model/profile-options.js';
export { type OpenAiCompatibleOptions, openAiCompatible } from './openai/openai-compatible.js';
export { type OpenAiResponsesOptions, openAiResponses } from './openai/openai-responses.js';
export {
  assemblePrompt,
  type Prompt,
  type PromptTarget,
} from './prompt/assemble-prompt.js';
export { relay } from './scripted/relay.js';
export {
  type ScriptedModel,
  type ScriptRequest,
  type ScriptStep,
  script,
  scriptBy,
  withPrice,
} from './scripted/script.js';
export { typewriter } from './scripted/typewriter.js';
export { RETRY_DEFAULT, type RetryPolicy, type Sleep } from './transport/retry.js';
export type { SecretText, TransportOptions } from './transport/transport.js';
export { REQUEST_RULES, type RequestIssue, type RequestRule } from './wire/request-rules.js';
