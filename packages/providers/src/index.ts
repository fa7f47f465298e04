/** Model providers: adapters for `llm.generate`. */
export { type AiSdkOptions, aiSdk } from './ai-sdk/ai-sdk.js';
export type { AiSdkModel } from './ai-sdk/language-model.js';
export { anthropicMessages } from './anthropic/anthropic-messages.js';
export { type AssembledRequest, assembleRequest } from './generate/assemble-request.js';
export { validateRequest, WIRE_FORMATS, type WireFormat } from './generate/formats.js';
export { llmGenerateAdapter } from './generate/llm-generate.js';
export { type RequestsReport, verifyRequests } from './generate/verify-requests.js';
export { mintCallIds } from './model/call-ids.js';
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
  UnifiedMessage,
  UnifiedPart,
  UnifiedRequest,
  UnifiedResponse,
  UnifiedResult,
  UnifiedSaying,
  UnifiedTool,
} from './model/model.js';
export { type OpenAiCompatibleOptions, openAiCompatible } from './openai/openai-compatible.js';
export { openAiResponses } from './openai/openai-responses.js';
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
export { RETRY_DEFAULT, type RetryPolicy } from './transport/retry.js';
export type { TransportOptions } from './transport/transport.js';
export { REQUEST_RULES, type RequestIssue } from './wire/request-rules.js';
