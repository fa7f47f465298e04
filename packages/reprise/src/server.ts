/** The Model Context Protocol for a world: the message core of a server. */
export {
  type BearerTokens,
  bearerTokens,
  type McpAnswer,
  type McpCore,
  McpFailure,
  type McpTool,
  mcpServer,
  revocations,
  type Serving,
  serveHttp,
  serveStdio,
} from '@reprise/server';
