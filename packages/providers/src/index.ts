/** Model providers: adapters for `llm.generate`. */
export { type LlmGenerateOptions, llmGenerateAdapter, type ReadContext } from './llm-generate.js';
export type {
  Failure,
  ModelClient,
  ModelContext,
  ModelResult,
  ProviderProfile,
  RequestedCall,
  UnifiedCall,
  UnifiedMessage,
  UnifiedRequest,
  UnifiedResponse,
  UnifiedTool,
} from './model.js';
export { checkChatRequest } from './openai/chat-request.js';
export { type OpenAiCompatibleOptions, openAiCompatible, type SecretText } from './openai/openai-compatible.js';
export { NO_RESULT_TEXT, type Projection, pairCalls, projectTranscript } from './project-transcript.js';
export { RETRY_DEFAULT, type RetryPolicy, type Sleep } from './retry.js';
export { type ScriptedModel, type ScriptStep, script } from './script.js';
