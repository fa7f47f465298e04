/** The Model Context Protocol for a world: a server over standard input and HTTP, its tokens, and the message core. */
export { type ServeHttpOptions, serveHttp } from './http/serve-http.js';
export type { HttpLimits } from './limits.js';
export { mcpServer } from './mcp.js';
export {
  type McpAnswer,
  type McpConnection,
  type McpCore,
  McpFailure,
  type McpResource,
  type McpResources,
  type McpServerOptions,
  type McpTool,
  type McpToolCall,
  type McpWire,
} from './mcp-types.js';
export type { ServerNames, Serving } from './serving.js';
export { type ServeStdioOptions, serveStdio } from './stdio.js';
export { type AuthRequest, type BearerTokens, bearerTokens, type IssueOptions, revocations } from './tokens.js';
