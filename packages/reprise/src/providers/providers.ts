/** Model clients: for real models, and scripted ones for tests. */
export {
  aiSdk,
  anthropicMessages,
  type ModelClient,
  openAiCompatible,
  openAiResponses,
  type RequestsReport,
  type ScriptedModel,
  type ScriptRequest,
  type ScriptStep,
  script,
  scriptBy,
  typewriter,
  verifyRequests,
  withPrice,
} from '@reprise/providers';
