/**
 * The names of the OpenTelemetry conventions that spans and metrics use, at one version. No other file writes such a name.
 *
 * The GenAI conventions have the status Development: they change. What is exported changes only with this file, so an upgrade
 * is one change here, and the tests compare the names with the package of the conventions.
 */

/** The versions that the names are of. */
export const CONVENTIONS = {
  /** The commit of the repository `open-telemetry/semantic-conventions-genai`. */
  genai: '002c8a6ea1c8a42b14a4527db83b3cabcded610a',
  /** The general conventions that this commit builds on, such as `error.type`. */
  general: '1.41.1',
} as const;

/** The attributes of spans and metrics. */
export const ATTRIBUTES = {
  agentId: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  conversationId: 'gen_ai.conversation.id',
  inputMessages: 'gen_ai.input.messages',
  operation: 'gen_ai.operation.name',
  outputMessages: 'gen_ai.output.messages',
  outputType: 'gen_ai.output.type',
  provider: 'gen_ai.provider.name',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  requestTemperature: 'gen_ai.request.temperature',
  responseFinishReasons: 'gen_ai.response.finish_reasons',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  responseTimeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  systemInstructions: 'gen_ai.system_instructions',
  tokenType: 'gen_ai.token.type',
  toolCallArguments: 'gen_ai.tool.call.arguments',
  toolCallId: 'gen_ai.tool.call.id',
  toolCallResult: 'gen_ai.tool.call.result',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  usageCacheCreation: 'gen_ai.usage.cache_creation.input_tokens',
  usageCacheRead: 'gen_ai.usage.cache_read.input_tokens',
  usageInput: 'gen_ai.usage.input_tokens',
  usageOutput: 'gen_ai.usage.output_tokens',
  usageReasoning: 'gen_ai.usage.reasoning.output_tokens',
  workflowName: 'gen_ai.workflow.name',
  errorType: 'error.type',
  serviceName: 'service.name',
} as const;

/** Attributes of the pinned commit that the npm package of the conventions does not have yet. */
export const NEWER_ATTRIBUTES = {
  memoryRecordCount: 'gen_ai.memory.record.count',
  memoryRecordId: 'gen_ai.memory.record.id',
  memoryStoreId: 'gen_ai.memory.store.id',
} as const;

/** The operations that spans are of: the values of `gen_ai.operation.name`. */
export const OPERATIONS = {
  chat: 'chat',
  tool: 'execute_tool',
  agent: 'invoke_agent',
  workflow: 'invoke_workflow',
} as const;

/** Operations of the pinned commit that the npm package of the conventions does not have yet. */
export const NEWER_OPERATIONS = {
  createMemory: 'create_memory',
  updateMemory: 'update_memory',
  searchMemory: 'search_memory',
} as const;

/** Metrics, each with its unit and the boundaries of its buckets as the conventions state them. */
export const METRICS = {
  duration: 'gen_ai.client.operation.duration',
  firstChunk: 'gen_ai.client.operation.time_to_first_chunk',
  tokens: 'gen_ai.client.token.usage',
} as const;

/** Metrics of the GenAI repository that the npm package of the conventions does not have yet. */
export const NEWER_METRICS = {
  tool: 'gen_ai.execute_tool.duration',
  workflow: 'gen_ai.workflow.duration',
} as const;

/** Attributes of Reprise: what the conventions have no name for. */
export const REPRISE = {
  /** The world, as 64 hex digits: an attribute of the resource. */
  world: 'reprise.world',
  /** The first and the last record of a span, as `frame.record`. */
  begun: 'reprise.begun',
  ended: 'reprise.ended',
  run: 'reprise.run',
  step: 'reprise.step',
  /** How an operation ended that neither succeeded nor failed, such as `cancelled`. */
  status: 'reprise.status',
  attempts: 'reprise.attempts',
  /** The receipt is a recorded one, in a dry fork: nothing was executed. */
  recorded: 'reprise.recorded',
  /** The span has not ended; its end is the last frame that was read. */
  open: 'reprise.open',
  tree: 'reprise.tree',
  node: 'reprise.node',
  project: 'reprise.project',
  task: 'reprise.task',
  swarm: 'reprise.swarm',
  /** What a link leads to. */
  link: 'reprise.link',
  waitsFor: 'reprise.waits_for',
  code: 'reprise.code',
} as const;

/** The provider of an operation that no receipt names one for: no model was reached. */
export const NO_PROVIDER = 'reprise';

/** The names of workflows: what `gen_ai.workflow.name` says, which has to be one of few. A team has its own name. */
export const WORKFLOWS = {
  tree: 'tree',
  node: 'tree.node',
  team: 'team',
  task: 'team.task',
  swarm: 'swarm',
  swarmTask: 'swarm.task',
} as const;
