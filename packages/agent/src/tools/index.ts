/** Tools: their definition, their adapter, and the storing and bounding of their outputs. */

export {
  type BoundedOutput,
  boundOutput,
  OutputBounder,
  type OutputPolicy,
  type TruncationMeta,
} from './bound-output.js';
export { type Build, boundTool, buildOf, type ContextSource, calledTool, type RecordedAgent } from './build.js';
export { checkRead } from './check-read.js';
export { childTools } from './children.js';
export type {
  Answer,
  NewFile,
  OwnerAnswered,
  OwnerCallOptions,
  Question,
  ToolContext,
  WorldReader,
} from './context.js';
export { type Duration, durationMs } from './duration.js';
export { DEFAULT_FAMILY, FAMILY_POLICIES, type OutputPolicies } from './families.js';
export type { OwnerCaller } from './handler-context.js';
export { humanAskAdapter } from './human-adapter.js';
export { jsonSchema, schemaRefusal } from './json-schema.js';
export { OUTPUT_BYTES_MAX, settledAnswer } from './keep-answer.js';
export { looksBinary, mediaTypeOf, utf16Of } from './media-type.js';
export { defineOwnerTool, type KeepContext, type OwnerToolSpec } from './owner-tool.js';
export {
  type Deferral,
  deferred,
  isToolError,
  outcomeUnknown,
  type ReaderSource,
  ResultLost,
  type ToolAnswer,
  type ToolError,
  type ToolPart,
  type ToolParts,
  type ToolStream,
  toolError,
  toolParts,
  type UnknownOutcome,
} from './result.js';
export {
  type Checked,
  check,
  jsonSchemaOf,
  type OutputOf,
  type Schema,
  type SchemaIssue,
  type SchemaResult,
} from './schema.js';
export type { WantedTool } from './shelf.js';
export { isLostResult } from './texts.js';
export {
  type ApprovalRule,
  type ApprovalVerdict,
  type CallToApprove,
  type DepsOf,
  defineSessionTool,
  defineTool,
  describeTools,
  type Reconciled,
  type SessionToolSpec,
  type Tool,
  type ToolSpec,
  toolEntryOf,
} from './tool.js';
export { type ToolAdapterOptions, toolCallAdapter } from './tool-adapter.js';
export {
  type LeftOut,
  type ListContext,
  type LiveToolset,
  requireToolset,
  type Toolset,
  type ToolsetHost,
} from './toolset.js';
export { TOOLSET_TOOLS_MAX, toolsetAdoptAdapter, toolsetRefreshAdapter } from './toolset-adapters.js';
export { KNOWN_TOOLS_MAX, type Weighed, weighOffer } from './weigh-offer.js';
