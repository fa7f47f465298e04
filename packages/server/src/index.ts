/** The Model Context Protocol for a world: a server over standard input and HTTP, its tokens, and the message core. */

export type { AskedOrganization, AskedSession, SessionsOptions, WantedSession } from './api/options.js';
export type { AuthRequest } from './door/auth-request.js';
export { type HttpHandler, type HttpHandlerOptions, httpHandler } from './mount/http-handler.js';
export type { DoorOptions } from './mount/open-door.js';
export { type ServeHttpOptions, serveHttp } from './mount/served-http.js';
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
