/** MCP servers as toolsets of agents. */
export {
  type HttpServer,
  type McpOptions,
  type McpServer,
  mcp,
  type StdioServer,
} from '@reprise/tools/mcp';
