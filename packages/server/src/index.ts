/** The Model Context Protocol for a world: a server over standard input and HTTP, its tokens, and the message core. */

export type { AuthRequest } from './http/auth-request.js';
export { type ServeHttpOptions, serveHttp } from './http/served-http.js';
export type { HttpLimits } from './protocol/limits.js';
export { mcpServer } from './protocol/mcp.js';
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
} from './protocol/mcp-types.js';
export { type ServeStdioOptions, serveStdio } from './stdio.js';
export { type BearerTokens, bearerTokens, type IssueOptions, revocations } from './tokens.js';
export type { ServerNames, Serving } from './world/serving.js';
