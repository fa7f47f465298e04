/** Model providers: adapters for `llm.generate`. */
export { type AiSdkOptions, aiSdk } from './ai-sdk/ai-sdk.js';
export { type AiSdkModel, SPECIFICATIONS } from './ai-sdk/language-model.js';
export { type AnthropicMessagesOptions, anthropicMessages } from './anthropic/anthropic-messages.js';
export { type CallIdRule, mintCallIds } from './call-ids.js';
export { type LlmGenerateOptions, llmGenerateAdapter } from './llm-generate.js';
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
} from './model.js';
export { type OpenAiCompatibleOptions, openAiCompatible } from './openai/openai-compatible.js';
export { type OpenAiResponsesOptions, openAiResponses } from './openai/openai-responses.js';
export { type ProjectedRequest, type ProjectionSources, projectRequest, type ReadContext } from './project-request.js';
export { NO_RESULT_TEXT } from './projection/lay-out.js';
export {
  PROJECTION,
  type Projection,
  type ProjectionTarget,
  projectTranscript,
} from './projection/project-transcript.js';
export { relay } from './relay.js';
export { RETRY_DEFAULT, type RetryPolicy, type Sleep } from './retry.js';
export { type ScriptedModel, type ScriptRequest, type ScriptStep, script, scriptBy, withPrice } from './script.js';
export type { SecretText, TransportOptions } from './transport.js';
export { typewriter } from './typewriter.js';
export {
  type DifferentRequest,
  type RequestsReport,
  type UncomparedRequest,
  verifyRequests,
} from './verify-requests.js';
export { validateRequest, WIRE_FORMATS, type WireFormat } from './wire/formats.js';
export { REQUEST_RULES, type RequestIssue, type RequestRule } from './wire/request-rules.js';
export type { ProfileOptions } from './wire/wire-client.js';
