/** One connection of the message core, on the library of the protocol. */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { LineTransport } from './mcp-lines.js';
import { McpSessions } from './mcp-sessions.js';
import type { McpConnection, McpServerOptions, McpWire } from './mcp-types.js';

export function openCore(options: McpServerOptions, wire: McpWire): McpConnection {
  const sessions = new McpSessions(options);
  const transport = new LineTransport(wire, options.lineBytesMax);
  const onerror = (error: Error): void => options.onError?.(error);
  const serving = serveStdio(({ era }) => sessions.make(era === 'legacy'), { transport, onerror });
  return {
    take: (bytes) => transport.take(bytes),
    toolsChanged: () => sessions.toolsChanged(),
    resourcesChanged: () => sessions.resourcesChanged(),
    resourceUpdated: (uri) => sessions.resourceUpdated(uri),
    close: () => serving.close(),
  };
}
