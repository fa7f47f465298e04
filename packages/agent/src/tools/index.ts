/** Tools: their definition, their adapter, and the storing and bounding of their outputs. */

export { type Duration, durationMs } from '../contracts/duration.js';
export { humanAskAdapter } from './adapters/human-adapter.js';
export { type ToolAdapterOptions, toolCallAdapter } from './adapters/tool-adapter.js';
export { TOOLSET_TOOLS_MAX, toolsetAdoptAdapter, toolsetRefreshAdapter } from './adapters/toolset-adapters.js';
export {
  type BoundedOutput,
  boundOutput,
  OutputBounder,
  type OutputPolicy,
  type TruncationMeta,
} from './output/bound-output.js';
export { DEFAULT_FAMILY, FAMILY_POLICIES, type OutputPolicies } from './output/families.js';
export { OUTPUT_BYTES_MAX, settledAnswer } from './output/keep-answer.js';
export { type ContentType, contentType, looksBinary, mediaTypeOf, SNIFF_BYTES, utf16Of } from './output/media-type.js';
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
} from './output/result.js';
export { checkRead } from './schema/check-read.js';
export { jsonSchema, schemaRefusal } from './schema/json-schema.js';
export {
  type Checked,
  check,
  jsonSchemaOf,
  type OutputOf,
  type Schema,
  type SchemaIssue,
  type SchemaResult,
} from './schema/schema.js';
export { isLostResult } from './schema/texts.js';
export { childTools } from './tool/children.js';
export type {
  Answer,
  NewFile,
  OwnerAnswered,
  OwnerCallOptions,
  Question,
  ToolContext,
  WorldReader,
} from './tool/context.js';
export type { OwnerCaller } from './tool/handler-context.js';
export { defineOwnerTool, type KeepContext, type OwnerToolSpec } from './tool/owner-tool.js';
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
} from './tool/tool.js';
export { KNOWN_TOOLS_MAX, type Weighed, weighOffer } from './tool/weigh-offer.js';
export { type Build, boundTool, buildOf, type ContextSource, calledTool, type RecordedAgent } from './toolset/build.js';
export type { WantedTool } from './toolset/shelf.js';
export {
  type LeftOut,
  type ListContext,
  type LiveToolset,
  requireToolset,
  type Toolset,
  type ToolsetHost,
} from './toolset/toolset.js';
