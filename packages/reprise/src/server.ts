/** The Model Context Protocol for a world, and the guards of a server of pages for this machine. */
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
export {
  HttpRefusal,
  hostsOf,
  type PageFile,
  pageFile,
  requireHost,
  requireJson,
  requireOwnPage,
  SECURITY_HEADERS,
  sentFile,
} from '@reprise/server/guard';
