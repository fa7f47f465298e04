/** Tools for agents, and the parts of results that tools return. */
export { describeTools, isToolError, type Tool, type ToolParts, toolParts } from '@reprise/agent';
export {
  askHuman,
  type FileHistory,
  fileHistory,
  type HttpOptions,
  http,
  IGNORED_NAMES,
  introspect,
  type ProcessOptions,
  processes,
  type Restored,
  restoreFiles,
  SECRET_NAMES,
  type WorkspaceOptions,
  workspace,
} from '@reprise/tools';
